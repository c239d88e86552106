package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"time"
)

// hello is what a handshake offers. Experiments vary it.
type hello struct {
	serverName string // no SNI is sent for an IP address or for ""
	alpn       []string
	min, max   TLSVersion
	curves     []tls.CurveID // nil: the default groups
	client     *keypair      // nil: no client certificate
	preamble   []byte        // sent before the ClientHello
	mss        int           // clamps the maximum segment size; 0: the route's
}

// conn is a connection after its handshake, of which nothing has been judged.
type conn struct {
	*tls.Conn
	rec     *recorder
	release func()
	facts   *TLS
	state   tls.ConnectionState
}

// connTimes are how long the steps of opening a connection took.
type connTimes struct {
	connect, handshake time.Duration
	local              netip.AddrPort
}

// handshake opens a connection to addr and completes a TLS handshake on it,
// whatever the peer's certificate. An alert of ours about the certificate would
// become a line in the peer's log, so it is judged afterwards (see verify).
//
// An error comes with the facts known so far and with its evidence.
func (s *session) handshake(ctx context.Context, addr netip.AddrPort, h hello) (*conn, connTimes, *Evidence) {
	var times connTimes
	start := time.Now()
	tcp, release, err := s.dial(ctx, addr, h.mss)
	times.connect = time.Since(start)
	if err != nil {
		return nil, times, newEvidence(PhaseConnect, err, nil)
	}
	times.local = localOf(tcp)
	start = time.Now()
	c, ended := shakeHands(tcp, release, h)
	times.handshake = time.Since(start)
	return c, times, ended
}

// shakeHands completes a handshake on an open connection, which is closed where
// it fails. release undoes what binds the connection to a context.
func shakeHands(tcp net.Conn, release func(), h hello) (*conn, *Evidence) {
	c := &conn{rec: &recorder{Conn: tcp}, release: release, facts: &TLS{ServerName: h.serverName}}
	if h.client != nil {
		c.facts.ClientCert = h.client.facts
	}
	c.Conn = tls.Client(c.rec, h.config(c.facts))

	var err error
	if len(h.preamble) > 0 {
		_, err = tcp.Write(h.preamble)
	}
	if err == nil {
		err = c.Handshake()
	}
	if err != nil {
		c.close()
		return nil, c.evidence(PhaseTLS, err)
	}
	c.state = c.ConnectionState()
	c.facts.note(&c.state)
	return c, nil
}

func localOf(c net.Conn) netip.AddrPort {
	if a, ok := c.LocalAddr().(interface{ AddrPort() netip.AddrPort }); ok {
		ap := a.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}

// config turns h into crypto/tls's terms; what the server asks for is noted in
// facts. GetClientCertificate is called if and only if the server sent a
// CertificateRequest; Certificates would silently send nothing where the server's
// list of CAs lacks ours.
func (h hello) config(facts *TLS) *tls.Config {
	return &tls.Config{
		ServerName:         h.serverName,
		NextProtos:         h.alpn,
		MinVersion:         uint16(h.min),
		MaxVersion:         uint16(h.max),
		CurvePreferences:   h.curves,
		InsecureSkipVerify: true,
		GetClientCertificate: func(req *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			facts.ClientCertRequested = true
			facts.AcceptableCAs = subjects(req.AcceptableCAs)
			if h.client == nil {
				return new(tls.Certificate), nil
			}
			facts.ClientCertSent = true
			return h.client.cert, nil
		},
	}
}

// note keeps the facts of a completed handshake.
func (f *TLS) note(state *tls.ConnectionState) {
	f.Version, f.Cipher, f.Group = state.Version, state.CipherSuite, state.CurveID
	f.ALPN = state.NegotiatedProtocol
	f.SCTs = len(state.SignedCertificateTimestamps)
}

// evidence reads an error of this connection.
func (c *conn) evidence(phase Phase, err error) *Evidence {
	e := newEvidence(phase, err, c.rec)
	e.TLS = c.facts
	e.ClientCertRequested = c.facts.ClientCertRequested
	e.ClientCertSent = c.facts.ClientCertSent
	return e
}

const (
	// drainTime is how long a peer has to answer our close_notify.
	drainTime = time.Second
	// drainBytes is how much it may still send meanwhile: session tickets,
	// HTTP/2 settings.
	drainBytes = 64 << 10
)

// part ends the connection so that the peer has nothing to log: close_notify,
// then reading until the peer has closed as well, then close. A TLS 1.3 server
// judges our certificate only after the handshake has succeeded on our side
// (RFC 8446, Section 4.4.2.4), so its verdict arrives here: the evidence of it
// is returned, nil if there was none.
func (c *conn) part(ctx context.Context) *Evidence {
	defer c.close()
	c.CloseWrite()
	boundDrain(ctx, c, c.judgesUs())
	_, err := io.Copy(io.Discard, io.LimitReader(c, drainBytes))
	if err == nil {
		return nil
	}
	e := c.evidence(PhaseTLS, err)
	if e.isVerdict() {
		return e
	}
	return nil
}

// judgesUs reports whether the peer's verdict about our certificate, or its
// absence, comes after the handshake.
func (c *conn) judgesUs() bool {
	return c.facts.ClientCertRequested && c.state.Version == tls.VersionTLS13
}

// boundDrain bounds the wait for a peer to close. One that judges our certificate
// has as long as the whole probe: before its verdict nothing is green. A probe
// that has been cancelled waits for nobody.
func boundDrain(ctx context.Context, c interface{ SetReadDeadline(time.Time) error }, judged bool) {
	until := time.Now().Add(drainTime)
	if deadline, ok := ctx.Deadline(); ok && (judged || deadline.Before(until)) {
		until = deadline
	}
	c.SetReadDeadline(until)
	if ctx.Err() != nil { // what ended the connection then, the line above has undone
		c.SetReadDeadline(time.Unix(1, 0))
	}
}

func (c *conn) close() {
	c.release()
	c.rec.Close()
}

// maxAcceptableCAs bounds the facts: a public server may list hundreds.
const maxAcceptableCAs = 16

// subjects renders the distinguished names of a CertificateRequest.
func subjects(names [][]byte) []string {
	var out []string
	for _, raw := range names[:min(len(names), maxAcceptableCAs)] {
		var rdn pkix.RDNSequence
		if _, err := asn1.Unmarshal(raw, &rdn); err != nil {
			out = append(out, "unreadable name "+hex.EncodeToString(raw[:min(len(raw), 16)]))
			continue
		}
		out = append(out, rdn.String())
	}
	return out
}
