package probe_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	promconfig "github.com/prometheus/common/config"
	"github.com/quic-go/quic-go/http3"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"tlsprobe/probe"
)

// nowhere is an address that leads nowhere by itself (RFC 6761, Section 6.4).
const nowhere = "nowhere.invalid"

// along returns t, to be dialled along these routes.
func along(t *probe.Target, routes ...probe.Route) *probe.Target {
	t.Routes = routes
	return t
}

// ways says of each attempt how it was dialled and what was found.
func ways(res *probe.Result) []string {
	var out []string
	for _, a := range res.Attempts {
		way := a.Via
		for _, p := range a.Problems {
			way += " " + p.Reason.ID
		}
		out = append(out, way)
	}
	return out
}

func wantWays(t *testing.T, res *probe.Result, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, ways(res)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func serveTLSWith(t *testing.T, cert tls.Certificate) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestRoutes(t *testing.T) {
	ca, dns := newCA(t, "routes"), startDNS(t)
	good, other := serveTLSWith(t, issue(t, ca)), serveTLSWith(t, issue(t, newCA(t, "another")))
	_, port, err := net.SplitHostPort(good)
	if err != nil {
		t.Fatal(err)
	}
	p := probe.NewProber("tls").(*probe.TLSProber)
	p.Resolver = dns.Addr()
	target := &probe.Target{
		Name: "t", Address: quietName + ":443", Trust: probe.Trust{PEM: ca.PEM()},
		Module: &probe.Module{Name: "tls", Kind: "tls", Prober: p},
		Routes: []probe.Route{
			{Via: "pod a", Address: other},
			{Via: "no port", Address: "127.0.0.1"},
			{Via: "pod b", Address: good},
			{Via: "name", Address: "ip4only.lab.test:" + port},
			{Via: "unknown name", Address: "nothing.lab.test:" + port},
			{Via: "nobody", Address: "127.0.0.1:1"},
		},
	}
	res := probe.NewRunner("n").Run(t.Context(), target)
	wantWays(t, res, "pod a unknown_authority", "no port target_misconfigured", "pod b", "name",
		"unknown name dns_nxdomain", "nobody tcp_refused")
	for i, want := range []string{other, "", good, good, "", "127.0.0.1:1"} {
		a := &res.Attempts[i]
		if got := a.Peer; want != "" && got.String() != want || want == "" && got.IsValid() {
			t.Errorf("%s: dialled %s, want %q", a.Via, got, want)
		}
		if a.TLS != nil && a.TLS.ServerName != quietName {
			t.Errorf("%s: sent the name %q, want that of the address", a.Via, a.TLS.ServerName)
		}
	}
}

// A route's name may have several addresses.
func TestRouteToAllAddresses(t *testing.T) {
	dns := startDNS(t)
	dns.Add("two.test", netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2"))
	for addresses, want := range map[string][]string{
		"first": {"cluster DNS tcp_refused"},
		"all":   {"cluster DNS tcp_refused", "cluster DNS tcp_refused"},
	} {
		p := probe.NewProber("tls").(*probe.TLSProber)
		p.Resolver, p.Addresses = dns.Addr(), addresses
		target := &probe.Target{Address: nowhere + ":443", Module: &probe.Module{Prober: p}}
		wantWays(t, run(t, along(target, probe.Route{Via: "cluster DNS", Address: "two.test:1"})), want...)
	}
}

// A server of any protocol is found along a route; what is said to it is what its
// address says.
func TestRoutesOfEveryProber(t *testing.T) {
	ca := newCA(t, "routes")
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != nowhere {
			http.Error(w, "no such host "+r.Host, http.StatusMisdirectedRequest)
		}
	}))
	t.Cleanup(plain.Close)
	ofPlain := plain.Listener.Addr().String()
	health := startGRPC(t, nil, healthOf(healthpb.HealthCheckResponse_SERVING))
	for _, tt := range []struct {
		name, route string
		target      *probe.Target
		want        string
	}{
		{"tls", ofPlain, target(ca, "tls", nowhere+":443", probe.TLSConfig{}), "wrong_version_number"},
		{"http", ofPlain, target(ca, "http", "http://"+nowhere+"/", probe.TLSConfig{}), ""},
		{"https", ofPlain, target(ca, "http", "https://"+nowhere+"/", probe.TLSConfig{}), "wrong_version_number"},
		{"tcp", ofPlain, target(ca, "tcp", nowhere+":80", probe.TLSConfig{}), ""},
		{"grpc", health, grpcTarget(ca, nowhere+":443", func(p *probe.GRPCProber) { p.TLS = false }), ""},
		{"otlp", ofPlain, otlpTarget(ca, "http://"+nowhere+":4318", func(p *probe.OTLPProber) {}), "http_status"},
		{"dns", startDNS(t).Addr(), dnsTarget(nowhere+":53", "good.lab.test"), ""},
		{"quic", ofPlain, target(ca, "quic", nowhere+":443", probe.TLSConfig{}), "quic_refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, along(tt.target, probe.Route{Via: "pod a", Address: tt.route}))
			if got := verdict(res); got != tt.want || len(res.Attempts) != 1 || res.Attempts[0].Peer.String() != tt.route {
				t.Errorf("verdict %q, want %q: %+v", got, tt.want, res.Attempts)
			}
		})
	}
}

