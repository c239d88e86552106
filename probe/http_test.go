package probe_test

import (
	"bufio"
	"compress/gzip"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	promconfig "github.com/prometheus/common/config"

	"tlsprobe/probe"
)

// httpTarget returns a target of the http prober with its defaults, edited.
func httpTarget(address string, edits ...func(*probe.HTTPProber)) *probe.Target {
	p := probe.NewProber("http").(*probe.HTTPProber)
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Target{
		Name: address, Address: address,
		Module: &probe.Module{Name: "http", Kind: "http", Prober: p},
	}
}

func run(t *testing.T, target *probe.Target) *probe.Result {
	t.Helper()
	if err := target.Module.Prober.Validate(); err != nil {
		t.Fatal(err)
	}
	return probe.NewRunner("n").Run(t.Context(), target)
}

func regexps(t *testing.T, words ...string) []probe.Regexp {
	t.Helper()
	out := make([]probe.Regexp, len(words))
	for i, word := range words {
		if err := out[i].UnmarshalText([]byte(word)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// sendAnswer is what the server of TestAnswer sends.
func sendAnswer(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Via", "first")
	w.Header().Add("Via", "second")
	switch r.URL.Path {
	case "/gzip":
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat("zipped ", 1000))
		z.Close()
	case "/json":
		io.WriteString(w, `{"status": "ok", "replicas": 3}`)
	case "/broken":
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "broken")
	case "/hints":
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, "hello world")
	default:
		io.WriteString(w, "hello world")
	}
}

func TestAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(sendAnswer))
	defer server.Close()
	header := func(pattern string, allowMissing bool, name string) []probe.HeaderMatch {
		return []probe.HeaderMatch{{Header: name, Regexp: regexps(t, pattern)[0], AllowMissing: allowMissing}}
	}
	for _, tt := range []struct {
		name, path string
		edit       func(*probe.HTTPProber)
		want       []string
	}{
		{"nothing demanded", "/", func(*probe.HTTPProber) {}, nil},
		{"interim answers do not count", "/hints", func(*probe.HTTPProber) {}, nil},
		{"version", "/", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/1.1", "HTTP/2"} }, nil},
		{"not the version", "/", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/2.0"} }, []string{"http_version_mismatch"}},
		{"not over TLS", "/", func(p *probe.HTTPProber) { p.FailIfNotSSL = true }, []string{"http_tls_mismatch"}},
		{"rightly not over TLS", "/", func(p *probe.HTTPProber) { p.FailIfSSL = true }, nil},
		{"any value of a header", "/", func(p *probe.HTTPProber) { p.FailIfHeaderNotMatches = header("^second$", false, "via") }, nil},
		{"no value of a header", "/", func(p *probe.HTTPProber) { p.FailIfHeaderNotMatches = header("third", false, "via") }, []string{"http_header_mismatch"}},
		{"forbidden value of a header", "/", func(p *probe.HTTPProber) { p.FailIfHeaderMatches = header("sec", false, "via") }, []string{"http_header_mismatch"}},
		{"missing header", "/", func(p *probe.HTTPProber) { p.FailIfHeaderMatches = header(".", false, "Server") }, []string{"http_header_mismatch"}},
		{"allowed to miss", "/", func(p *probe.HTTPProber) { p.FailIfHeaderNotMatches = header(".", true, "Server") }, nil},
		{"body", "/", func(p *probe.HTTPProber) { p.FailIfBodyNotMatches = regexps(t, "world", "^hello") }, nil},
		{"not the body", "/", func(p *probe.HTTPProber) { p.FailIfBodyNotMatches = regexps(t, "world", "moon") }, []string{"http_body_mismatch"}},
		{"every fault", "/", func(p *probe.HTTPProber) {
			p.FailIfNotSSL, p.FailIfBodyMatches, p.FailIfHeaderMatches = true, regexps(t, "hello"), header("first", false, "Via")
		}, []string{"http_tls_mismatch", "http_header_mismatch", "http_body_mismatch"}},
		{"an error page is not judged", "/broken", func(p *probe.HTTPProber) { p.FailIfBodyNotMatches = regexps(t, "world") }, []string{"http_status"}},
		{"CEL", "/json", func(p *probe.HTTPProber) { p.FailIfJSONNotMatches = "body.status == 'ok' && body.replicas > 2.0" }, nil},
		{"not by CEL", "/json", func(p *probe.HTTPProber) { p.FailIfJSONMatches = "body.replicas < 4.0" }, []string{"http_cel_mismatch"}},
		{"no such field", "/json", func(p *probe.HTTPProber) { p.FailIfJSONNotMatches = "body.state == 'ok'" }, []string{"http_cel_mismatch"}},
		{"no JSON", "/", func(p *probe.HTTPProber) { p.FailIfJSONMatches = "body.status == 'ok'" }, []string{"http_cel_mismatch"}},
		{"compressed", "/gzip", func(p *probe.HTTPProber) {
			p.Compression, p.FailIfBodyNotMatches = "gzip", regexps(t, "^zipped zipped")
		}, nil},
		{"not compressed", "/", func(p *probe.HTTPProber) { p.Compression = "br" }, []string{"http_compression_mismatch"}},
		{"small enough", "/", func(p *probe.HTTPProber) { p.BodySizeLimit = 11 }, nil},
		{"too large", "/", func(p *probe.HTTPProber) { p.BodySizeLimit = 10 }, []string{"http_body_too_large"}},
		{"too large once decompressed", "/gzip", func(p *probe.HTTPProber) { p.Compression, p.BodySizeLimit = "gzip", 1000 }, []string{"http_body_too_large"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, httpTarget(server.URL+tt.path, tt.edit))
			if diff := cmp.Diff(tt.want, ids(res)); diff != "" {
				t.Errorf("reasons differ (-want +found):\n%s%+v", diff, res.Worst())
			}
		})
	}
}

