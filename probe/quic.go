package probe

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// QUICProber shakes hands over QUIC, judges the certificate and closes.
type QUICProber struct {
	TLSConfig TLSConfig `yaml:"tls_config,omitempty"`
	// ALPN is what to offer; default: h3.
	ALPN []string `yaml:"alpn,omitempty"`
	// Path makes it ask for this path over HTTP/3, too, and demand an answer with
	// a status of 200 to 299.
	Path            string `yaml:"path,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("quic", func() Prober {
	return &QUICProber{ALPN: []string{http3.NextProtoH3}, AddressSettings: defaultAddresses()}
})

// Validate implements [Prober].
func (p *QUICProber) Validate() error {
	if err := p.TLSConfig.validate(); err != nil {
		return err
	}
	if p.TLSConfig.MaxVersion != 0 && p.TLSConfig.MaxVersion < tls.VersionTLS13 {
		return settingErrorf("tls_config.max_version", "excludes TLS 1.3, which QUIC needs")
	}
	if len(p.ALPN) == 0 {
		return settingErrorf("alpn", "is empty: QUIC demands a protocol (RFC 9001, Section 8.1); write [h3]")
	}
	if p.Path != "" && (p.Path[0] != '/' || !slices.Contains(p.ALPN, http3.NextProtoH3)) {
		return settingErrorf("path", "%q cannot be asked for: write one that begins with /, and h3 in alpn", p.Path)
	}
	return p.AddressSettings.validate()
}

func (p *QUICProber) endpoint(t *Target) (endpoint, error) {
	host, port, err := splitAddress(t.Address)
	return endpoint{host, port, p.AddressSettings}, err
}

func (p *QUICProber) attempt(ctx context.Context, s *session, a *Attempt) {
	host, _, _ := splitAddress(s.target.Address)
	c := s.openQUIC(ctx, a, s.peerOf(&p.TLSConfig, host), p.ALPN)
	switch {
	case c == nil:
	case p.Path == "" || !onlyWarnings(a.Problems):
		if late := c.part(ctx); late != nil {
			a.Problems = slices.Insert(a.Problems, 0, classify(late))
		}
	default:
		p.ask(ctx, s, a, c)
	}
}

// ask sends one HTTP/3 request.
func (p *QUICProber) ask(ctx context.Context, s *session, a *Attempt, c *quicConn) {
	u, err := url.Parse("https://" + s.target.Address + p.Path)
	if err != nil {
		a.Problems = append(a.Problems, reasonTargetMisconfigured.because(err))
		c.part(ctx)
		return
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{"User-Agent": {userAgent}}}
	a.HTTP = &HTTP{Hops: []Hop{{Method: req.Method, URL: u.Redacted(), Peer: a.Peer, TLS: a.TLS}}}
	hop, right := &a.HTTP.Hops[0], AnswerSettings{}
	x := exchange{line: newHTTP3(c), hop: hop, settings: &right}
	resp, problems := x.do(req.WithContext(ctx))
	a.Phases[PhaseRequest] += hop.Processing + hop.Transfer
	a.HTTP.note(resp, x.read)
	a.Problems = append(a.Problems, problems...)
	if resp != nil && !right.statusOK(resp.StatusCode) {
		status := reasonHTTPStatus.problem("%s answered %s", hop.URL, resp.Status)
		status.Expected, status.Received = right.expectedStatus(), "status "+resp.Status
		a.Problems = append(a.Problems, status)
	}
	x.line.part(ctx)
}

// QUIC holds the facts of a QUIC connection, whatever its verdict. Read-only.
type QUIC struct {
	Version  uint32   // 1 is RFC 9000; 0 if the handshake did not complete
	Retry    bool     // the server had our address proved first (RFC 9000, Section 8.1.2)
	Offered  []uint32 // versions the server offered instead of ours; nil: it took ours
	Received int      // datagrams that came
}

// quicConn is a QUIC connection after its handshake.
type quicConn struct {
	*quic.Conn
	transport *quic.Transport
	packets   *packets
	confirmed confirmation
	facts     *TLS
	state     tls.ConnectionState
}

// openQUIC connects a to its peer over UDP, shakes hands and judges the chain,
// into a. nil says that there is no connection; otherwise the caller parts with
// it.
func (s *session) openQUIC(ctx context.Context, a *Attempt, p peer, alpn []string) *quicConn {
	h, trusted, ok := s.prepare(a, p, alpn)
	if !ok {
		return nil
	}
	udp, err := s.dialUDP(ctx, a.Peer)
	if err != nil {
		a.Problems = append(a.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return nil
	}
	c := &quicConn{packets: &packets{Conn: udp}, confirmed: make(confirmation), facts: &TLS{ServerName: h.serverName}}
	if h.client != nil {
		c.facts.ClientCert = h.client.facts
	}
	a.Local = localOf(udp)
	start := time.Now()
	ended := c.shake(ctx, h)
	a.Phases[PhaseTLS] += time.Since(start)
	a.TLS, a.QUIC = c.facts, c.packets.facts()
	if ended != nil {
		a.Problems = append(a.Problems, classify(ended))
		return nil
	}
	a.QUIC.Version = uint32(c.ConnectionState().Version)
	start = time.Now()
	s.judge(c.facts, &c.state, p, trusted, a)
	a.Phases[PhaseVerify] += time.Since(start)
	return c
}

// dialUDP opens a UDP socket to addr, if the guard allows it. It is connected, so
// that an ICMP message about a closed port arrives as an error.
func (s *session) dialUDP(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	if s.guard != nil {
		if err := s.guard(addr); err != nil {
			return nil, &refusedError{addr, err}
		}
	}
	return new(net.Dialer).DialContext(ctx, "udp", addr.String())
}

// shake completes the handshake, whatever the peer's certificate: see
// [session.handshake].
func (c *quicConn) shake(ctx context.Context, h hello) *Evidence {
	// The deadline of ctx alone counts.
	config := &quic.Config{
		HandshakeIdleTimeout:    time.Hour,
		DisablePathMTUDiscovery: true,
		Tracer:                  func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace { return c.confirmed },
	}
	c.transport = &quic.Transport{Conn: c.packets}
	var err error
	if c.Conn, err = c.transport.Dial(ctx, c.packets.RemoteAddr(), h.config(c.facts), config); err != nil {
		c.close()
		return c.evidence(PhaseTLS, err)
	}
	c.state = c.ConnectionState().TLS
	c.facts.note(&c.state)
	return nil
}

// evidence reads an error of this connection.
func (c *quicConn) evidence(phase Phase, err error) *Evidence {
	e := newEvidence(phase, err, nil)
	e.TLS, e.QUIC = c.facts, c.packets.facts()
	e.ClientCertRequested, e.ClientCertSent = c.facts.ClientCertRequested, c.facts.ClientCertSent
	return e
}

// part ends the connection so that the peer has nothing to log. A server judges
// our certificate only after the handshake has succeeded on our side, so where it
// asked for one its verdict is awaited: the evidence of it, or that none came in
// time, is returned, nil if the server is content.
func (c *quicConn) part(ctx context.Context) *Evidence {
	defer c.close()
	if !c.facts.ClientCertRequested {
		return nil
	}
	select {
	case <-c.confirmed:
		return nil
	case <-ctx.Done():
		return c.evidence(PhaseTLS, ctx.Err())
	case <-c.Context().Done():
		return c.evidence(PhaseTLS, context.Cause(c.Context()))
	}
}

// confirmation says that the server has confirmed the handshake, which it does
// once it has judged our certificate (RFC 9001, Section 4.1.2). quic-go tells that
// to its log only, which this is.
type confirmation chan struct{}

// AddProducer implements [qlogwriter.Trace].
func (c confirmation) AddProducer() qlogwriter.Recorder { return c }

// RecordEvent implements [qlogwriter.Recorder].
func (c confirmation) RecordEvent(e qlogwriter.Event) {
	changed, ok := e.(qlog.ConnectionStateUpdated)
	if ok && changed.State == qlog.ConnectionStateHandshakeConfirmed {
		close(c) // it comes once
	}
}

// Close implements [qlogwriter.Recorder].
func (c confirmation) Close() error { return nil }

// close ends the connection without an error code that a server would log.
func (c *quicConn) close() {
	if c.Conn != nil {
		code := quic.ApplicationErrorCode(0)
		if strings.HasPrefix(c.facts.ALPN, http3.NextProtoH3) {
			code = quic.ApplicationErrorCode(http3.ErrCodeNoError)
		}
		c.CloseWithError(code, "")
	}
	c.transport.Close()
	c.packets.Close()
}

// http3Line speaks HTTP/3 over a QUIC connection.
type http3Line struct{ *quicConn }

func newHTTP3(c *quicConn) line { return http3Line{c} }

func (l http3Line) send(req *http.Request) (*http.Response, error) {
	transport := &http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes}
	resp, err := transport.NewClientConn(l.Conn).RoundTrip(req)
	if err == nil {
		resp.Body = &boundBody{resp.Body, req.Context()}
	}
	return resp, err
}

// boundBody is a body whose reading ends with a context, and says so: to the
// library that is a stream that we cancelled.
type boundBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

// part ends the connection: what the server thinks of our certificate it has
// said in its answer.
func (l http3Line) part(context.Context) *Evidence {
	l.close()
	return nil
}

// packets is a connected UDP socket that keeps the facts of what comes: quic-go
// tells of a Retry or a Version Negotiation only in its log.
type packets struct {
	net.Conn

	mu   sync.Mutex
	seen QUIC
}

// facts returns what has come so far.
func (p *packets) facts() *QUIC {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	return &seen
}

// ReadFrom implements [net.PacketConn].
func (p *packets) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := p.Conn.Read(b)
	if n > 0 {
		p.note(b[:n])
	}
	return n, p.RemoteAddr(), err
}

// WriteTo implements [net.PacketConn].
func (p *packets) WriteTo(b []byte, _ net.Addr) (int, error) { return p.Conn.Write(b) }

// SetReadBuffer leaves the system's size, which is plenty for one connection.
func (p *packets) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is as SetReadBuffer.
func (p *packets) SetWriteBuffer(int) error { return nil }

// note reads the header of a datagram (RFC 9000, Section 17.2).
func (p *packets) note(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Received++
	const longHeader, typeBits, retry = 0x80, 0x30, 0x30
	if len(b) < 6 || b[0]&longHeader == 0 {
		return
	}
	switch version := binary.BigEndian.Uint32(b[1:]); {
	case version == 0 && p.seen.Offered == nil:
		p.seen.Offered = versionsOffered(b[5:])
	case version == uint32(quic.Version1) && b[0]&typeBits == retry:
		p.seen.Retry = true
	}
}

// versionsOffered reads a Version Negotiation packet from its connection ids on
// (RFC 9000, Section 17.2.1).
func versionsOffered(b []byte) []uint32 {
	for range 2 { // destination, source
		if len(b) == 0 || len(b) <= int(b[0]) {
			return nil
		}
		b = b[1+b[0]:]
	}
	var versions []uint32
	for ; len(b) >= 4 && len(versions) < 16; b = b[4:] {
		versions = append(versions, binary.BigEndian.Uint32(b))
	}
	return versions
}