// Routes are tried at once: both servers wait for the other one's client.
func TestRoutesAtOnce(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	wait := func(c net.Conn) {
		both.Done()
		both.Wait()
		fmt.Fprintln(c, "both are here")
	}
	target := target(newCA(t, "routes"), "tcp", nowhere+":1", probe.TLSConfig{})
	target.Module.Prober.(*probe.TCPProber).QueryResponse = []probe.QueryResponse{{Expect: regexps(t, "both")[0]}}
	runner := probe.NewRunner("n").Terse()
	res := runner.Run(t.Context(), along(target,
		probe.Route{Via: "a", Address: listenTCP(t, wait)}, probe.Route{Via: "b", Address: listenTCP(t, wait)}))
	wantWays(t, res, "a", "b")
}

// The guard is asked of a route as of any address.
func TestRoutesAreGuarded(t *testing.T) {
	refused := netip.MustParseAddrPort("127.0.0.1:2")
	runner := probe.NewRunner("n").Guarded(func(peer netip.AddrPort) error {
		if peer == refused {
			return errors.New("not there")
		}
		return nil
	})
	target := along(target(newCA(t, "routes"), "tls", nowhere+":443", probe.TLSConfig{}),
		probe.Route{Via: "a", Address: "127.0.0.1:1"}, probe.Route{Via: "b", Address: refused.String()})
	wantWays(t, runner.Run(t.Context(), target), "a tcp_refused", "b address_refused")
}

// An experiment takes the way of the attempt whose failure it looks into.
func TestExperimentsAlongRoutes(t *testing.T) {
	ca := newCA(t, "routes")
	speaksPlain := listenTCP(t, func(c net.Conn) {
		first := make([]byte, 4)
		if c.Read(first); string(first) == "GET " {
			fmt.Fprint(c, "HTTP/1.0 200 OK\r\n\r\n")
		}
		c.(*net.TCPConn).CloseWrite()
		for _, err := c.Read(first); err == nil; _, err = c.Read(first) {
		}
	})
	target := along(target(ca, "tls", nowhere+":443", probe.TLSConfig{}),
		probe.Route{Via: "a", Address: serveTLSWith(t, issue(t, ca))}, probe.Route{Via: "b", Address: speaksPlain})
	wantWays(t, run(t, target), "a", "b wrong_version_number")
}

