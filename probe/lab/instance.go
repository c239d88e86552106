package lab

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"tlsprobe/probe"
)

// An Instance is a running scenario.
type Instance struct {
	// Target is what to probe; read-only.
	Target *probe.Target

	lab      *Lab
	log      serverLog
	accepted atomic.Int64

	done    chan struct{}  // closed by Close
	running sync.WaitGroup // every goroutine of the instance
	mu      sync.Mutex
	closed  bool
	closers map[io.Closer]bool // listeners and connections
}

func newInstance(l *Lab, s Scenario) *Instance {
	return &Instance{
		lab: l,
		Target: &probe.Target{
			Name:       s.Name,
			ServerName: Host,
			Module:     tlsModule(),
			Trust:      probe.Trust{PEM: l.CA.PEM()},
			Schedule:   probe.Schedule{Interval: interval, Timeout: timeout},
		},
		done:    make(chan struct{}),
		closers: map[io.Closer]bool{},
	}
}

// Log returns what the servers wrote to their error log so far. Only after Close
// it is certain to be complete.
func (i *Instance) Log() string { return i.log.String() }

// Accepted returns how many connections the servers have accepted so far.
func (i *Instance) Accepted() int { return int(i.accepted.Load()) }

// Close ends the servers with all their connections and waits for them. It may
// be called more than once.
func (i *Instance) Close() error {
	i.mu.Lock()
	if !i.closed {
		close(i.done)
	}
	i.closed = true
	for c := range i.closers {
		c.Close()
	}
	i.closers = nil
	i.mu.Unlock()
	i.running.Wait()
	return nil
}

// own makes Close close c. If the instance is closed already, c is closed at once.
func (i *Instance) own(c io.Closer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		c.Close()
		return
	}
	i.closers[c] = true
}

func (i *Instance) disown(c io.Closer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.closers, c)
}

// listen opens a listener on a free port of 127.0.0.1. Its connections are
// *[peerConn]; all of them are closed with the instance.
func (i *Instance) listen() (net.Listener, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	i.own(ln)
	return &countingListener{ln, i}, nil
}

// serve listens, and hands each connection to handle in a goroutine of its own;
// the connection is closed when handle returns. It returns the address.
func (i *Instance) serve(handle func(*peerConn)) (string, error) {
	ln, err := i.listen()
	if err != nil {
		return "", err
	}
	i.running.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			i.running.Go(func() {
				defer conn.Close()
				handle(conn.(*peerConn))
			})
		}
	})
	return ln.Addr().String(), nil
}

// serveAt is serve for the instance's own target.
func (i *Instance) serveAt(handle func(*peerConn)) error {
	addr, err := i.serve(handle)
	i.Target.Address = addr
	return err
}

type countingListener struct {
	net.Listener
	instance *Instance
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.instance.accepted.Add(1)
	l.instance.own(conn)
	return &peerConn{conn.(*net.TCPConn), l.instance}, nil
}

// peerConn is a connection that somebody opened to the lab.
type peerConn struct {
	*net.TCPConn
	instance *Instance
}

func (c *peerConn) Close() error {
	c.instance.disown(c.TCPConn)
	return c.TCPConn.Close()
}

// reset makes the connection end with RST instead of FIN.
func (c *peerConn) reset() {
	c.SetLinger(0)
	c.Close()
}

// serverLog keeps the first maxLog bytes of a server's log.
type serverLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const maxLog = 1 << 20

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len()+len(b) <= maxLog {
		l.text.Write(b)
	}
	return len(b), nil
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
