package discover_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

func parse(t *testing.T, yaml string) *discover.Config {
	t.Helper()
	c, err := discover.Parse("/etc/tlsprobe/config.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseTarget(t *testing.T) {
	c := parse(t, `
interval: 1m
timeout: 20s
modules:
  internal_tls:
    prober: tls
    tls:
      tls_config: {ca_file: ca.crt, min_version: TLS12}
      addresses: all
targets:
  - name: kong-validation
    address: kong-validation.kong.svc:443
    module: internal_tls
    server_name: kong.example
    ca_file: kong-ca.crt
    system_roots: true
    interval: 15s
    timeout: 5s
    labels: {namespace: kong, shard: 7}
    routes: [{via: pod a, address: "10.244.1.7:8443"}, {address: "kong-b:8443"}]
`)
	prober := probe.NewProber("tls").(*probe.TLSProber)
	prober.TLSConfig.CAFile = "/etc/tlsprobe/ca.crt"
	prober.TLSConfig.MinVersion = 0x0303
	prober.Addresses = "all"
	want := []*probe.Target{{
		Name:       "kong-validation",
		Address:    "kong-validation.kong.svc:443",
		ServerName: "kong.example",
		Module:     &probe.Module{Name: "internal_tls", Kind: "tls", Prober: prober},
		Trust:      probe.Trust{File: "/etc/tlsprobe/kong-ca.crt", System: true},
		Labels:     probe.LabelsOf(map[string]string{"namespace": "kong", "shard": "7"}),
		Schedule:   probe.Schedule{Interval: 15 * time.Second, Timeout: 5 * time.Second},
		Routes:     []probe.Route{{Via: "pod a", Address: "10.244.1.7:8443"}, {Via: "kong-b:8443", Address: "kong-b:8443"}},
	}}
	if diff := cmp.Diff(want, c.Targets); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
	if c.Modules["internal_tls"] != c.Targets[0].Module {
		t.Error("the target's module is not that of the configuration")
	}
}

func TestParseDefaults(t *testing.T) {
	c := parse(t, `targets: [{address: "a:443"}, {address: "HTTPS://b/"}]`)
	for i, want := range []struct{ name, module string }{{"a:443", "tls"}, {"HTTPS://b/", "http"}} {
		got := c.Targets[i]
		if got.Name != want.name || got.Module.Name != want.module || !got.Trust.IsZero() {
			t.Errorf("target %d is %+v with module %s, want %v", i, got, got.Module.Name, want)
		}
	}
	if c.Interval != 30*time.Second || c.Timeout != 10*time.Second || c.Targets[0].Schedule != (probe.Schedule{Interval: c.Interval, Timeout: c.Timeout}) {
		t.Errorf("interval %s, timeout %s, target %+v", c.Interval, c.Timeout, c.Targets[0].Schedule)
	}
	if len(c.Allow) != 0 || len(c.Sources) != 0 {
		t.Errorf("allows %v, sources %v, want none", c.Allow, c.Sources)
	}
}

// Each prober takes the addresses that it is documented to take.
func TestAddresses(t *testing.T) {
	for kind, addresses := range map[string][]string{
		"tls":  {"a:1", "[::1]:1"},
		"http": {"http://a", "https://a:1/b", "a", "a:1"},
		"dns":  {"a", "a:1", "10.0.0.1", "::1", "[::1]:1"},
		"grpc": {"a", "a:1", "https://a", "http://a:1"},
		"otlp": {"a", "a:1", "https://a:4318/v1/traces", "http://a:1"},
	} {
		for _, address := range addresses {
			parse(t, fmt.Sprintf(`
modules: {dns: {prober: dns, dns: {query_name: a}}}
targets: [{address: %q, module: %s}]`, address, kind))
		}
	}
}

func TestModules(t *testing.T) {
	c := parse(t, `
modules:
  tls: {prober: http}
  other: {prober: tls, timeout: 3s, http: {method: HEAD}}
`)
	if got := c.Modules["tls"].Kind; got != "http" {
		t.Errorf("module tls has the prober %s: the file's does not replace the built-in", got)
	}
	if c.Modules["http"] == nil {
		t.Error("the built-in module http is gone")
	}
	want := &probe.Module{Name: "other", Kind: "tls", Timeout: 3 * time.Second, Prober: probe.NewProber("tls")}
	if diff := cmp.Diff(want, c.Modules["other"]); diff != "" {
		t.Errorf("module differs (-want +got):\n%s", diff)
	}
}

func TestTimeouts(t *testing.T) {
	for _, test := range []struct {
		name, yaml       string
		timeout, target0 time.Duration
	}{
		{"nothing written", ``, 10 * time.Second, 10 * time.Second},
		{"an interval above the default", `interval: 10001ms`, 10 * time.Second, 10 * time.Second},
		{"an interval of the default", `interval: 10s`, 5 * time.Second, 5 * time.Second},
		{"a short interval", `interval: 1s`, 500 * time.Millisecond, 500 * time.Millisecond},
		{"a timeout", `timeout: 7s`, 7 * time.Second, 7 * time.Second},
		{"a target's short interval", `x: {interval: 4s}`, 10 * time.Second, 2 * time.Second},
		{"a target's long interval", "interval: 1s\nx: {interval: 1m}", 500 * time.Millisecond, 10 * time.Second},
		{"a target's timeout", "timeout: 7s\nx: {timeout: 8s}", 7 * time.Second, 8 * time.Second},
		{"a module's timeout", "x: {module: m}", 10 * time.Second, 3 * time.Second},
		{"a module's timeout makes it fit", "timeout: 8s\nx: {module: m, interval: 4s}", 8 * time.Second, 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			top, target, _ := strings.Cut(test.yaml, "x: {")
			c := parse(t, top+"\nmodules: {m: {prober: tls, timeout: 3s}}\n"+
				`targets: [{address: "a:1", `+strings.TrimSuffix(target, "}")+"}]")
			if c.Timeout != test.timeout || c.Targets[0].Timeout != test.target0 {
				t.Errorf("timeouts %s and %s, want %s and %s", c.Timeout, c.Targets[0].Timeout, test.timeout, test.target0)
			}
		})
	}
}