// What is known to be wrong stands first, and keeps nobody from looking further.
func TestFaults(t *testing.T) {
	ca := newCA(t, "faults")
	server := serveTLSWith(t, issue(t, ca))
	warning := probe.Problem{Reason: probe.Lookup("weak_crypto"), Detail: "soon"}
	fault := probe.Problem{Reason: probe.Lookup("ca_bundle_invalid"), Detail: "Service ns/hook: nothing", Notes: make([]string, 0, 8)}
	for _, tt := range []struct {
		name, address, module string
		faults                []probe.Problem
		undialled             bool
		want                  []string
		ok                    bool
	}{
		{"beside a failure", "127.0.0.1:1", "tls", []probe.Problem{fault, warning}, false,
			[]string{"ca_bundle_invalid", "weak_crypto", "tcp_refused"}, false},
		{"beside success", server, "tls", []probe.Problem{fault}, false, []string{"ca_bundle_invalid"}, false},
		{"a warning beside success", server, "tls", []probe.Problem{warning}, false, []string{"weak_crypto"}, true},
		{"a warning beside a failure", "127.0.0.1:1", "tls", []probe.Problem{warning}, false,
			[]string{"weak_crypto", "tcp_refused"}, false},
		{"of what cannot be probed", "nonsense", "tls", []probe.Problem{fault}, false,
			[]string{"ca_bundle_invalid", "target_misconfigured"}, false},
		{"a request is sent all the same", "https://" + server, "http", []probe.Problem{fault}, false, []string{"ca_bundle_invalid"}, false},
		{"undialled", server, "tls", []probe.Problem{fault}, true, []string{"ca_bundle_invalid"}, false},
		{"undialled, a warning", server, "tls", []probe.Problem{warning}, true, []string{"weak_crypto"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := target(ca, tt.module, tt.address, probe.TLSConfig{})
			target.Faults, target.Undialled = tt.faults, tt.undialled
			res := run(t, target)
			if got := ids(res); !slices.Equal(got, tt.want) || res.OK() != tt.ok {
				t.Errorf("found %v, OK %v; want %v, %v", got, res.OK(), tt.want, tt.ok)
			}
			a := &res.Attempts[0]
			if dialled := a.Peer.IsValid() || a.Phases != (probe.Phases{}); tt.undialled && dialled || len(res.Attempts) != 1 {
				t.Errorf("undialled is %v, and attempted: %+v", tt.undialled, res.Attempts)
			}
			if tt.module == "http" && (a.HTTP == nil || len(a.HTTP.Hops) != 1) {
				t.Errorf("no request was sent: %+v", a.HTTP)
			}
		})
	}
}

// Faults belong to the first of several attempts, and runs share them.
func TestFaultsBeforeRoutes(t *testing.T) {
	target := along(target(newCA(t, "faults"), "tls", nowhere+":443", probe.TLSConfig{}),
		probe.Route{Via: "a", Address: "127.0.0.1:1"}, probe.Route{Via: "b", Address: "127.0.0.1:1"})
	shared := make([]probe.Problem, 2)
	shared[0].Reason = probe.Lookup("ca_bundle_invalid")
	target.Faults = shared[:1]
	wantWays(t, run(t, target), "a ca_bundle_invalid tcp_refused", "b tcp_refused")
	if shared[1].Reason != nil {
		t.Errorf("a run has written %v into the target", shared[1].Reason.ID)
	}
}

// Whether an attempt fails is up to what it found itself.
func TestFailing(t *testing.T) {
	fault := probe.Problem{Reason: probe.Lookup("ca_bundle_invalid")}
	weak, refused := probe.Problem{Reason: probe.Lookup("weak_crypto")}, probe.Problem{Reason: probe.Lookup("tcp_refused")}
	res := &probe.Result{
		Target: &probe.Target{Faults: []probe.Problem{fault}},
		Attempts: []probe.Attempt{
			{Via: "a", Problems: []probe.Problem{fault, weak}},
			{Via: "b", Problems: []probe.Problem{refused}},
			{Via: "c", Problems: []probe.Problem{weak}},
			{Via: "d"},
		},
	}
	if failing := res.Failing(); len(failing) != 1 || failing[0].Via != "b" {
		t.Errorf("failing are %+v", failing)
	}
	if found := res.Found(0); len(found) != 1 || found[0].Reason != weak.Reason {
		t.Errorf("the first attempt found %+v", found)
	}
}

