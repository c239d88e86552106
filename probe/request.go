package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

const (
	maxHeaderBytes = 64 << 10 // of an answer
	excerptBytes   = 512      // of a body, kept to tell what it says
)

// response is an HTTP response whose body has been read.
type response struct {
	*http.Response
	says    *Reason // what an error page says of TLS, nil if nothing
	excerpt string  // the beginning of the body
}

// hop sends one request to addr and reads the answer, all into the attempt. nil
// says that there is no answer, and a problem says why.
func (w *walk) hop(ctx context.Context, method string, u *url.URL, addr netip.AddrPort) *response {
	leg := Attempt{Peer: addr}
	defer w.merge(&leg)
	line, rec := w.open(ctx, u, &leg)
	if line == nil {
		return nil
	}
	if len(leg.Problems) > 0 && !onlyWarnings(leg.Problems) {
		if late := line.part(ctx); late != nil {
			leg.Problems = slices.Insert(leg.Problems, 0, classify(late))
		}
		return nil
	}
	hops := &w.attempt.HTTP.Hops
	*hops = append(*hops, Hop{Method: method, URL: u.Redacted(), Peer: addr, TLS: leg.TLS})
	hop := &(*hops)[len(*hops)-1]

	x := httpExchange{conn: line, rec: rec, hop: hop, limit: cmp.Or(w.prober.BodySizeLimit, defaultBodySize)}
	resp, problem := x.do(w.request(method, u))
	leg.Phases[PhaseRequest] = hop.Processing + hop.Transfer
	w.attempt.HTTP.Body = x.read
	if problem != nil {
		leg.Problems = append(leg.Problems, *problem)
	}
	line.part(ctx)
	return resp
}

// line is a connection that carries a request.
type line interface {
	io.ReadWriter
	part(context.Context) *Evidence
}

