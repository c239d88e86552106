package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// silences are the endings of a handshake that do not say why.
var silences = []*Reason{reasonEOF, reasonConnectionReset, reasonTLSTimeout}

// hangUps are the endings of a request that do not say why.
var hangUps = []*Reason{reasonEOFAfterHandshake, reasonResetAfterHandshake, reasonHTTPTimeout}

// experiments in the order in which they are tried: the one that reads most
// certainly is first.
var experiments = []experiment{
	{silences, (*trial).again},
	{silences, (*trial).size},
	{silences, (*trial).proxyHeader},
	{silences, (*trial).plaintext},
	{append([]*Reason{reasonUnrecognizedName, reasonAlertInternalError, reasonHandshakeFailure}, silences...), (*trial).withoutSNI},
	{[]*Reason{reasonProtocolVersion, reasonHandshakeFailure}, (*trial).versions},
	{[]*Reason{reasonNoApplicationProtocol}, (*trial).protocols},
	{append([]*Reason{reasonPlaintextOnTLSPort}, hangUps...), (*trial).otlpOverTLS},
	{append([]*Reason{
		reasonGRPCNotHTTP2, reasonGRPCStatus, reasonHTTPStatus, reasonNoApplicationProtocol, reasonALPNMismatch,
	}, hangUps...), (*trial).otlpSwapped},
	{[]*Reason{reasonEOFAfterHandshake, reasonResetAfterHandshake, reasonTCPExpectTimeout, reasonTCPExpectClosed}, (*trial).tlsInstead},
	{[]*Reason{reasonRedirectLoop}, (*trial).forwardedProto},
}

// trialTime bounds one connection of an experiment: a peer that answers at all
// answers by then. Where the budget is short, each has its share of it.
const (
	trialTime   = 2 * time.Second
	trialShares = 7
)

// shake tries a handshake that differs from the probe's own as vary says, and
// parts politely. It returns the facts, nil if the handshake failed.
func (t *trial) shake(ctx context.Context, vary func(*hello)) *TLS {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	h := hello{serverName: t.serverName(), alpn: []string{"h2", "http/1.1"}}
	vary(&h)
	c, _, _ := t.handshake(ctx, t.attempt.Peer, h)
	if c == nil {
		return nil
	}
	c.part(ctx)
	if len(c.state.PeerCertificates) > 0 {
		c.facts.Chain = []*Certificate{factsOf(c.state.PeerCertificates[0])}
	}
	return c.facts
}

func (t *trial) serverName() string {
	if t.attempt.TLS != nil {
		return t.attempt.TLS.ServerName
	}
	return t.target.ServerName
}

// heardNothing reports whether the peer ended the handshake without a byte, so
// that the size of the ClientHello or another protocol may be why.
func (t *trial) heardNothing() bool { return len(t.problem.Evidence.First) == 0 }

var smallGroups = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}

const smallMSS = 536 // the least every host takes (RFC 9293, Section 3.7.1)

// again tries the same handshake once more: where it completes now, nothing that
// another one shows would tell why the first failed.
func (t *trial) again(ctx context.Context) {
	if t.shake(ctx, func(*hello) {}) != nil {
		t.over = true
		t.note("tried the same again: the handshake completes, so the failure comes and goes")
	}
}

// size finds out whether a large ClientHello is what fails. The post-quantum
// share makes the default one more than a segment long.
func (t *trial) size(ctx context.Context) {
	if !t.heardNothing() {
		return
	}
	// Both at once, as each costs its whole time where the peer hangs.
	var small, clamped bool
	atOnce(
		func() { small = t.shake(ctx, func(h *hello) { h.curves = smallGroups }) != nil },
		func() { clamped = t.shake(ctx, func(h *hello) { h.mss = smallMSS }) != nil },
	)
	switch {
	case clamped:
		t.proven = reasonPathMTU
		t.note("tried small segments (MSS %d): the handshake completes", smallMSS)
	case small:
		t.proven = reasonLargeClientHello
		t.note("tried a small ClientHello (no post-quantum share): the handshake completes; small segments (MSS %d) do not help", smallMSS)
	default:
		t.note("tried a small ClientHello and small segments (MSS %d): no difference, so size is not why", smallMSS)
	}
}

// proxyHeader finds out whether the peer waits for a PROXY protocol header.
func (t *trial) proxyHeader(ctx context.Context) {
	if !t.heardNothing() {
		return
	}
	header := proxyV1(t.attempt.Local, t.attempt.Peer)
	if t.shake(ctx, func(h *hello) { h.preamble = header }) != nil {
		t.proven = reasonProxyProtocolMismatch
		t.note("tried a PROXY v1 header before the handshake: it completes")
		return
	}
	t.note("tried a PROXY v1 header before the handshake: no difference")
}

