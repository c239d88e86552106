package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"tlsprobe/probe"
)

// collectorYAML is a Service of a collector with one pod.
func collectorYAML(annotations, ports string) string {
	return `
kind: Service
metadata: {name: otel, namespace: monitoring, annotations: {` + annotations + `}}
spec: {clusterIP: 10.96.0.7, selector: {app: otel}, ports: [` + ports + `]}
---
kind: EndpointSlice
metadata: {name: otel-1, namespace: monitoring, labels: {kubernetes.io/service-name: otel}}
addressType: IPv4
ports: [{name: grpc-otlp, port: 14317}, {name: "", port: 4317}]
endpoints: [{addresses: [10.244.1.7], nodeName: node-b, targetRef: {kind: Pod, name: otel-7d4}}]
---`
}

func TestOTLP(t *testing.T) {
	targets := ofKind(t, kindOTLP, parse(t, collectorYAML(``, `{name: grpc-otlp, port: 4317, targetPort: otlp}, {name: metrics, port: 8888}`)))
	wantLines(t, targets, `
otlp/monitoring/otel/grpc-otlp otlp_grpc otel.monitoring.svc:4317
  ClusterIP of monitoring/otel 10.96.0.7:4317
  pod otel-7d4 on node-b 10.244.1.7:14317
`)
	want := map[string]string{"kind": "otlp", "namespace": "monitoring", "service": "otel", "port_name": "grpc-otlp"}
	if diff := cmp.Diff(want, targets[0].Labels.Map()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
	if got := targets[0].ServerName; got != "otel.monitoring.svc" {
		t.Errorf("server name %q", got)
	}
	p := targets[0].Module.Prober.(*probe.OTLPProber)
	if err := p.Validate(); err != nil || p.Protocol != "grpc" || p.Expect != "" || !p.TLSConfig.InsecureSkipVerify {
		t.Errorf("prober %+v: %v", p, err)
	}
}

func TestOTLPPorts(t *testing.T) {
	for _, tt := range []struct{ port, want string }{
		{`{port: 4317}`, "4317 otlp_grpc"},
		{`{port: 4318}`, "4318 otlp_http"},
		{`{port: 80, name: otlp}`, "otlp otlp_grpc"},
		{`{port: 80, name: otlp-http}`, "otlp-http otlp_http"},
		{`{port: 80, name: http-otlp}`, "http-otlp otlp_http"},
		{`{port: 4318, name: grpc-otlp}`, "grpc-otlp otlp_grpc"},
		{`{port: 4317, name: http}`, "http otlp_http"},
		{`{port: 4317, appProtocol: kubernetes.io/h2c}`, "4317 otlp_grpc"},
		{`{port: 80, appProtocol: otlp}`, "80 otlp_grpc"},
		{`{port: 4317, protocol: UDP}`, ""},
		{`{port: 8888, name: metrics}`, ""},
		{`{port: 80, name: hotlpack}`, ""},
	} {
		var got string
		for _, target := range ofKind(t, kindOTLP, parse(t, collectorYAML(``, tt.port))) {
			got += strings.TrimPrefix(target.Name, "otlp/monitoring/otel/") + " " + target.Module.Name
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.port, got, tt.want)
		}
	}
}

func TestOTLPUnreachable(t *testing.T) {
	o := parse(t, collectorYAML(``, `{name: grpc-otlp, port: 4317}`))
	o.slices = nil
	wantLines(t, ofKind(t, kindOTLP, o), `
otlp/monitoring/otel/grpc-otlp otlp_grpc otel.monitoring.svc:4317 undialled
  no_endpoints: Service monitoring/otel: spec.ports[0] names Service monitoring/otel, which has no ready endpoint
`)
}

