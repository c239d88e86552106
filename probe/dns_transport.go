package probe

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// dnsProbe is one attempt of the dns prober.
type dnsProbe struct {
	*session
	prober  *DNSProber
	attempt *Attempt
	query   *dns.Msg
}

// overUDP asks over UDP, and over TCP if the answer is truncated. nil says that
// there is no answer, and a problem says why; so it is with the other ways.
func (x *dnsProbe) overUDP(ctx context.Context) *dns.Msg {
	q := inquiry{query: x.query, dial: x.dialEither}
	start := time.Now()
	msg, failure := q.ask(ctx)
	x.attempt.Phases[PhaseRequest] = time.Since(start) - x.attempt.Phases[PhaseConnect]
	if failure != nil {
		x.fail(failure)
	}
	return msg
}

// dialEither dials for an inquiry.
func (x *dnsProbe) dialEither(ctx context.Context, network string) (net.Conn, error) {
	if network == "udp" {
		return x.dialUDP(ctx)
	}
	x.attempt.DNS.Retried = true
	start := time.Now()
	tcp, release, err := x.dialAs(ctx, x.attempt.Peer, dialing{source: x.source()})
	x.attempt.Phases[PhaseConnect] += time.Since(start)
	if err != nil {
		return nil, err
	}
	release() // the conversation obeys ctx itself
	return tcp, nil
}

// dialUDP is [session.dial] for UDP.
func (x *dnsProbe) dialUDP(ctx context.Context) (net.Conn, error) {
	if x.guard != nil {
		if err := x.guard(x.attempt.Peer); err != nil {
			return nil, &refusedError{x.attempt.Peer, err}
		}
	}
	var d net.Dialer
	conn, err := d.DialUDP(ctx, "udp", netip.AddrPortFrom(x.source(), 0), x.attempt.Peer)
	if err != nil {
		return nil, err
	}
	x.attempt.Local = localOf(conn)
	return conn, nil
}

// source is the configured local address, the zero value if there is none.
func (x *dnsProbe) source() netip.Addr {
	addr, _ := netip.ParseAddr(x.prober.SourceIPAddress) // validated
	return addr
}

func (x *dnsProbe) overTCP(ctx context.Context) *dns.Msg {
	tcp, release := x.connect(ctx)
	if tcp == nil {
		return nil
	}
	defer tcp.Close()
	defer release()
	msg, failure := x.ask(ctx, tcp)
	if failure != nil {
		x.fail(failure)
	}
	return msg
}

// overTLS asks a peer that is trusted. Its verdict about our certificate may take
// the place of an answer.
func (x *dnsProbe) overTLS(ctx context.Context) *dns.Msg {
	a := x.attempt
	host, _, _ := x.prober.splitAddress(x.target.Address)
	peer := x.peerOf(&x.prober.TLSConfig, host)
	hello, trusted, ok := x.prepare(a, peer, nil)
	if !ok {
		return nil
	}
	tcp, release := x.connect(ctx)
	if tcp == nil {
		return nil
	}
	start := time.Now()
	c, ended := shakeHands(tcp, release, hello)
	a.Phases[PhaseTLS] += time.Since(start)
	if x.settle(a, peer, trusted, c, ended) == nil {
		return nil
	}
	var msg *dns.Msg
	var failure *lookupError
	if onlyWarnings(a.Problems) {
		msg, failure = x.ask(ctx, c)
	}
	switch late := c.part(ctx); {
	case late != nil:
		a.Problems = slices.Insert(a.Problems, 0, classify(late))
	case failure != nil:
		x.fail(failure)
	}
	return msg
}

// connect opens a TCP connection; nil says that there is none.
func (x *dnsProbe) connect(ctx context.Context) (*net.TCPConn, func()) {
	start := time.Now()
	tcp, release, err := x.dialAs(ctx, x.attempt.Peer, dialing{source: x.source()})
	x.attempt.Phases[PhaseConnect] += time.Since(start)
	if err != nil {
		x.attempt.Problems = append(x.attempt.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return nil, nil
	}
	x.attempt.Local = localOf(tcp)
	return tcp, release
}

// ask puts the question on an open connection.
func (x *dnsProbe) ask(ctx context.Context, conn net.Conn) (*dns.Msg, *lookupError) {
	start := time.Now()
	msg, err := converse(ctx, conn, x.query)
	x.attempt.Phases[PhaseRequest] += time.Since(start)
	if err != nil {
		q := inquiry{query: x.query}
		return nil, q.failed(ctx, ctx, err)
	}
	return msg, nil
}

// fail adds the problem of a question without an answer.
func (x *dnsProbe) fail(failure *lookupError) {
	x.attempt.Problems = append(x.attempt.Problems, x.problem(failure))
}

// problem makes a problem of what the server answered, or did not.
func (x *dnsProbe) problem(failure *lookupError) Problem {
	failure.Name, failure.Server = x.prober.QueryName, x.attempt.Peer.String()
	return classify(newEvidence(PhaseResolve, failure, nil))
}
