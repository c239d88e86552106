package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

const (
	acmeKey   = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI"
	shortened = "the key authorization LoqXcYV8q5ONbJQx...fm21mqTI"
)

func withKey(p *probe.HTTPProber) { p.ACMEKey = acmeKey }

// What the solver answers, and what is read there.
func TestACMEAnswer(t *testing.T) {
	token, _, _ := strings.Cut(acmeKey, ".")
	for _, tt := range []struct {
		name     string
		status   int
		body     string
		reasons  []string
		received string
	}{
		{"the key", 200, acmeKey, nil, ""},
		{"white space behind it", 200, acmeKey + "\r\n \t\n", nil, ""},
		{"white space before it", 200, "\n" + acmeKey, []string{"acme_challenge_failed"},
			`status 200 OK, a body that begins "\n` + acmeKey[:63] + `"`},
		{"more than it", 200, acmeKey + "=", []string{"acme_challenge_failed"},
			`status 200 OK, a body that begins "` + acmeKey[:64] + `"`},
		{"the token alone", 200, token, []string{"acme_challenge_failed"},
			`status 200 OK, a body that begins "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"`},
		{"nothing", 200, "", []string{"acme_challenge_failed"}, "status 200 OK, an empty body"},
		{"a page with escapes", 200, "\x1b[2J\x00<html>", []string{"acme_challenge_failed"},
			`status 200 OK, a body that begins "\x1b[2J\x00<html>"`},
		{"a default backend", 404, "default backend - 404", []string{"acme_challenge_failed", "http_status"},
			`status 404 Not Found, a body that begins "default backend - 404"`},
		{"the key with another status", 203, acmeKey, []string{"acme_challenge_failed", "http_status"},
			`status 203 Non-Authoritative Information, a body that begins "` + acmeKey[:64] + `"`},
		{"an endless body", 200, strings.Repeat("x", 11<<20), []string{"acme_challenge_failed", "http_body_too_large"},
			`status 200 OK, a body that begins "` + strings.Repeat("x", 64) + `"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer server.Close()
			checkChallenge(t, run(t, httpTarget(server.URL+"/.well-known/acme-challenge/"+token, withKey)), tt.reasons, tt.received)
		})
	}
}

// checkChallenge compares the reasons, and the particulars of the first of them.
func checkChallenge(t *testing.T, res *probe.Result, reasons []string, received string) {
	t.Helper()
	if diff := cmp.Diff(reasons, ids(res)); diff != "" {
		t.Errorf("reasons differ (-want +found):\n%s", diff)
	}
	if len(reasons) == 0 || len(ids(res)) == 0 {
		return
	}
	p := res.Attempts[0].Problems[0]
	want := []string{res.Target.Address + " does not answer with the key", shortened, received}
	if diff := cmp.Diff(want, []string{p.Detail, p.Expected, p.Received}); diff != "" {
		t.Errorf("the problem differs (-want +found):\n%s", diff)
	}
}

// An answer for the token of another account is told from any other answer.
func TestACMEOtherAccount(t *testing.T) {
	token, _, _ := strings.Cut(acmeKey, ".")
	for body, notes := range map[string]int{
		token + ".NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs": 1,
		token:            1,
		"hello":          0,
		"not " + acmeKey: 0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
		p := run(t, httpTarget(server.URL, withKey)).Worst()
		server.Close()
		if p == nil || len(p.Notes) != notes {
			t.Errorf("%q: the problem is %+v, want %d notes", body, p, notes)
		}
	}
}

// Redirects are followed to https with any certificate, and back.
func TestACMERedirects(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, acmeKey) })
	plain := httptest.NewServer(answer)
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, plain.URL, http.StatusFound)
			return
		}
		answer(w, r)
	}))
	defer secure.Close()
	closed := "http://" + freeAddress(t) + "/"
	for _, tt := range []struct {
		name, to string
		reasons  []string
		received string
	}{
		{"to https", secure.URL + "/key", nil, ""},
		{"to https and back", secure.URL + "/back", nil, ""},
		{"to a closed port", closed, []string{"acme_challenge_failed", "tcp_refused"},
			fmt.Sprintf("a redirect to %q, and there: %s", closed, probe.Lookup("tcp_refused").Title)},
		{"to plain http by https", strings.Replace(plain.URL, "http", "https", 1), []string{"acme_challenge_failed", "wrong_version_number"},
			fmt.Sprintf("a redirect to %q, and there: %s", strings.Replace(plain.URL, "http", "https", 1), probe.Lookup("wrong_version_number").Title)},
		{"to itself", "/", []string{"acme_challenge_failed", "redirect_loop"},
			`a redirect to "/", and there: ` + probe.Lookup("redirect_loop").Title},
		{"to what is no URL", "ftp://x/", []string{"acme_challenge_failed", "http_status"}, "status 302 Found, an empty body"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", tt.to)
				w.WriteHeader(http.StatusFound)
			}))
			defer server.Close()
			checkChallenge(t, run(t, httpTarget(server.URL+"/", withKey)), tt.reasons, tt.received)
		})
	}
}

// The certificate on the way is not judged, and yet is a fact of the result.
func TestACMEKeepsTheCertificate(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	server := httptest.NewServer(http.RedirectHandler(secure.URL, http.StatusFound))
	defer server.Close()
	res := run(t, httpTarget(server.URL, withKey))
	if facts := res.Attempts[0].TLS; facts == nil || len(facts.Chain) == 0 {
		t.Errorf("the facts of TLS are %+v, want a chain", facts)
	}
}

// What goes wrong before an answer follows the challenge's own reason.
func TestACMEUnreachable(t *testing.T) {
	dns, err := lab.StartDNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dns.Close() })
	resolving := func(p *probe.HTTPProber) { p.Resolver = dns.Addr() }
	for _, tt := range []struct{ name, address, reason string }{
		{"no name", "http://nowhere.lab.test/", "dns_nxdomain"},
		{"no server", "http://" + freeAddress(t) + "/", "tcp_refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkChallenge(t, run(t, httpTarget(tt.address, withKey, resolving)),
				[]string{"acme_challenge_failed", tt.reason}, "no answer: "+probe.Lookup(tt.reason).Title)
		})
	}
}

func TestACMESettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*probe.HTTPProber)
	}{
		{"no key", func(p *probe.HTTPProber) { p.ACMEKey = "token" }},
		{"white space", func(p *probe.HTTPProber) { p.ACMEKey = acmeKey + "\n" }},
		{"a POST", func(p *probe.HTTPProber) { p.ACMEKey, p.Method = acmeKey, http.MethodPost }},
		{"credentials", func(p *probe.HTTPProber) { p.ACMEKey, p.BearerToken = acmeKey, "secret" }},
	} {
		p := probe.NewProber("http").(*probe.HTTPProber)
		tt.edit(p)
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), "acme_key: ") {
			t.Errorf("%s: %v, want an error of acme_key", tt.name, err)
		}
	}
}
