package exporter_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// wantParts fails unless text has each of the parts or, if they are not wanted,
// none of them.
func wantParts(t *testing.T, text string, wanted bool, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) != wanted {
			t.Errorf("wanted is %t: %q in\n%s", wanted, part, text)
		}
	}
}

// What /probe tells a machine of a target with routes.
func TestProbeAlongRoutes(t *testing.T) {
	target := hook()
	for i := range target.Routes {
		target.Routes[i].Address = "127.0.0.1:1"
	}
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{target})
	h := newHandler(store)
	path := "/probe?target=" + url.QueryEscape(target.Name)
	debug := body(t, get(t, h, path+"&debug=true"))
	wantParts(t, debug, true,
		`level=WARN msg="a webhook has no caBundle" module=tls target=webhook/hook/v.hook.example reason=ca_bundle_missing phase=config`,
		`reason=tcp_refused phase=connect detail="`, `via="ClusterIP of shop/hook"`, `via="pod hook-9fk on node-c"`)
	if n := strings.Count(debug, "reason=ca_bundle_missing"); n != 1 {
		t.Errorf("the fault is told %d times", n)
	}
	wantParts(t, body(t, get(t, h, path)), true, "all 3 ways fail\n", "attempt 2 of 3  127.0.0.1:1  pod hook-7d4 on node-b\n")
}

// Of a target that is not dialled, nothing is said that only dialling tells.
func TestProbeUndialled(t *testing.T) {
	target := resultUndialled().Target
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{target})
	h := newHandler(store)
	path := "/probe?target=" + url.QueryEscape(target.Name)
	metrics := body(t, get(t, h, path+"&format=metrics"))
	wantParts(t, metrics, true, "\nprobe_success 0\n", `probe_failure_info{reason="no_endpoints",phase="config"} 1`)
	wantParts(t, metrics, false, "\nprobe_ip_protocol ", "\nprobe_ip_addr_hash ", "\nprobe_dns_lookup_time_seconds ")
	wantParts(t, body(t, get(t, h, path+"&debug=true")), false, "Phase ended", "invalid AddrPort")
}

// A run of routes that are no more is no answer, however fresh.
func TestProbeOfNewRoutes(t *testing.T) {
	before := hook()
	for i := range before.Routes {
		before.Routes[i].Address = "127.0.0.1:1"
	}
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{before})
	store.Record(probe.NewRunner("").Run(t.Context(), before))
	after := *before
	after.Routes = after.Routes[2:]
	store.SetTargets([]*probe.Target{&after})
	text := body(t, get(t, newHandler(store), "/probe?target="+url.QueryEscape(after.Name)))
	wantParts(t, text, true, "dialled: pod hook-9fk on node-c\n")
}

// Nor is one that is still under way.
func TestProbeOfNewRoutesMeanwhile(t *testing.T) {
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	before := hook()
	before.Routes = []probe.Route{{Via: "a pod that hangs", Address: peer.Addr().String()}}
	before.Timeout = time.Minute
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{before})
	h := newHandler(store)
	path := "/probe?target=" + url.QueryEscape(before.Name)
	ctx, giveUp := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	})
	defer asking.Wait()
	defer giveUp()
	conn, err := peer.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	after := *before
	after.Routes = []probe.Route{{Via: "a pod that is gone", Address: "127.0.0.1:1"}}
	store.SetTargets([]*probe.Target{&after})
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(soon, http.MethodGet, path, nil))
	wantParts(t, w.Body.String(), true, "dialled: a pod that is gone\n")
}