// sent is what a server was sent.
type sent struct {
	Method, Host, Path, Body, Authorization, Token string
}

func record(into *[]sent) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*into = append(*into, sent{r.Method, r.Host, r.URL.Path, string(body), r.Header.Get("Authorization"), r.Header.Get("X-Token")})
	}
}

func TestRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	writeFile(t, file, "from a file\n")
	var got []sent
	server := httptest.NewServer(record(&got))
	defer server.Close()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"access_token": "t0ken", "token_type": "Bearer"}`)
	}))
	defer tokens.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, tt := range []struct {
		name string
		edit func(*probe.HTTPProber)
		want sent
	}{
		{"plain", func(*probe.HTTPProber) {}, sent{"GET", host, "/", "", "", ""}},
		{"a body and a host", func(p *probe.HTTPProber) {
			p.Method, p.Body, p.Headers = "POST", "{}", map[string]string{"host": "shop.test", "x-token": "a"}
		}, sent{"POST", "shop.test", "/", "{}", "", "a"}},
		{"from files", func(p *probe.HTTPProber) {
			p.Method, p.BodyFile, p.HTTPHeaders = "PUT", file, map[string]promconfig.Header{"X-Token": {Files: []string{file}}}
			p.BearerTokenFile = file
		}, sent{"PUT", host, "/", "from a file\n", "Bearer from a file", "from a file"}},
		{"basic", func(p *probe.HTTPProber) { p.BasicAuth = &promconfig.BasicAuth{Username: "u", Password: "p"} },
			sent{"GET", host, "/", "", "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p")), ""}},
		{"authorization", func(p *probe.HTTPProber) {
			p.Authorization = &promconfig.Authorization{Type: "Token", Credentials: "x"}
		}, sent{"GET", host, "/", "", "Token x", ""}},
		{"OAuth 2", func(p *probe.HTTPProber) {
			p.OAuth2 = &promconfig.OAuth2{ClientID: "c", ClientSecret: "s", TokenURL: tokens.URL}
		}, sent{"GET", host, "/", "", "Bearer t0ken", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got = nil
			wantOK(t, run(t, httpTarget(host+"/", tt.edit))) // without a scheme it is http
			if diff := cmp.Diff([]sent{tt.want}, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

func wantOK(t *testing.T, res *probe.Result) {
	t.Helper()
	if p := res.Worst(); p != nil {
		t.Errorf("%s: %s %q", p.Reason.ID, p.Detail, p.Notes)
	}
}

// A secret that is not at hand is our fault, and nothing is sent.
func TestMissingSecret(t *testing.T) {
	var got []sent
	server := httptest.NewServer(record(&got))
	defer server.Close()
	res := run(t, httpTarget(server.URL, func(p *probe.HTTPProber) { p.BearerTokenFile = filepath.Join(t.TempDir(), "none") }))
	if verdict(res) != "credentials_unavailable" || len(got) > 0 {
		t.Errorf("verdict %q, %d requests sent", verdict(res), len(got))
	}
}

// What is secret goes to the host that was asked for, and to no other.
func TestSecretsStayHome(t *testing.T) {
	var away []sent
	other := httptest.NewServer(record(&away))
	defer other.Close()
	home := httptest.NewServer(http.RedirectHandler(other.URL+"/there", http.StatusTemporaryRedirect))
	defer home.Close()
	wantOK(t, run(t, httpTarget(home.URL, func(p *probe.HTTPProber) {
		p.Method, p.Body, p.BearerToken, p.Headers = "POST", "secret", "secret", map[string]string{"X-Token": "secret"}
	})))
	host := strings.TrimPrefix(other.URL, "http://")
	if diff := cmp.Diff([]sent{{"POST", host, "/there", "", "", ""}}, away); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// What was meant for TLS is not sent in the clear, where a redirect leads from
// https to http on the same host and port.
func TestSecretsStayEncrypted(t *testing.T) {
	ca := newCA(t, "downgraded")
	config := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	bare := make(chan http.Header, 1)
	addr := listenTCP(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		if first, err := in.Peek(1); err != nil || first[0] != 'G' {
			c = tls.Server(&peeked{c, in}, config)
			in = bufio.NewReader(c)
		}
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, secure := c.(*tls.Conn); secure {
			fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: http://%s/\r\nContent-Length: 0\r\n\r\n", req.Host)
			c.Close()
			return
		}
		bare <- req.Header
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	res := run(t, edited(target(ca, "http", "https://"+addr+"/", probe.TLSConfig{}), func(p *probe.HTTPProber) {
		p.BearerToken, p.Headers = "secret", map[string]string{"X-Token": "secret"}
	}))
	if verdict(res) != "redirect_downgrade" {
		t.Fatalf("verdict %q: %+v", verdict(res), res.Worst())
	}
	if h := <-bare; h.Get("Authorization") != "" || h.Get("X-Token") != "" {
		t.Errorf("sent in the clear: %v", h)
	}
}

// peeked is a connection of which something has been read into in.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }

// TestPlainProxy asks an http URL through a proxy, by its name.
func TestPlainProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("u", "p")
	wantOK(t, run(t, httpTarget("http://nowhere.invalid/x", func(p *probe.HTTPProber) {
		p.Proxy.ProxyURL, p.SkipResolvePhase = promconfig.URL{URL: u}, true
	})))
	if diff := cmp.Diff([]string{"http://nowhere.invalid/x Basic dTpw"}, asked); diff != "" {
		t.Errorf("the proxy was asked (-want +got):\n%s", diff)
	}
}

// A proxy is not asked where no_proxy says so.
func TestNoProxy(t *testing.T) {
	var got []sent
	server := httptest.NewServer(record(&got))
	defer server.Close()
	wantOK(t, run(t, httpTarget(server.URL, func(p *probe.HTTPProber) {
		p.Proxy.ProxyURL = promconfig.URL{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}}
		p.Proxy.NoProxy = "127.0.0.0/8"
	})))
}

func TestHTTPSettings(t *testing.T) {
	for _, tt := range []struct {
		want string
		edit func(*probe.HTTPProber)
	}{
		{"valid_status_codes[0]", func(p *probe.HTTPProber) { p.ValidStatusCodes = []int{2000} }},
		{"valid_http_versions[0]", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/3.0"} }},
		{"valid_http_versions[0]", func(p *probe.HTTPProber) { p.EnableHTTP3, p.ValidHTTPVersions = true, []string{"HTTP/1.1"} }},
		{"body", func(p *probe.HTTPProber) { p.Body, p.BodyFile = "x", "y" }},
		{"compression", func(p *probe.HTTPProber) { p.Compression = "zstd" }},
		{"compression", func(p *probe.HTTPProber) {
			p.Compression, p.Headers = "gzip", map[string]string{"accept-encoding": "gzip;q=0, br"}
		}},
		{"http_headers", func(p *probe.HTTPProber) { p.HTTPHeaders = map[string]promconfig.Header{"Host": {}} }},
		{"basic_auth", func(p *probe.HTTPProber) {
			p.BasicAuth = &promconfig.BasicAuth{Username: "u", PasswordFile: "f", Password: "p"}
		}},
		{"basic_auth", func(p *probe.HTTPProber) { p.BasicAuth = &promconfig.BasicAuth{UsernameRef: "vault"} }},
		{"proxy_url", func(p *probe.HTTPProber) { p.Proxy.NoProxy = "x" }},
		{"proxy_url", func(p *probe.HTTPProber) { p.Proxy.ProxyURL.URL = &url.URL{Scheme: "ftp", Host: "x"} }},
		{"fail_if_header_matches[0]", func(p *probe.HTTPProber) { p.FailIfHeaderMatches = []probe.HeaderMatch{{Header: "Via"}} }},
		{"", func(p *probe.HTTPProber) {
			p.Compression, p.Headers = "gzip", map[string]string{"Accept-Encoding": "br, gzip;q=0.5"}
		}},
	} {
		p := probe.NewProber("http").(*probe.HTTPProber)
		tt.edit(p)
		key := ""
		if err, ok := p.Validate().(*probe.SettingError); ok {
			key = err.Key
		}
		if key != tt.want {
			t.Errorf("Validate() blames %q, want %q", key, tt.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]probe.Bytes{"1048576": 1 << 20, "10MB": 10 << 20, "1KiB": 1 << 10} {
		var b probe.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
	if err := new(probe.Bytes).UnmarshalText([]byte("much")); err == nil {
		t.Error("no error for words")
	}
}

// A client that keeps its connections grows with the number of probes. The
// library lets go of ours after a while.
func TestHTTP2LeavesNothing(t *testing.T) {
	l := newLab(t)
	target := startScenario(t, l, "good-https").Target
	r := probe.NewRunner("n")
	probeTimes := func(n int) {
		for range n {
			res := r.Run(t.Context(), target)
			wantOK(t, res)
			if proto := res.Attempts[0].HTTP.Hops[0].Proto; proto != "HTTP/2.0" {
				t.Fatalf("answered in %s", proto)
			}
		}
	}
	probeTimes(20)
	goroutines, before := inUse()
	const probes, perProbe = 300, 2 << 10
	probeTimes(probes)
	var after int
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		running, heap := inUse()
		after = heap - before
		if running <= goroutines && after < probes*perProbe {
			return
		}
	}
	t.Errorf("%d probes left %d bytes", probes, after)
}

// inUse returns the number of goroutines, and the bytes of the heap that are in
// use.
func inUse() (goroutines, heap int) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int(m.HeapAlloc)
}