func TestAllow(t *testing.T) {
	network := netip.MustParsePrefix
	for _, test := range []struct {
		name, yaml string
		want       probe.AllowList
	}{
		{"empty", `[]`, nil},
		{"any", `any`, probe.AllowAny()},
		{"network", `[{network: 10.0.0.0/8}]`, probe.AllowList{{Network: network("10.0.0.0/8")}}},
		{"address", `[{network: 10.0.0.1}]`, probe.AllowList{{Network: network("10.0.0.1/32")}}},
		{"IPv6", `[{network: "2001:db8::1"}]`, probe.AllowList{{Network: network("2001:db8::1/128")}}},
		{"ports", `[{network: 0.0.0.0/0, ports: [443, "8000-8100"]}]`, probe.AllowList{
			{Network: network("0.0.0.0/0"), Ports: []probe.PortRange{{First: 443, Last: 443}, {First: 8000, Last: 8100}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := parse(t, "probe_endpoint: {allow: "+test.yaml+"}")
			same := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
			if diff := cmp.Diff(test.want, c.Allow, same); diff != "" {
				t.Errorf("allow differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnchorsAndMergeKeys(t *testing.T) {
	c := parse(t, `
targets:
  - &kong
    address: a:1
    interval: 20s
    labels: &labels {team: x}
  - {<<: *kong, address: "b:1"}
  - {<<: [{interval: 25s}, *kong], address: "c:1", labels: {<<: *labels, team: y, more: z}}
  - {address: "d:1", labels: *labels}
`)
	var got []string
	for _, target := range c.Targets {
		got = append(got, target.Address+" "+target.Interval.String()+" "+target.Labels.Get("team")+target.Labels.Get("more"))
	}
	want := []string{"a:1 20s x", "b:1 20s x", "c:1 25s yz", "d:1 30s x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}

func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("modules:\n  a: &a {http: {headers: {x: y}}}\n")
	for c := 'b'; c <= 'k'; c++ {
		b.WriteString("  " + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n")
	}
	_, err := discover.Parse("c.yaml", []byte(b.String()))
	const want = "c.yaml:1:1: aliases blow the 131 values that are written up to over 100000; write more of them out"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestManyTargetsMayMergeTheSame(t *testing.T) {
	var b strings.Builder
	b.WriteString("targets:\n- &a {address: \"a:1\", interval: 20s, timeout: 1s, labels: {a: b, c: d, e: f, g: h, i: j}}\n")
	for range 8000 {
		b.WriteString("- {<<: *a, name: n" + time.Duration(b.Len()).String() + "}\n")
	}
	if c := parse(t, b.String()); len(c.Targets) != 8001 {
		t.Errorf("%d targets", len(c.Targets))
	}
}
