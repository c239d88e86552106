package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

const userAgent = "tlsprobe"

// hop sends one request to addr and reads the answer, all into the attempt. nil
// says that there is no answer, and a problem says why.
func (w *walk) hop(ctx context.Context, method string, u *url.URL, addr netip.AddrPort) *response {
	leg := Attempt{Peer: addr}
	defer w.merge(&leg)
	req, err := w.request(ctx, method, u)
	if err != nil {
		leg.Problems = append(leg.Problems, reasonCredentialsUnavailable.because(err))
		return nil
	}
	hop := Hop{Method: method, URL: u.Redacted(), Peer: addr}
	line := w.open(ctx, u, req, &leg, &hop)
	if line == nil {
		return nil
	}
	if !onlyWarnings(leg.Problems) {
		if late := line.part(ctx); late != nil {
			leg.Problems = slices.Insert(leg.Problems, 0, classify(late))
		}
		return nil
	}
	hop.TLS = leg.TLS
	x := exchange{line: line, hop: &hop, settings: &w.prober.AnswerSettings}
	resp, problems := x.do(req)
	w.attempt.HTTP.Hops = append(w.attempt.HTTP.Hops, hop)
	leg.Phases[PhaseRequest] = hop.Processing + hop.Transfer
	w.attempt.HTTP.note(resp, x.read)
	leg.Problems = append(leg.Problems, problems...)
	line.part(ctx)
	return resp
}

// note keeps the facts of the last answer, nil if there was none, of whose body
// so many bytes were read.
func (h *HTTP) note(resp *response, read int64) {
	h.Body, h.ContentLength, h.LastModified = read, 0, time.Time{}
	if resp == nil {
		return
	}
	h.ContentLength = resp.ContentLength
	h.AltSvc = resp.Header.Get("Alt-Svc")
	if at, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil {
		h.LastModified = at
	}
}

// open connects to u's server for req; over TLS for https.
func (w *walk) open(ctx context.Context, u *url.URL, req *http.Request, leg *Attempt, hop *Hop) line {
	via, err := w.prober.proxyFor(u)
	switch {
	case err != nil:
		leg.Problems = append(leg.Problems, reasonTargetMisconfigured.because(err))
		return nil
	case via != nil:
		hop.Proxy = via.Redacted()
		return w.openProxied(ctx, u, via, req, leg)
	case u.Scheme == "https" && w.prober.EnableHTTP3:
		if q := w.session.openQUIC(ctx, leg, w.peer(u), []string{"h3"}); q != nil {
			*req = *req.WithContext(ctx) // a TCP connection has its deadline
			return newHTTP3(q)
		}
		return nil
	case u.Scheme == "https":
		if c := w.session.openTLS(ctx, leg, w.peer(u), w.protocols()); c != nil {
			return c.speak()
		}
		return nil
	}
	start := time.Now()
	tcp, release, err := w.session.dial(ctx, leg.Peer, 0)
	leg.Phases[PhaseConnect] = time.Since(start)
	if err != nil {
		leg.Problems = append(leg.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return nil
	}
	leg.Local = localOf(tcp)
	return &http1{stream: &plainConn{recorder{Conn: tcp}, release}}
}

// peer says whom u's server should be. What is said of the target's name holds
// for the target's own host only.
func (w *walk) peer(u *url.URL) peer {
	named := cmp.Or(hostOnly(w.prober.header("Host")), u.Hostname())
	p := w.session.peerOf(&w.prober.TLSConfig, named)
	if !w.atHome(u) {
		p.name = u.Hostname()
	}
	if w.prober.ACMEKey != "" {
		p.TLSConfig, p.trust = p.TLSConfig.unjudged(), Trust{}
	}
	return p
}

// protocols are what to offer over TLS (RFC 7301).
func (w *walk) protocols() []string {
	if w.prober.EnableHTTP2 {
		return []string{"h2", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// openProxied is open through the proxy via: an https URL by a tunnel.
func (w *walk) openProxied(ctx context.Context, u, via *url.URL, req *http.Request, leg *Attempt) line {
	proxied, release := w.dialProxy(ctx, via, leg)
	if proxied == nil {
		return nil
	}
	if u.Scheme == "http" && via.Scheme[0] == 'h' {
		authorizeProxy(req, via)
		return &http1{stream: &plainConn{recorder{Conn: proxied}, release}, proxied: true}
	}
	inner, err := w.tunnel(proxied, via, u, leg)
	if err != nil {
		release()
		proxied.Close()
		p := reasonProxyRefused.because(err)
		p.Notes = append(p.Notes, "at the proxy "+via.Redacted())
		leg.Problems = append(leg.Problems, p)
		return nil
	}
	if u.Scheme == "http" {
		return &http1{stream: &plainConn{recorder{Conn: inner}, release}}
	}
	p := w.peer(u)
	h, trusted, ok := w.session.prepare(leg, p, w.protocols())
	if !ok {
		release()
		inner.Close()
		return nil
	}
	start := time.Now()
	c, ended := shakeHands(inner, release, h)
	leg.Phases[PhaseTLS] += time.Since(start)
	if c = w.session.settle(leg, p, trusted, c, ended); c == nil {
		return nil
	}
	return c.speak()
}

// plainConn is a connection without TLS.
type plainConn struct {
	recorder
	release func()
}

// Close implements [net.Conn].
func (c *plainConn) Close() error {
	c.release()
	return c.Conn.Close()
}

func (c *plainConn) evidence(phase Phase, err error) *Evidence {
	return newEvidence(phase, err, &c.recorder)
}

// part closes the connection; plain HTTP has no last word.
func (c *plainConn) part(context.Context) *Evidence {
	c.Close()
	return nil
}

// merge adds what one hop found to the attempt. The facts of TLS are those of
// the first hop that has any: an expiry belongs to the host that was asked for.
func (w *walk) merge(leg *Attempt) {
	a := w.attempt
	for phase, d := range leg.Phases {
		a.Phases[phase] += d
	}
	if a.TLS == nil {
		a.TLS = leg.TLS
	}
	if a.QUIC == nil {
		a.QUIC = leg.QUIC
	}
	if !a.Local.IsValid() {
		a.Local = leg.Local
	}
	if n := len(a.HTTP.Hops); n > 1 || n == 1 && leg.Peer != a.Peer {
		for i := range leg.Problems {
			leg.Problems[i].Notes = append(leg.Problems[i].Notes, fmt.Sprintf("at a redirect, at %s", leg.Peer))
		}
	}
	a.Problems = append(a.Problems, leg.Problems...)
}

func onlyWarnings(problems []Problem) bool {
	for _, p := range problems {
		if p.Reason.Severity == Error {
			return false
		}
	}
	return true
}

// request builds the request of a hop. The configured headers and credentials may
// be secret: they go to the target's own host only, never in the clear behind
// TLS, and so does the body.
func (w *walk) request(ctx context.Context, method string, u *url.URL) (*http.Request, error) {
	req := &http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{
		"User-Agent": {userAgent},
		"Accept":     {"*/*"},
	}}
	for _, c := range w.cookiesFor(u) {
		req.AddCookie(c)
	}
	if !w.atHome(u) {
		return req, nil
	}
	p := w.prober
	if err := p.setHeaders(req.Header); err != nil {
		return nil, err
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if method == p.Method {
		if err := p.setBody(req); err != nil {
			return nil, err
		}
	}
	return req, w.session.authorize(ctx, &p.Credentials, req)
}
