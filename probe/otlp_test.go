package probe_test

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

func TestOTLPSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*probe.OTLPProber)
		key  string
	}{
		{"good", func(p *probe.OTLPProber) { p.Signal, p.Protocol, p.Expect = "logs", "http", "mtls" }, ""},
		{"defaults", func(*probe.OTLPProber) {}, ""},
		{"signal", func(p *probe.OTLPProber) { p.Signal = "profiles" }, "signal"},
		{"protocol", func(p *probe.OTLPProber) { p.Protocol = "http/json" }, "protocol"},
		{"expect", func(p *probe.OTLPProber) { p.Expect = "STRICT" }, "expect"},
		{"half a key pair", func(p *probe.OTLPProber) { p.TLSConfig.KeyFile = "a" }, "tls_config"},
		{"address setting", func(p *probe.OTLPProber) { p.Addresses = "none" }, "addresses"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := probe.NewProber("otlp").(*probe.OTLPProber)
			tt.edit(p)
			wantSettingError(t, p.Validate(), tt.key)
		})
	}
}

// expecting returns the target with another expectation.
func expecting(target *probe.Target, expect string) *probe.Target {
	p := *target.Module.Prober.(*probe.OTLPProber)
	p.Expect = expect
	changed := *target
	changed.Module = &probe.Module{Name: "otlp", Kind: "otlp", Prober: &p}
	return &changed
}

// A port that was found to speak TLS is not tried in plaintext again, as that
// leaves a line in its log, until it is forgotten.
func TestOTLPRemembersTLS(t *testing.T) {
	i := startScenario(t, newLab(t), "good-otlp-tls")
	target := expecting(i.Target, "")
	r := probe.NewRunner("n")
	for n, want := range []int{2, 1, 1} {
		before := i.Accepted()
		if got := verdict(r.Run(t.Context(), target)); got != "" {
			t.Errorf("run %d: verdict %q", n, got)
		}
		if got := i.Accepted() - before; got != want {
			t.Errorf("run %d: %d connections, want %d", n, got, want)
		}
	}
	before := i.Accepted()
	r.Forget(target.Name)
	r.Run(t.Context(), target)
	if got := i.Accepted() - before; got != 2 {
		t.Errorf("forgotten: %d connections, want 2", got)
	}
}

// Nobody listens: no more is tried than the expectation is about.
func TestOTLPRefused(t *testing.T) {
	i := startScenario(t, newLab(t), "good-otlp-grpc")
	i.Close()
	for expect, want := range map[string]int32{"": 1, "plaintext": 1, "tls": 1, "mtls": 1, "permissive": 2, "mesh": 1} {
		var dialled atomic.Int32
		counting := func(netip.AddrPort) error { dialled.Add(1); return nil }
		res := probe.NewRunner("n").Guarded(counting).Run(t.Context(), expecting(i.Target, expect))
		if got := ids(res); !slices.Equal(got, []string{"tcp_refused"}) {
			t.Errorf("expect %q: %q, want tcp_refused", expect, got)
		}
		if got := dialled.Load(); got != want {
			t.Errorf("expect %q: %d connections, want %d", expect, got, want)
		}
	}
}

// A sidecar is recognised by its certificate, in what is found and in what is
// said of it.
func TestOTLPRecognisesTheMesh(t *testing.T) {
	const identity = "spiffe://cluster.local/ns/monitoring/sa/otel-collector"
	l := newLab(t)
	for _, tt := range []struct{ scenario, speaks, mesh string }{
		{"otlp-strict-expected", "mtls", identity},
		{"otlp-permissive", "permissive", identity},
		{"otlp-strict-permissive", "mtls", identity},
		{"otlp-strict-plaintext", "", ""}, // the export itself met nobody
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			res := probe.NewRunner("n").Run(t.Context(), startScenario(t, l, tt.scenario).Target)
			facts := res.Attempts[0].OTLP
			if facts.Speaks != tt.speaks || facts.Mesh != tt.mesh {
				t.Errorf("speaks %q as %q, want %q as %q", facts.Speaks, facts.Mesh, tt.speaks, tt.mesh)
			}
			if p := res.Worst(); p != nil && !strings.Contains(strings.Join(p.Notes, "\n"), identity) {
				t.Errorf("%s: no note names the mesh: %q", p.Reason.ID, p.Notes)
			}
		})
	}
}

// What a mesh may have taken in is right with its mutual TLS and right without the
// mesh; a demand for a certificate that is none of a mesh's stays one.
func TestOTLPMesh(t *testing.T) {
	l := newLab(t)
	for _, tt := range []struct {
		scenario, speaks string
		want             []string
	}{
		{"otlp-strict-expected", "mtls", nil},
		{"otlp-permissive", "plaintext", nil},
		{"good-otlp-grpc", "plaintext", nil},
		{"good-otlp-tls", "tls", nil},
		{"client-cert-required", "mtls", []string{"client_cert_required"}},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			target := startScenario(t, l, tt.scenario).Target
			p := &probe.OTLPProber{Signal: "traces", Protocol: "grpc"}
			switch prober := target.Module.Prober.(type) {
			case *probe.OTLPProber:
				p.AddressSettings = prober.AddressSettings
			case *probe.TLSProber:
				p.AddressSettings = prober.AddressSettings
			}
			p.TLSConfig.InsecureSkipVerify = true
			target.Module = &probe.Module{Name: "otlp", Kind: "otlp", Prober: p}
			res := probe.NewRunner("n").Run(t.Context(), expecting(target, "mesh"))
			if got := ids(res); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := res.Attempts[0].OTLP.Speaks; got != tt.speaks {
				t.Errorf("speaks %q, want %q", got, tt.speaks)
			}
		})
	}
}

// In a mesh a member's certificate holds no host name, and its CA still counts.
func TestOTLPMeshOfAnotherRoot(t *testing.T) {
	target := *startScenario(t, newLab(t), "otlp-strict-expected").Target
	other, err := lab.NewCA("another mesh")
	if err != nil {
		t.Fatal(err)
	}
	target.Trust = probe.Trust{PEM: other.PEM()}
	if got := ids(probe.NewRunner("n").Run(t.Context(), &target)); !slices.Equal(got, []string{"unknown_authority"}) {
		t.Errorf("%q, want unknown_authority alone", got)
	}
}