// proxyV1 makes a header of the PROXY protocol, version 1 (its specification,
// Section 2.1).
func proxyV1(from, to netip.AddrPort) []byte {
	family := "TCP4"
	if to.Addr().Is6() {
		family = "TCP6"
	}
	return fmt.Appendf(nil, "PROXY %s %s %s %d %d\r\n", family, from.Addr(), to.Addr(), from.Port(), to.Port())
}

// plaintext asks in plain HTTP. It is tried on a peer that has not answered TLS
// by a single byte, as an HTTP server logs what it cannot read.
func (t *trial) plaintext(ctx context.Context) {
	if !t.heardNothing() {
		return
	}
	for _, ask := range []string{"GET / HTTP/1.0\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"} {
		if speaks := peerProtocol(t.say(ctx, ask), nil); speaks != "" {
			t.proven = reasonWrongVersionNumber
			t.received = protocolNames[speaks]
			t.note("tried plain text: the peer answers as %s", protocolNames[speaks])
			return
		}
	}
	t.note("tried plain HTTP/1 and HTTP/2: no answer")
}

// say sends text to the peer and returns the first bytes of its answer.
func (t *trial) say(ctx context.Context, text string) []byte {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	tcp, release, err := t.dial(ctx, t.attempt.Peer, 0)
	if err != nil {
		return nil
	}
	defer tcp.Close()
	defer release()
	if _, err := tcp.Write([]byte(text)); err != nil {
		return nil
	}
	answer := make([]byte, recorded)
	n, _ := tcp.Read(answer)
	return answer[:n]
}

func (t *trial) withoutSNI(ctx context.Context) {
	name := t.serverName()
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return // none was sent
	}
	facts := t.shake(ctx, func(h *hello) { h.serverName = "" })
	switch {
	case facts == nil:
		t.note("tried without SNI: no difference")
	case len(facts.Chain) > 0:
		t.note("tried without SNI: the handshake completes, with the certificate of %s", cut(facts.Chain[0].Subject))
	default:
		t.note("tried without SNI: the handshake completes")
	}
}

// versions finds out which protocol versions the peer takes.
func (t *trial) versions(ctx context.Context) {
	var takes []string
	for v := TLSVersion(tls.VersionTLS10); v <= tls.VersionTLS13; v++ {
		if t.shake(ctx, func(h *hello) { h.min, h.max = v, v }) != nil {
			takes = append(takes, tls.VersionName(uint16(v)))
		}
	}
	if len(takes) == 0 {
		t.note("tried TLS 1.0 to TLS 1.3 one by one: none is taken")
		return
	}
	t.note("tried TLS 1.0 to TLS 1.3 one by one: the peer takes %s", strings.Join(takes, ", "))
}

// protocols finds out which ALPN protocols the peer takes.
func (t *trial) protocols(ctx context.Context) {
	var takes []string
	if t.shake(ctx, func(h *hello) { h.alpn = nil }) != nil {
		takes = append(takes, "no ALPN")
	}
	for _, protocol := range []string{"http/1.1", "h2"} {
		if t.shake(ctx, func(h *hello) { h.alpn = []string{protocol} }) != nil {
			takes = append(takes, protocol)
		}
	}
	if len(takes) == 0 {
		t.note("tried no ALPN, http/1.1 and h2: none is taken")
		return
	}
	t.note("tried no ALPN, http/1.1 and h2: the peer takes %s", strings.Join(takes, ", "))
}

// tlsInstead finds out whether a port that does not answer plain text speaks TLS.
func (t *trial) tlsInstead(ctx context.Context) {
	if t.attempt.TLS != nil {
		return
	}
	if t.shake(ctx, func(*hello) {}) != nil {
		t.proven = reasonPlaintextOnTLSPort
		t.note("tried TLS: the handshake completes")
	}
}

// forwardedProto finds out whether a redirect loop ends once the server is told
// that the client came by https: then something in front of it ends TLS.
func (t *trial) forwardedProto(ctx context.Context) {
	p, ok := t.target.Module.Prober.(*HTTPProber)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	hops := t.attempt.HTTP.Hops
	last := hops[len(hops)-1]
	u, err := url.Parse(last.URL)
	if err != nil {
		return
	}
	told := *p
	told.Headers = maps.Clone(p.Headers)
	if told.Headers == nil {
		told.Headers = map[string]string{}
	}
	told.Headers["X-Forwarded-Proto"] = "https"
	a := Attempt{Peer: last.Peer, HTTP: &HTTP{}}
	w := &walk{prober: &told, session: t.session, attempt: &a, home: u}
	resp := w.hop(ctx, http.MethodGet, u, last.Peer)
	switch {
	case resp == nil:
		t.note("tried X-Forwarded-Proto: https: no answer")
	case location(u, resp) == nil:
		t.note("tried X-Forwarded-Proto: https: the answer is %s and the loop ends, so something in front ends TLS and does not say so", resp.Status)
	default:
		t.note("tried X-Forwarded-Proto: https: still redirected")
	}
}