func TestOTLPExpectAnnotation(t *testing.T) {
	const policy = `
kind: PeerAuthentication
metadata: {name: otel, namespace: monitoring}
spec: {selector: {matchLabels: {app: otel}}, mtls: {mode: STRICT}}
`
	for _, tt := range []struct{ expect, want, fault string }{
		{"permissive", "otlp_grpc_permissive", ""},
		{"plaintext", "otlp_grpc_plaintext", ""},
		{"tls", "otlp_grpc_tls", ""},
		{"mtls", "otlp_grpc_mtls", ""},
		{"mesh", "otlp_grpc_mesh", ""},
		{"STRICT", "otlp_grpc_mtls", `annotation_invalid: Service monitoring/otel: metadata.annotations[tlsprobe.io/expect] is "STRICT", and has no effect`},
	} {
		o := parse(t, collectorYAML(`tlsprobe.io/expect: `+tt.expect, `{name: grpc-otlp, port: 4317}`)+policy)
		target := ofKind(t, kindOTLP, o)[0]
		if target.Module.Name != tt.want || target.Module.Prober.Validate() != nil {
			t.Errorf("%s: module %s, want %s", tt.expect, target.Module.Name, tt.want)
		}
		if got := strings.Join(details(target.Faults), "\n"); got != tt.fault {
			t.Errorf("%s: fault %q, want %q", tt.expect, got, tt.fault)
		}
	}
}

func TestOTLPPeerAuthentication(t *testing.T) {
	policy := func(metadata, spec string) string {
		return "kind: PeerAuthentication\nmetadata: {" + metadata + "}\nspec: {" + spec + "}\n---\n"
	}
	const (
		selected = "selector: {matchLabels: {app: otel}}, "
		own      = "name: own, namespace: monitoring"
	)
	var (
		meshStrict  = policy("name: default, namespace: istio-system", "mtls: {mode: STRICT}")
		wideStrict  = policy("name: default, namespace: monitoring", "mtls: {mode: STRICT}")
		widePermits = policy("name: default, namespace: monitoring", "mtls: {mode: PERMISSIVE}")
	)
	for _, tt := range []struct{ name, policies, want string }{
		{"none", "", ""},
		{"selected, STRICT", policy(own, selected+"mtls: {mode: STRICT}"), "mtls"},
		{"selected, PERMISSIVE", policy(own, selected+"mtls: {mode: PERMISSIVE}"), "permissive"},
		{"selected, DISABLE", policy(own, selected+"mtls: {mode: DISABLE}"), "plaintext"},
		{"the port of the pods", policy(own, selected+"mtls: {mode: STRICT}, portLevelMtls: {14317: {mode: PERMISSIVE}}"), "permissive"},
		{"the port of the Service", policy(own, selected+"mtls: {mode: STRICT}, portLevelMtls: {4317: {mode: PERMISSIVE}}"), "mtls"},
		{"the port is unset", policy(own, selected+"mtls: {mode: STRICT}, portLevelMtls: {14317: {mode: UNSET}}"), "mtls"},
		{"selected wins", meshStrict + wideStrict + policy(own, selected+"mtls: {mode: PERMISSIVE}"), "permissive"},
		{"unset inherits", wideStrict + policy(own, selected+"mtls: {mode: UNSET}"), "mesh"},
		{"empty inherits nothing", policy(own, selected), ""},
		{"namespace", wideStrict, "mesh"},
		{"mesh", meshStrict, "mesh"},
		{"the namespace wins", meshStrict + widePermits, ""},
		{"an unset namespace inherits", meshStrict + policy("name: default, namespace: monitoring", "mtls: {mode: UNSET}"), "mesh"},
		{"another namespace", policy("name: default, namespace: other", "mtls: {mode: STRICT}"), ""},
		{"another workload", policy(own, "selector: {matchLabels: {app: jaeger}}, mtls: {mode: STRICT}"), ""},
		{"nobody can tell", policy(own, "selector: {matchLabels: {app: otel, tier: backend}}, mtls: {mode: STRICT}"), "mesh"},
		{"an empty selector is wide", policy(own, "selector: {matchLabels: {}}, mtls: {mode: STRICT}"), "mesh"},
		{"the oldest counts", policy("name: a, namespace: monitoring, creationTimestamp: 2026-02-02T00:00:00Z", selected+"mtls: {mode: STRICT}") +
			policy("name: b, namespace: monitoring, creationTimestamp: 2026-01-01T00:00:00Z", selected+"mtls: {mode: PERMISSIVE}"), "permissive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, collectorYAML(``, `{name: grpc-otlp, port: 4317, targetPort: otlp}`)+"\n"+tt.policies)
			for range 2 {
				target := ofKind(t, kindOTLP, o)[0]
				if got := target.Module.Prober.(*probe.OTLPProber).Expect; got != tt.want {
					t.Errorf("expects %q, want %q", got, tt.want)
				}
				slices.Reverse(o.peerAuthentications)
				strip := newStripper(testConfig())
				for _, p := range o.peerAuthentications {
					strip.peerAuthentication(p)
				}
			}
		})
	}
}

