package probe_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// numberOf returns the port of a test server.
func numberOf(t *testing.T, s *httptest.Server) uint16 {
	t.Helper()
	return netip.MustParseAddrPort(s.Listener.Addr().String()).Port()
}

// startTLS starts a server with a certificate of ca.
func startTLS(t *testing.T, ca *lab.CA, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// redirecting answers with a redirect to the URL, or with the status if it is none.
func redirecting(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(status)
	}
}

// An https URL is probed, and whether its host serves plain http without leading to
// https is a second question that never hides the first.
func TestHTTPPort(t *testing.T) {
	ca := newCA(t, "web")
	secure := startTLS(t, ca, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	for _, tt := range []struct {
		name  string
		plain http.Handler
		want  []string
	}{
		{"serves", redirecting(200, ""), []string{"missing_https_redirect"}},
		{"asks for a password", redirecting(401, ""), []string{"missing_https_redirect"}},
		{"redirects to its own http", redirecting(302, "/login"), []string{"missing_https_redirect"}},
		{"redirects to https", redirecting(308, "https://127.0.0.1/"), nil},
		{"redirects to https elsewhere", redirecting(302, "https://other.example/"), nil},
		{"leaves it to another host", redirecting(301, "http://www.example.com/"), nil},
		{"has nothing there", redirecting(404, ""), nil},
		{"is broken", redirecting(503, ""), nil},
		{"hangs up", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := httptest.NewServer(tt.plain)
			defer plain.Close()
			target := httpTarget(secure.URL, func(p *probe.HTTPProber) { p.HTTPPort = numberOf(t, plain) })
			target.Trust = probe.Trust{PEM: ca.PEM()}
			res := run(t, target)
			if got := ids(res); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if hops := res.Attempts[0].HTTP.Hops; len(hops) != 1 || !strings.HasPrefix(hops[0].URL, "https:") {
				t.Errorf("the hops are %v, want the one over https", hops)
			}
			target.Trust = probe.Trust{PEM: newCA(t, "other").PEM()}
			if got := ids(run(t, target)); !slices.Equal(got, append([]string{"unknown_authority"}, tt.want...)) {
				t.Errorf("untrusted: %q, want unknown_authority and %q", got, tt.want)
			}
		})
	}
}

func TestHTTPPortClosed(t *testing.T) {
	ca := newCA(t, "web")
	secure := startTLS(t, ca, redirecting(200, ""))
	gone := httptest.NewServer(redirecting(200, ""))
	gone.Close()
	target := httpTarget(secure.URL, func(p *probe.HTTPProber) { p.HTTPPort = numberOf(t, gone) })
	target.Trust = probe.Trust{PEM: ca.PEM()}
	if got := ids(run(t, target)); len(got) > 0 {
		t.Errorf("%q, want no problem: what is not served needs no redirect", got)
	}
}

// Of a host whose https port takes no connection, that it serves plain http says
// nothing.
func TestHTTPPortAloneServes(t *testing.T) {
	plain := httptest.NewServer(redirecting(200, ""))
	defer plain.Close()
	target := httpTarget("https://127.0.0.1:1/", func(p *probe.HTTPProber) { p.HTTPPort = numberOf(t, plain) })
	if got := ids(run(t, target)); !slices.Equal(got, []string{"tcp_refused"}) {
		t.Errorf("%q, want tcp_refused alone", got)
	}
}

// What is meant for TLS does not go to the plain port.
func TestHTTPPortGetsNoSecret(t *testing.T) {
	ca := newCA(t, "web")
	secure := startTLS(t, ca, redirecting(200, ""))
	asked := make(chan http.Header, 1)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked <- r.Header }))
	defer plain.Close()
	target := httpTarget(secure.URL, func(p *probe.HTTPProber) {
		p.HTTPPort = numberOf(t, plain)
		p.Headers = map[string]string{"X-Token": "secret"}
	})
	target.Trust = probe.Trust{PEM: ca.PEM()}
	run(t, target)
	if got := (<-asked).Get("X-Token"); got != "" {
		t.Errorf("the plain port got the header %q", got)
	}
}

// A redirect to another host is the answer where only the own one is followed.
func TestSameHost(t *testing.T) {
	other := httptest.NewServer(redirecting(500, ""))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	mux := http.NewServeMux()
	mux.Handle("/elsewhere", redirecting(302, elsewhere))
	mux.Handle("/own", redirecting(302, "/elsewhere"))
	mux.Handle("/loop", redirecting(302, "/loop"))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, tt := range []struct {
		path string
		hops int
		want []string
	}{
		{"/elsewhere", 1, nil},
		{"/own", 2, nil},
		{"/loop", 1, []string{"redirect_loop"}},
	} {
		res := run(t, httpTarget(server.URL+tt.path, func(p *probe.HTTPProber) {
			p.SameHost, p.ValidStatusCodes = true, []int{200, 302}
		}))
		if got := ids(res); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
		if got := len(res.Attempts[0].HTTP.Hops); got != tt.hops {
			t.Errorf("%s: %d hops, want %d", tt.path, got, tt.hops)
		}
	}
}

func TestExpectedStatus(t *testing.T) {
	server := httptest.NewServer(redirecting(500, ""))
	defer server.Close()
	for want, codes := range map[string][]int{
		"status 200 to 299":           nil,
		"status 404":                  {404},
		"status 200, 204":             {204, 200},
		"status 200 to 203, 301, 404": {200, 201, 202, 202, 203, 301, 404},
	} {
		res := run(t, httpTarget(server.URL, func(p *probe.HTTPProber) { p.ValidStatusCodes = codes }))
		if got := res.Worst().Expected; got != want {
			t.Errorf("%v: %q, want %q", codes, got, want)
		}
	}
}