// A redirect to the target's own host stays on the route, as with curl
// --connect-to; one that leads elsewhere is followed there.
func TestRedirectsAlongRoutes(t *testing.T) {
	dns := startDNS(t)
	var mu sync.Mutex
	var asked []string
	var elsewhere, moved string // ports
	handle := func(server string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, server+" "+r.Host+r.URL.Path)
			switch r.URL.Path {
			case "/same":
				http.Redirect(w, r, "/end", http.StatusFound)
			case "/capitals":
				http.Redirect(w, r, "http://NOWHERE.invalid./end", http.StatusFound)
			case "/port":
				http.Redirect(w, r, "http://"+nowhere+":"+moved+"/end", http.StatusFound)
			case "/there-and-back":
				http.Redirect(w, r, "http://ip4only.lab.test:"+elsewhere+"/back", http.StatusFound)
			case "/back":
				http.Redirect(w, r, "http://"+nowhere+"/end", http.StatusFound)
			}
		}
	}
	serve := func(name string) (addr, port string) {
		server := httptest.NewServer(handle(name))
		t.Cleanup(server.Close)
		_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
		return server.Listener.Addr().String(), port
	}
	route, _ := serve("route")
	_, moved = serve("moved")
	_, elsewhere = serve("elsewhere")
	for path, want := range map[string][]string{
		"/same":           {"route nowhere.invalid/same", "route nowhere.invalid/end"},
		"/capitals":       {"route nowhere.invalid/capitals", "route NOWHERE.invalid./end"},
		"/port":           {"route nowhere.invalid/port", "moved nowhere.invalid:" + moved + "/end"},
		"/there-and-back": {"route nowhere.invalid/there-and-back", "elsewhere ip4only.lab.test:" + elsewhere + "/back", "route nowhere.invalid/end"},
	} {
		asked = nil
		target := httpTarget("http://"+nowhere+path, func(p *probe.HTTPProber) { p.Resolver = dns.Addr() })
		res := run(t, along(target, probe.Route{Via: "ClusterIP", Address: route}))
		wantOK(t, res)
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for name, wanted := range map[string]bool{nowhere: false, "ip4only": true} {
		if q := dns.Queries(); slices.ContainsFunc(q, func(q string) bool { return strings.Contains(q, name) }) != wanted {
			t.Errorf("that %s is looked up is to be %t: %v", name, wanted, q)
		}
	}
}

// Without routes a name is looked up for each hop, as it may lead elsewhere by then.
func TestRedirectsWithoutRoutes(t *testing.T) {
	dns := startDNS(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/end", http.StatusFound)
		}
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	wantOK(t, run(t, httpTarget("http://ip4only.lab.test:"+port, func(p *probe.HTTPProber) { p.Resolver = dns.Addr() })))
	if asked := askedForA(dns); len(asked) != 2 {
		t.Errorf("asked for %v", asked)
	}
}

// HTTP/3 that a server advertises of itself is looked for along the route.
func TestHTTP3AlongRoutes(t *testing.T) {
	ca := newCA(t, "routes")
	for name, advertised := range map[string]string{
		"its own port":  `h3=":443"`,
		"its own name":  `h3="` + nowhere + `:443"`,
		"another port":  `h3=":PORT"`,
		"name and port": `h3="` + nowhere + `:PORT"`,
	} {
		t.Run(name, func(t *testing.T) {
			udp, tcp := listenBoth(t)
			_, port, _ := net.SplitHostPort(tcp.Addr().String())
			overUDP := &http3.Server{TLSConfig: http3.ConfigureTLSConfig(serverTLS(t, ca))}
			defer overUDP.Close()
			go overUDP.Serve(udp)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Alt-Svc", strings.ReplaceAll(advertised, "PORT", port))
			}))
			server.Listener, server.TLS = tcp, serverTLS(t, ca)
			server.StartTLS()
			defer server.Close()
			target := edited(target(ca, "http", "https://"+nowhere+"/", probe.TLSConfig{}), func(p *probe.HTTPProber) { p.CheckHTTP3 = true })
			wantVerdict(t, along(target, probe.Route{Via: "a", Address: tcp.Addr().String()}), "")
		})
	}
}

// listenBoth opens the same free port for UDP and TCP.
func listenBoth(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if tcp, err := net.Listen("tcp4", udp.LocalAddr().String()); err == nil {
			t.Cleanup(func() { udp.Close() })
			return udp, tcp
		}
		udp.Close() // somebody has this port for TCP
	}
	t.Fatal("no port is free for both")
	return nil, nil
}

// A proxy dials itself, so nothing can be said along a route.
func TestRoutesThroughProxy(t *testing.T) {
	target := httpTarget("http://"+nowhere, func(p *probe.HTTPProber) {
		p.Proxy.ProxyURL = promconfig.URL{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}}
	})
	if got := verdict(run(t, along(target, probe.Route{Via: "a", Address: "127.0.0.1:1"}))); got != "target_misconfigured" {
		t.Errorf("verdict %q", got)
	}
}
