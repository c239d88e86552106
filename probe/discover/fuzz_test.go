package discover_test

import (
	"slices"
	"testing"

	"tlsprobe/probe/discover"
)

// FuzzParse holds [discover.Parse] to its promises for any input: a configuration
// that can run, or errors in the order of their positions.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`
timeout: 5s
modules: {m: {prober: tls, tls: {tls_config: &t {min_version: TLS12}, alpn: [h2]}}}
targets: [{address: "a:1", module: m, labels: {b: c}}, {address: "https://[::1]/", interval: 6s}]
sources: [{http: {url: "http://hub/", refresh: 1m}}]
probe_endpoint: {allow: [{network: 10.0.0.0/8, ports: [443, 80-90]}]}`))
	for _, test := range wrong {
		f.Add([]byte(test.yaml))
	}
	f.Add([]byte("targets: &a [{address: \"a:1\", <<: [*a, *a]}]"))
	f.Add([]byte("{a: {b: {c: [[[[!!binary x]]]]}}, ? : }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := discover.Parse("c.yaml", data)
		if err == nil {
			checkConfig(t, c)
			return
		}
		errs, ok := err.(discover.Errors)
		if !ok || len(errs) == 0 || c != nil {
			t.Fatalf("configuration %v with error %T %v", c, err, err)
		}
		for _, e := range errs {
			if e.Line < 0 || e.Line > len(data)+1 || e.Column < 0 || e.Msg == "" {
				t.Errorf("error %+v in a file of %d bytes", e, len(data))
			}
		}
		if !slices.IsSortedFunc(errs, func(a, b *discover.ConfigError) int { return a.Line - b.Line }) {
			t.Errorf("errors out of order:\n%v", errs)
		}
	})
}

func checkConfig(t *testing.T, c *discover.Config) {
	t.Helper()
	names := map[string]bool{}
	for _, target := range c.Targets {
		if target.Name == "" || names[target.Name] {
			t.Errorf("name %q is empty or not unique", target.Name)
		}
		names[target.Name] = true
		if target.Module == nil || target.Module.Prober == nil {
			t.Errorf("target %q has no prober", target.Name)
		}
		if target.Timeout <= 0 || target.Timeout >= target.Interval {
			t.Errorf("target %q has timeout %s and interval %s", target.Name, target.Timeout, target.Interval)
		}
	}
	if slices.Contains(c.Sources, nil) {
		t.Error("a source is nil")
	}
}
