package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A grpcLine is a connection that is open, trusted, and about to carry gRPC.
type grpcLine struct {
	duplex
	tls  *conn // duplex, if it is TLS
	used *grpcConn
}

// duplex is a connection that can be parted with politely.
type duplex interface {
	net.Conn
	evidence(Phase, error) *Evidence
	part(context.Context) *Evidence
}

// openGRPC connects a to its peer, over TLS as c says, without TLS if c is nil.
// nil says that the peer is not to be spoken to, and a problem why.
func (s *session) openGRPC(ctx context.Context, a *Attempt, c *TLSConfig, host string) *grpcLine {
	if c == nil {
		plain := s.openPlain(ctx, a)
		if plain == nil {
			return nil
		}
		return newGRPCLine(plain, nil)
	}
	over := s.openTLS(ctx, a, s.peerOf(c, host), grpcALPN)
	if over == nil {
		return nil
	}
	if !over.trusted(ctx, a, grpcALPN) {
		return nil
	}
	return newGRPCLine(over, over)
}

// grpcALPN is what gRPC clients offer.
var grpcALPN = []string{"h2"}

// trusted reports whether a request may be sent over c: the certificate is good,
// and one of the wanted protocols was agreed on, if any is wanted. If not, a has
// the problems and c has been parted with.
func (c *conn) trusted(ctx context.Context, a *Attempt, wanted []string) bool {
	if len(wanted) > 0 && !slices.Contains(wanted, c.facts.ALPN) {
		p := reasonALPNMismatch.problem("the handshake did not agree on %s, without which gRPC clients hang up", wanted[0])
		p.Expected, p.Received = strings.Join(wanted, " or "), strconv.Quote(c.facts.ALPN)
		a.Problems = append(a.Problems, p)
	}
	if onlyWarnings(a.Problems) {
		return true
	}
	if late := c.part(ctx); late != nil {
		a.Problems = slices.Insert(a.Problems, 0, classify(late))
	}
	return false
}

// openPlain connects a to its peer without TLS; nil if that fails.
func (s *session) openPlain(ctx context.Context, a *Attempt) *plainConn {
	start := time.Now()
	tcp, release, err := s.dial(ctx, a.Peer, 0)
	a.Phases[PhaseConnect] += time.Since(start)
	if err != nil {
		a.Problems = append(a.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return nil
	}
	a.Local = localOf(tcp)
	return &plainConn{recorder{Conn: tcp}, release}
}

func newGRPCLine(d duplex, over *conn) *grpcLine {
	return &grpcLine{duplex: d, tls: over, used: &grpcConn{recorder: recorder{Conn: d}, left: maxGRPCBytes}}
}

// maxGRPCBytes bounds what a peer may send: an answer is a few hundred bytes.
const maxGRPCBytes = 1 << 20

// A grpcConn is what grpc-go is given to use as its connection. It keeps what the
// peer said first and what ended it, as grpc-go's errors tell neither. To close
// it does not close what is below, whose farewell is ours; deadlines are the
// context's.
type grpcConn struct {
	recorder

	mu     sync.Mutex
	closed bool
	inUse  sync.WaitGroup // reads and writes under way
	end    error          // by which the peer or our deadline ended it, nil: it was open when closed
	deaf   bool           // the peer has hung up on what was written
	left   int            // bytes that may be read
}

var errGRPCTooMuch = errors.New("the peer sends without end")

func (c *grpcConn) Read(b []byte) (int, error) {
	if !c.enter() {
		return 0, net.ErrClosed
	}
	defer c.inUse.Done()
	n, err := c.recorder.Read(b)
	if c.left -= n; c.left < 0 && err == nil {
		err = errGRPCTooMuch
	}
	c.note(err)
	return n, err
}

func (c *grpcConn) Write(b []byte) (int, error) {
	if !c.enter() {
		return 0, net.ErrClosed
	}
	defer c.inUse.Done()
	n, err := c.recorder.Write(b)
	switch {
	case err != nil && peerEnded(err):
		c.mu.Lock()
		c.deaf = true
		c.mu.Unlock()
	case err != nil:
		c.note(err)
	}
	return n, err
}

func (c *grpcConn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.inUse.Add(1)
	}
	return !c.closed
}

// note keeps the first error, unless it is of our own closing.
func (c *grpcConn) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.end == nil && !c.closed {
		c.end = err
	}
}

// Close ends the use of the connection: what reads is woken up.
func (c *grpcConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.Conn.SetReadDeadline(time.Unix(1, 0))
}

func (c *grpcConn) SetDeadline(time.Time) error      { return nil }
func (c *grpcConn) SetReadDeadline(time.Time) error  { return nil }
func (c *grpcConn) SetWriteDeadline(time.Time) error { return nil }

// retire closes the connection to its user and waits until nobody uses it. What a
// peer said before it hung up is still to be read, and says more than that it did.
func (c *grpcConn) retire(ctx context.Context) {
	c.Close()
	c.inUse.Wait()
	if !c.deaf || c.end != nil {
		return
	}
	boundDrain(ctx, c.Conn, false)
	if _, c.end = io.Copy(io.Discard, io.LimitReader(&c.recorder, drainBytes)); c.end == nil {
		c.end = io.EOF
	}
}
