package discover_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// usual is the schedule of most targets.
var usual = probe.Schedule{Interval: 30 * time.Second, Timeout: 10 * time.Second}

// encode returns the list of a node.
func encode(t testing.TB, common, own []*probe.Target) []byte {
	t.Helper()
	head, err := discover.EncodeList(common)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := discover.EncodeOwn(own)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(head, tail)
}

// read returns the targets that a source makes of a list, and what it says of it.
func read(t testing.TB, list []byte, config string) ([]*probe.Target, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(list) }))
	defer server.Close()
	c, err := discover.Parse("c.yaml", fmt.Appendf(nil, "%s\nsources: [{http: {url: %q}}]", config, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	source := c.Sources[0].(*discover.HTTPSource)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out []*probe.Target
	source.Report = func(discover.SourceStatus) { cancel() }
	source.Run(ctx, func(list []*probe.Target) { out = list })
	return out, source.Status().Err
}

// sameTargets compares targets whatever their order: a list holds alike ones
// together.
var sameTargets = cmp.Options{
	cmpopts.SortSlices(func(a, b *probe.Target) bool { return a.Name < b.Name }),
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b *probe.Reason) bool { return a == b }),
	cmp.Comparer(func(a, b probe.Regexp) bool { return reflect.DeepEqual(a, b) }),
	cmp.Exporter(func(reflect.Type) bool { return true }),
}

// modules has one with settings for each prober that a hub hands out.
func modules(t *testing.T) map[string]*probe.Module {
	t.Helper()
	c := parse(t, `modules:
  webhook: {prober: tls, timeout: 15s, tls: {alpn: [], addresses: all, tls_config: {min_version: TLS12}}}
  ingress:
    prober: http
    http:
      require_https: true
      follow_redirects: false
      enable_http2: false
      ip_protocol_fallback: false
      valid_status_codes: [200, 401]
      headers: {X-A: b}
      method: HEAD
      body_size_limit: 1KB
      fail_if_body_not_matches_regexp: ["^a<&>\"\u00e9$"]
      fail_if_body_json_matches_cel: body.a == 1
      fail_if_header_matches: [{header: a, regexp: b, allow_missing: true}]
      tls_config: {insecure_skip_verify: true, server_name: a, max_version: TLS13}
  otlp: {prober: otlp, ssl_metrics: true, otlp: {expect: mtls, signal: logs, protocol: http}}
  steps: {prober: tcp, tcp: {starttls: smtp, query_response: [{expect: "^220", labels: [{name: a, value: b}]}, {send: QUIT}]}}
  health: {prober: grpc, grpc: {service: a, tls: true, metadata: {a: [b, c]}}}
  lookup: {prober: dns, dns: {query_name: a.example, recursion_desired: false, valid_rcodes: [NXDOMAIN]}}
  fast: {prober: quic, quic: {alpn: [h3], path: /a}}
`)
	return c.Modules
}

