package lab

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"

	"tlsprobe/probe"
)

// requestScenarios complete the handshake and fail the request.
func requestScenarios() []Scenario {
	return []Scenario{
		{Name: "http-eof", Summary: "closes the connection instead of an answer", Reasons: []string{"eof_after_handshake"},
			start: func(i *Instance) error { return i.answerAt(func(*tls.Conn, *peerConn) {}) }},
		{Name: "http-reset", Summary: "resets the connection instead of an answer",
			Reasons: []string{"reset_after_handshake"},
			start: func(i *Instance) error {
				return i.answerAt(func(_ *tls.Conn, c *peerConn) { c.reset() })
			}},
		{Name: "http-hangs", Summary: "never answers the request", Reasons: []string{"http_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.requestAt(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			}},
		{Name: "http-unavailable", Summary: "answers 503", Reasons: []string{"http_status"},
			start: func(i *Instance) error { return i.requestAt(answerStatus(http.StatusServiceUnavailable)) }},
		{Name: "http-unauthorized", Summary: "answers 401, which is expected",
			start: func(i *Instance) error {
				return i.requestAt(answerStatus(http.StatusUnauthorized), func(p *probe.HTTPProber) {
					p.ValidStatusCodes = []int{http.StatusUnauthorized}
				})
			}},
		{Name: "http-not-http", Summary: "speaks SMTP within TLS", Reasons: []string{"http_malformed"},
			start: func(i *Instance) error {
				return i.answerAt(func(c *tls.Conn, _ *peerConn) { io.WriteString(c, smtpGreeting) })
			}},
		{Name: "http-untrusted", Summary: "has a certificate of a CA that is not trusted, and logs every request",
			Reasons: []string{"unknown_authority"},
			start:   startUntrusted},
		{Name: "http-client-cert", Summary: "requires a client certificate over TLS 1.3, and is sent a request without",
			Reasons: []string{"client_cert_required"},
			start: func(i *Instance) error {
				cfg, err := i.goodConfig()
				if err != nil {
					return err
				}
				cfg.ClientAuth = tls.RequireAnyClientCert
				return i.requestWith(cfg, http.HandlerFunc(answerOK))
			}},
	}
}

// startUntrusted logs what must not happen: that a request was sent to a peer
// that is not trusted.
func startUntrusted(i *Instance) error {
	ca, err := NewCA("another CA")
	if err != nil {
		return err
	}
	cert, err := ca.Issue()
	if err != nil {
		return err
	}
	return i.requestWith(withCertificate(cert), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(&i.log, "%s %s\n", r.Method, r.URL)
		answerOK(w, r)
	}))
}

func answerStatus(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, http.StatusText(code), code)
	})
}

// answerAt completes a good handshake, reads one request and leaves the answer to
// answer, which gets the connection and what is below TLS.
func (i *Instance) answerAt(answer func(*tls.Conn, *peerConn)) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	cfg.NextProtos = []string{"http/1.1"}
	addr, err := i.serve(func(c *peerConn) {
		conn := tls.Server(c, cfg)
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			answer(conn, c)
		}
	})
	i.Target.Address = "https://" + addr + "/"
	i.Target.Module = httpModule()
	return err
}
