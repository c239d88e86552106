package probe

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// dialing is how a connection is opened. The zero value is as any client does.
type dialing struct {
	source netip.Addr // the local address; invalid: the route's
	mss    int        // clamps the maximum segment size; 0: the route's
	knock  bool       // so that closing at once ends it unseen, see [knock]
}

// dial opens a TCP connection to addr, if the guard allows it. The connection
// obeys ctx for as long as it is open: release undoes that.
func (s *session) dial(ctx context.Context, addr netip.AddrPort, mss int) (conn *net.TCPConn, release func(), err error) {
	return s.dialAs(ctx, addr, dialing{mss: mss})
}

// dialAs is dial for a connection opened in a way of its own.
func (s *session) dialAs(ctx context.Context, addr netip.AddrPort, how dialing) (conn *net.TCPConn, release func(), err error) {
	if s.guard != nil {
		if err := s.guard(addr); err != nil {
			return nil, nil, &refusedError{addr, err}
		}
	}
	d := net.Dialer{KeepAlive: -1}
	switch {
	case how.mss > 0:
		d.Control = clampMSS(how.mss)
	case how.knock:
		d.Control = knock
	}
	conn, err = d.DialTCP(ctx, "tcp", netip.AddrPortFrom(how.source, 0), addr)
	if err != nil {
		return nil, nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return conn, func() { stop() }, nil
}

// refusedError says that a guard refused an address.
type refusedError struct {
	addr netip.AddrPort
	err  error
}

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }
