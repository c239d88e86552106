package lab

import (
	"net/http"
	"regexp"

	promconfig "github.com/prometheus/common/config"

	"tlsprobe/probe"
)

// answerScenarios answer well, but not as the module demands.
func answerScenarios() []Scenario {
	return []Scenario{
		{Name: "answer-version", Summary: "answers in HTTP/1.1 where HTTP/2 is demanded",
			Reasons: []string{"http_version_mismatch"},
			start: func(i *Instance) error {
				cfg, err := i.goodConfig()
				if err != nil {
					return err
				}
				cfg.NextProtos = []string{"http/1.1"}
				return i.requestWith(cfg, http.HandlerFunc(answerOK), func(p *probe.HTTPProber) {
					p.ValidHTTPVersions = []string{"HTTP/2.0"}
				})
			}},
		{Name: "answer-over-tls", Summary: "answers over TLS where none is demanded",
			Reasons: []string{"http_tls_mismatch"},
			start:   answering(answerOK, func(p *probe.HTTPProber) { p.FailIfSSL = true })},
		{Name: "answer-header", Summary: "answers with a cookie where none is demanded",
			Reasons: []string{"http_header_mismatch"},
			start: answering(
				func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Set-Cookie", "session=1") },
				func(p *probe.HTTPProber) {
					p.FailIfHeaderMatches = []probe.HeaderMatch{{Header: "set-cookie", Regexp: expression(".*"), AllowMissing: true}}
				})},
		{Name: "answer-body", Summary: "answers 200 with an error page",
			Reasons: []string{"http_body_mismatch"},
			start: answering(
				func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("Could not connect to database\n")) },
				func(p *probe.HTTPProber) { p.FailIfBodyMatches = []probe.Regexp{expression("Could not connect")} })},
		{Name: "answer-json", Summary: "answers JSON that reports a fault",
			Reasons: []string{"http_cel_mismatch"},
			start: answering(
				func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"status": "degraded"}`)) },
				func(p *probe.HTTPProber) { p.FailIfJSONNotMatches = "body.status == 'ok'" })},
		{Name: "answer-uncompressed", Summary: "does not compress where that is demanded",
			Reasons: []string{"http_compression_mismatch"},
			start:   answering(answerOK, func(p *probe.HTTPProber) { p.Compression = "gzip" })},
		{Name: "http2-stream-error", Summary: "gives up amid the answer, over HTTP/2",
			Reasons: []string{"http_stream_error"},
			start:   answering(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
		{Name: "proxy-good", Summary: "a good server behind a proxy", start: func(i *Instance) error {
			return i.behindProxy(http.HandlerFunc(tunnel))
		}},
		{Name: "proxy-refuses", Summary: "a good server behind a proxy that forbids it",
			Reasons: []string{"proxy_refused"},
			start:   func(i *Instance) error { return i.behindProxy(answerStatus(http.StatusForbidden)) }},
		{Name: "token-refused", Summary: "a good server, and an authorization server that hands out no token",
			Reasons: []string{"credentials_unavailable"},
			start:   startWithoutToken},
	}
}

// answering returns what starts a good server with this handler.
func answering(handler http.HandlerFunc, edits ...func(*probe.HTTPProber)) func(*Instance) error {
	return func(i *Instance) error { return i.requestAt(handler, edits...) }
}

func expression(s string) probe.Regexp { return probe.Regexp{Regexp: regexp.MustCompile(s)} }

func startWithoutToken(i *Instance) error {
	tokens, err := i.serveHTTP(answerStatus(http.StatusUnauthorized))
	if err != nil {
		return err
	}
	return i.requestAt(http.HandlerFunc(answerOK), func(p *probe.HTTPProber) {
		p.OAuth2 = &promconfig.OAuth2{ClientID: "tlsprobe", ClientSecret: "secret", TokenURL: tokens + "/token"}
	})
}
