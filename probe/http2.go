package probe

//lint:file-ignore SA1019 net/http's ClientConn, which is to replace it, takes no
// connection that has shaken hands already, and does not show the peer's error code.

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// speak returns the line for the protocol that c agreed on.
func (c *conn) speak() line {
	if c.facts.ALPN == http2.NextProtoTLS {
		return &http2Line{conn: c, lent: &lentConn{conn: c, ended: make(chan struct{})}}
	}
	return &http1{stream: c}
}

// http2Line speaks HTTP/2 over a connection of our own: its client belongs to no
// pool, and nothing of it outlives the probe.
type http2Line struct {
	*conn
	lent *lentConn
}

// clientHeld is how long the library holds on to a client that has ended, with
// its 20 KB: 5 seconds unless told otherwise. It is also how long a client may
// wait for its request, which it has at once.
const clientHeld = time.Second

func (l *http2Line) send(req *http.Request) (*http.Response, error) {
	transport := &http2.Transport{
		DisableCompression: true,
		MaxHeaderListSize:  maxHeaderBytes,
		IdleConnTimeout:    clientHeld,
	}
	client, err := transport.NewClientConn(l.lent)
	if err != nil {
		return nil, err
	}
	l.lent.client = client
	resp, err := client.RoundTrip(req)
	if err != nil {
		err = l.lent.cause(err)
	}
	return resp, err
}

func (l *http2Line) part(ctx context.Context) *Evidence {
	l.lent.takeBack()
	return l.conn.part(ctx)
}

// lentConn is a connection lent to an HTTP/2 client. The client reads all the
// time; takeBack ends that without an end of the connection, which still has to
// be parted with.
type lentConn struct {
	*conn
	client  *http2.ClientConn // nil until there is one
	reading sync.Mutex
	back    bool
	ended   chan struct{} // closed once a read has failed
	end     error         // with which it failed; to be read once ended is closed
}

// causeTime is how long a peer's last words may be on their way to us when
// writing has failed.
const causeTime = 100 * time.Millisecond

// cause returns what ended the connection, where err of the client is but a
// consequence: an alert that arrives before the request has been written makes
// the client say no more than that it cannot be used.
func (l *lentConn) cause(err error) error {
	if e := newEvidence(PhaseRequest, err, nil); e.Code != "" || e.End == EndTimeout {
		return err
	}
	select {
	case <-l.ended:
		return l.end
	case <-time.After(causeTime):
		return err
	}
}

func (l *lentConn) Read(b []byte) (int, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.back {
		return 0, net.ErrClosed
	}
	n, err := l.conn.Read(b)
	if err != nil && l.end == nil {
		l.end = err
		close(l.ended)
	}
	return n, err
}

// Close does nothing: the client closes what it does not own.
func (l *lentConn) Close() error { return nil }

// takeBack returns when the client reads no more.
func (l *lentConn) takeBack() {
	if l.client != nil {
		l.client.Close()
	}
	l.SetReadDeadline(time.Unix(1, 0))
	l.reading.Lock()
	l.back = true
	l.reading.Unlock()
}