// Without a targetPort the pods' port is the Service's.
func TestOTLPTargetPort(t *testing.T) {
	for _, tt := range []struct{ port, want string }{
		{`{name: grpc-otlp, port: 4317}`, "plaintext"},
		{`{name: grpc-otlp, port: 4317, targetPort: 5317}`, "permissive"},
		{`{name: grpc-otlp, port: 4317, targetPort: otlp}`, "mtls"},
	} {
		o := parse(t, collectorYAML(``, tt.port)+`
kind: PeerAuthentication
metadata: {name: otel, namespace: monitoring}
spec:
  selector: {matchLabels: {app: otel}}
  mtls: {mode: STRICT}
  portLevelMtls: {4317: {mode: DISABLE}, 5317: {mode: PERMISSIVE}}
`)
		if got := ofKind(t, kindOTLP, o)[0].Module.Prober.(*probe.OTLPProber).Expect; got != tt.want {
			t.Errorf("%s: expects %q, want %q", tt.port, got, tt.want)
		}
	}
}

// Istio selects no workloads in its root namespace.
func TestOTLPInRootNamespace(t *testing.T) {
	o := parse(t, strings.ReplaceAll(collectorYAML(``, `{name: grpc-otlp, port: 4317}`), "monitoring", "istio-system")+`
kind: PeerAuthentication
metadata: {name: otel, namespace: istio-system}
spec: {selector: {matchLabels: {app: otel}}, mtls: {mode: STRICT}}
`)
	if got := ofKind(t, kindOTLP, o)[0].Module.Prober.(*probe.OTLPProber).Expect; got != "" {
		t.Errorf("expects %q", got)
	}
}

func TestPortNameHidesProtocol(t *testing.T) {
	for _, tt := range []struct {
		port string
		want bool // the fault
	}{
		{`{port: 4317}`, true},
		{`{port: 4317, name: otlp}`, true},
		{`{port: 4317, name: otlp-grpc}`, true},
		{`{port: 4317, name: grpc}`, false},
		{`{port: 4317, name: grpc-otlp}`, false},
		{`{port: 4317, name: tcp-otlp}`, false},
		{`{port: 4317, name: otlp, appProtocol: grpc}`, false},
		{`{port: 4317, name: grpc-otlp, appProtocol: otlp}`, true},
		{`{port: 4317, name: otlp, appProtocol: kubernetes.io/h2c}`, false},
	} {
		o := parse(t, collectorYAML(``, tt.port))
		fault := func() bool {
			return slices.ContainsFunc(ofKind(t, kindOTLP, o)[0].Faults, func(p probe.Problem) bool { return p.Reason.ID == "port_name_hides_protocol" })
		}
		if got := fault(); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.port, got, tt.want)
		}
		o.unread["peerauthentications"] = true
		if fault() {
			t.Errorf("%s: a fault where there is no mesh", tt.port)
		}
	}
	o := parse(t, collectorYAML(``, `{port: 4317, name: otlp}`))
	o.unread["endpointslices"] = true
	p := ofKind(t, kindOTLP, o)[0].Faults[0]
	if want := "Service monitoring/otel: spec.ports[0] 4317 (otlp) tells a mesh nothing of what it speaks"; p.Detail != want {
		t.Errorf("detail %q, want %q", p.Detail, want)
	}
	if want := "appProtocol: grpc, or a name such as grpc-otlp"; p.Expected != want {
		t.Errorf("expected %q, want %q", p.Expected, want)
	}
}

func TestTellsMesh(t *testing.T) {
	for name, want := range map[string]bool{"": false, "http": true, "HTTP2-x": true, "grpc-web": true, "https-": true, "httpx": false, "web-http": false} {
		if got := tellsMesh(&corev1.ServicePort{Name: name}); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}