// What is written is read again as it was, for every kind of module and of target.
func TestListRoundTrip(t *testing.T) {
	known := modules(t)
	fault := func(id string) probe.Problem {
		return probe.Problem{Reason: probe.Lookup(id), Detail: "Ingress shop/web: spec", Expected: "a {2}", Received: "<b>", Notes: []string{"web", "note"}}
	}
	var common []*probe.Target
	for _, name := range []string{"webhook", "ingress", "otlp", "steps", "health", "lookup", "fast", "tls", "http_2xx"} {
		for _, host := range []string{"a", "b"} {
			address := host + ".shop.svc:443"
			if known[name].Kind == "http" {
				address = "https://" + host + ".shop.svc/"
			}
			common = append(common, &probe.Target{
				Name:       name + "/shop/" + host,
				Address:    address,
				Module:     known[name],
				ServerName: host + ".shop.svc",
				Trust:      probe.Trust{PEM: "PEM of shop"},
				Labels:     probe.LabelsOf(map[string]string{"namespace": "shop", "service": host, "kind": name}),
				Schedule:   usual,
				Routes:     []probe.Route{{Via: "ClusterIP of shop/" + host, Address: "10.0.0.1:443"}, {Via: "pod " + host, Address: "[fd00::1]:8443"}},
			})
		}
	}
	other := *known["webhook"].Prober.(*probe.TLSProber)
	other.ALPN = []string{"acme"}
	common = append(common,
		&probe.Target{Name: "other", Address: "a:1", Schedule: usual, Trust: probe.Trust{File: "/ca.crt", System: true},
			Module: &probe.Module{Name: "webhook", Kind: "tls", Prober: &other}},
		&probe.Target{Name: "seldom", Address: "a:1", Module: known["tls"], Schedule: probe.Schedule{Interval: time.Hour, Timeout: time.Second}},
		&probe.Target{Name: "faults/shop/web", Address: "web.shop.svc:0", Module: known["tls"], Schedule: usual, Undialled: true,
			Faults: []probe.Problem{fault("no_endpoints"), fault("weak_crypto")}},
		&probe.Target{Name: "braces/shop/web", Address: "a:1", Module: known["tls"], Schedule: usual,
			Labels: probe.LabelsOf(map[string]string{"a": "{1} {9}"})},
		&probe.Target{Name: "braces/shop/bew", Address: "a:1", Module: known["tls"], Schedule: usual,
			Labels: probe.LabelsOf(map[string]string{"a": "{1} {9}"})},
		&probe.Target{Name: "braces/shop/ox", Address: "a:1", Module: known["tls"], Schedule: usual,
			Labels: probe.LabelsOf(map[string]string{"b": "ox"})},
		&probe.Target{Name: "braces/shop/cow", Address: "a:1", Module: known["tls"], Schedule: usual,
			Labels: probe.LabelsOf(map[string]string{"b": "{3}"})},
		&probe.Target{Name: "by/name", Address: "a:1", Module: &probe.Module{Name: "tcp_connect"}, Schedule: usual},
	)
	own := []*probe.Target{
		{Name: "kubelet/a", Address: "10.0.0.1:10250", Module: &other2, Trust: probe.Trust{PEM: "PEM of shop"}, Schedule: usual},
	}
	got, err := read(t, encode(t, common, own), "interval: 7s")
	if err != nil {
		t.Error(err)
	}
	want := slices.Concat(common, own)
	named := *want[slices.IndexFunc(want, func(t *probe.Target) bool { return t.Name == "by/name" })]
	named.Module = known["tcp_connect"]
	for i := range want {
		if want[i].Name == "by/name" {
			want[i] = &named
		}
	}
	if diff := cmp.Diff(want, got, sameTargets); diff != "" {
		t.Errorf("targets differ (-written +read):\n%s", diff)
	}
}

var other2 = probe.Module{Name: "kubelet", Kind: "tls", Prober: probe.NewProber("tls")}

// A cluster of 2,000 Ingresses, and 500 webhooks in 50 configurations with a CA
// each, has a list that 5,000 agents can fetch: about 64 KiB.
func TestListSize(t *testing.T) {
	list := encode(t, manyTargets(), nil)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(list)
	w.Close()
	t.Logf("%d bytes, %d packed", len(list), packed.Len())
	if packed.Len() > 64<<10 {
		t.Errorf("%d bytes packed, more than 64 KiB", packed.Len())
	}
	if got, err := read(t, list, ""); err != nil || len(got) != len(manyTargets()) {
		t.Errorf("%d targets of %d are read, with the error %v", len(got), len(manyTargets()), err)
	}
}

// words make names like those that people give.
var words = strings.Fields(`account admin alert api archive audit auth batch billing cache cart catalog chat checkout
	claims config consent contact content customer dash data docs edge event export feed files flags forms fraud front
	gateway graph help history hooks identity image import index ingest intake inventory invoice jobs keys ledger legal
	limits loan login logs mail map market media menu metrics mobile notify offers order partner pay photo plan portal
	price profile promo proxy quote rates report returns review risk roles route rules sales search session settings
	ship shop signup site stock store stream support sync tax team terms ticket token track trade upload user vault
	video wallet web wiki worker`)