// open connects to u's server; over TLS for https.
func (w *walk) open(ctx context.Context, u *url.URL, leg *Attempt) (line, *recorder) {
	if u.Scheme == "https" {
		p := w.session.peerOf(&w.prober.TLSConfig, u.Hostname())
		if u.Host != w.home {
			p.name = u.Hostname()
		}
		c := w.session.openTLS(ctx, leg, p, []string{"http/1.1"})
		if c == nil {
			return nil, nil
		}
		return c, c.rec
	}
	start := time.Now()
	tcp, release, err := w.session.dial(ctx, leg.Peer, 0)
	leg.Phases[PhaseConnect] = time.Since(start)
	if err != nil {
		leg.Problems = append(leg.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return nil, nil
	}
	leg.Local = localOf(tcp)
	c := &plainConn{recorder{Conn: tcp}, release}
	return c, &c.recorder
}

// plainConn is a connection without TLS.
type plainConn struct {
	recorder
	release func()
}

// part closes the connection; plain HTTP has no last word.
func (c *plainConn) part(context.Context) *Evidence {
	c.release()
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

// request builds the request of a hop. The configured headers may hold secrets:
// they go to the target's own host only.
func (w *walk) request(method string, u *url.URL) *http.Request {
	req := &http.Request{Method: method, URL: u, Host: u.Host, Close: true, Header: http.Header{
		"User-Agent": {"tlsprobe"},
		"Accept":     {"*/*"},
	}}
	if u.Host == w.home {
		for name, value := range w.prober.Headers {
			req.Header.Set(name, value)
		}
		if host := req.Header.Get("Host"); host != "" {
			req.Host = host
		}
	}
	for _, c := range w.cookiesFor(u) {
		req.AddCookie(c)
	}
	return req
}

// httpExchange is one request and its answer on one connection.
type httpExchange struct {
	conn  io.ReadWriter
	rec   *recorder
	hop   *Hop
	limit int64 // bytes of the body that are read
	read  int64
}

// do sends req and reads the answer. A problem may come with an answer (its body
// is too large) or without.
func (x *httpExchange) do(req *http.Request) (*response, *Problem) {
	start := time.Now()
	if err := req.Write(x.conn); err != nil && !peerEnded(err) {
		return nil, x.failed(err)
	}
	// The header's bytes are counted; the body has its own limit.
	in := &endingReader{Reader: x.conn}
	limited := &io.LimitedReader{R: in, N: maxHeaderBytes}
	resp, err := http.ReadResponse(bufio.NewReader(limited), req)
	x.hop.Processing = time.Since(start)
	if err != nil {
		switch {
		case limited.N == 0:
			err = fmt.Errorf("the header of the answer is larger than %d KiB", maxHeaderBytes>>10)
		case in.end != nil && in.end != io.EOF:
			err = in.end
		}
		return nil, x.failed(err)
	}
	defer resp.Body.Close()
	limited.N = x.limit + maxHeaderBytes
	x.hop.Proto, x.hop.Status = resp.Proto, resp.StatusCode
	x.hop.Location = resp.Header.Get("Location")

	start = time.Now()
	a := &response{Response: resp}
	problem := x.readBody(a)
	x.hop.Transfer = time.Since(start)
	return a, problem
}

// endingReader keeps the error that ended reading: http.ReadResponse calls a line
// that an error cut short malformed, and drops the error.
type endingReader struct {
	io.Reader
	end error
}

func (r *endingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		r.end = err
	}
	return n, err
}

// peerEnded reports whether writing failed because the peer has gone: what it
// said before is still there to be read, and says more.
func peerEnded(err error) bool {
	end := newEvidence(PhaseRequest, err, nil).End
	return end == EndReset
}

// readBody reads the body up to the limit, keeping its beginning.
func (x *httpExchange) readBody(a *response) *Problem {
	head, err := io.ReadAll(io.LimitReader(a.Body, min(excerptBytes, x.limit+1)))
	x.read = int64(len(head))
	a.excerpt = string(bytes.TrimSpace(head))
	if a.StatusCode == http.StatusBadRequest {
		a.says = errorPage(head, x.hop.TLS != nil)
	}
	if err == nil {
		var more int64
		more, err = io.Copy(io.Discard, io.LimitReader(a.Body, x.limit-x.read+1))
		x.read += more
	}
	if x.read > x.limit {
		p := reasonHTTPBodyTooLarge.problem("the body goes on after %d bytes", x.limit)
		return &p
	}
	if err != nil {
		return x.failed(fmt.Errorf("after %d bytes of the body: %w", x.read, err))
	}
	return nil
}

// errorPages are the words by which servers say in HTTP what is wrong with TLS:
// Go's, nginx's and Apache's answers to plain HTTP on a TLS port, and nginx's
// about client certificates, which it judges after the handshake.
var errorPages = []struct {
	words  string
	tls    bool // over TLS
	reason *Reason
}{
	{"Client sent an HTTP request to an HTTPS server", false, reasonPlaintextOnTLSPort},
	{"The plain HTTP request was sent to HTTPS port", false, reasonPlaintextOnTLSPort},
	{"speaking plain HTTP to an SSL-enabled server port", false, reasonPlaintextOnTLSPort},
	{"No required SSL certificate was sent", true, reasonClientCertRequired},
	{"The SSL certificate error", true, reasonBadCertificate},
}

func errorPage(body []byte, overTLS bool) *Reason {
	for _, page := range errorPages {
		if page.tls == overTLS && bytes.Contains(body, []byte(page.words)) {
			return page.reason
		}
	}
	return nil
}

// failed classifies what ended the exchange. An alert belongs to TLS whenever it
// comes, and a TLS alert in answer to plain HTTP says what the port speaks.
func (x *httpExchange) failed(err error) *Problem {
	e := newEvidence(PhaseRequest, err, x.rec)
	if x.hop.TLS == nil {
		if first := x.rec.first(); len(first) >= 2 && isTLSRecord(first) {
			p := reasonPlaintextOnTLSPort.problem("%s answers plain HTTP with a TLS alert", x.hop.Peer)
			return &p
		}
	} else if e.AlertFrom == Peer {
		e.Phase, e.TLS = PhaseTLS, x.hop.TLS
		e.ClientCertRequested, e.ClientCertSent = e.TLS.ClientCertRequested, e.TLS.ClientCertSent
	}
	p := classify(e)
	return &p
}