// manyTargets are those of a large cluster, in order of their names.
func manyTargets() []*probe.Target {
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	word := func() string { return words[random.IntN(len(words))] }
	known := probe.BuiltinModules()
	ingress := &probe.Module{Name: "ingress", Kind: "http", Prober: known["http"].Prober}
	webhook := &probe.Module{Name: "webhook", Kind: "tls", Prober: known["tls"].Prober}
	targets := map[string]*probe.Target{}
	for len(targets) < 2000 {
		namespace, name := word()+"-"+word(), word()+"-"+word()
		for range 1 + random.IntN(12) {
			host := name + "." + []string{"example.com", "apps.example.org", namespace + ".example.net"}[random.IntN(3)]
			t := &probe.Target{
				Name:     strings.Join([]string{"ingress", namespace, name, host}, "/"),
				Address:  "https://" + host + "/",
				Module:   ingress,
				Schedule: usual,
				Labels:   probe.LabelsOf(map[string]string{"kind": "ingress", "namespace": namespace, "ingress": name, "host": host, "class": "nginx"}),
				Routes: []probe.Route{
					{Via: "address in the status of the Ingress", Address: "203.0.113.7:443"},
					{Via: "cluster DNS", Address: host + ":443"},
				},
			}
			targets[t.Name] = t
			name = word() + "-" + name
		}
	}
	for range 50 {
		addWebhooks(targets, webhook, random, word)
	}
	return slices.SortedFunc(maps.Values(targets), func(a, b *probe.Target) int { return strings.Compare(a.Name, b.Name) })
}

// addWebhooks adds the ten webhooks of a configuration: of one Service with two
// endpoints and a CA of its own.
func addWebhooks(targets map[string]*probe.Target, module *probe.Module, random *rand.Rand, word func() string) {
	service, namespace := word()+"-"+word()+"-webhook", word()+"-system"
	host := service + "." + namespace + ".svc"
	routes := []probe.Route{{Via: "ClusterIP of " + namespace + "/" + service, Address: fmt.Sprintf("10.96.%d.%d:443", random.IntN(256), random.IntN(256))}}
	for range 2 {
		id := make([]byte, 6)
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		routes = append(routes, probe.Route{
			Via:     fmt.Sprintf("pod %s-%x on node-%d", service, id, random.IntN(5000)),
			Address: fmt.Sprintf("10.%d.%d.%d:9443", random.IntN(256), random.IntN(256), random.IntN(256)),
		})
	}
	ca := make([]byte, 460) // as long as a CA certificate with a P-256 key
	for i := range ca {
		ca[i] = byte(random.Uint32())
	}
	configuration := word() + "-" + word() + "-" + word()
	for range 10 {
		webhook := word() + "." + word() + "." + namespace + ".example.com"
		t := &probe.Target{
			Name:       "webhook/" + configuration + "/" + webhook,
			Address:    host + ":443",
			ServerName: host,
			Module:     module,
			Schedule:   usual,
			Trust:      probe.Trust{PEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca}))},
			Routes:     routes,
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "namespace": namespace, "service": service, "configuration": configuration, "webhook": webhook,
				"failure_policy": "Fail", "webhook_timeout": "10s",
				"intercepts": "CREATE,UPDATE " + word() + "s." + namespace + ".example.com",
			}),
		}
		targets[t.Name] = t
	}
}

// checkSaid fails unless err is one error for each of the texts, which it begins
// with after its file.
func checkSaid(t *testing.T, err error, want []string) {
	t.Helper()
	said, _ := err.(discover.Errors)
	var got []string
	for _, e := range said {
		got = append(got, e.Key+": "+e.Msg)
	}
	slices.Sort(got)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
