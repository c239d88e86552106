package kubernetes

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tlsprobe/probe"
)

// testConfig is one whose intervals leave timeouts as they are.
func testConfig() *Config {
	return &Config{Interval: 30 * time.Second, Timeout: 10 * time.Second, Neighbours: 5}
}

// compareTargets compares targets, of whose modules the names count.
func compareTargets(t *testing.T, got, want []*probe.Target) {
	t.Helper()
	modules := cmp.Comparer(func(a, b *probe.Module) bool { return a.Name == b.Name })
	if diff := cmp.Diff(want, got, byID, modules, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}

var (
	moduleTLS        = &probe.Module{Name: "tls"}
	moduleUnverified = &probe.Module{Name: "tls_unverified"}
	usual            = probe.Schedule{Interval: 30 * time.Second, Timeout: 10 * time.Second}
)

// withCA puts a CA in the place of CA in YAML.
func withCA(documents, pem string) string {
	return strings.ReplaceAll(documents, "caBundle: CA", "caBundle: "+base64.StdEncoding.EncodeToString([]byte(pem)))
}

func TestWebhooks(t *testing.T) {
	ca := caUntil(t, "ca", today.AddDate(1, 0, 0))
	o := parse(t, withCA(hookService+hookSlice+`
kind: ValidatingWebhookConfiguration
metadata: {name: kong}
webhooks:
- name: validations.kong.example
  clientConfig: {service: {namespace: ns, name: hook, path: /v, port: 443}, caBundle: CA}
  failurePolicy: Ignore
  timeoutSeconds: 3
  rules:
  - {operations: [CREATE, UPDATE], apiGroups: [networking.k8s.io], apiVersions: [v1], resources: [ingresses]}
  - {operations: [CREATE, UPDATE], apiGroups: [networking.k8s.io], apiVersions: [v1beta1], resources: [ingresses]}
  - {operations: ["*"], apiGroups: ["", apps], resources: [pods/exec, "*"]}
- name: url.kong.example
  clientConfig: {url: "https://hooks.example.com/v?x=1"}
  failurePolicy: Fail
  timeoutSeconds: 30
- name: loopback.kong.example
  clientConfig: {url: "https://127.0.0.1:23443/v", caBundle: CA}
- name: localhost.kong.example
  clientConfig: {url: "https://localhost/v", caBundle: CA}
---
kind: MutatingWebhookConfiguration
metadata: {name: kong}
webhooks:
- name: validations.kong.example
  clientConfig: {service: {namespace: ns, name: hook}}
- name: url.kong.example
  clientConfig: {url: "https://[2001:db8::7]:8443/m", caBundle: CA}
- name: gone.kong.example
  clientConfig: {service: {namespace: gone, name: kong, port: 8443}, caBundle: Cg==}
`, ca))
	compareTargets(t, build(testConfig(), o).Common, []*probe.Target{
		{
			Name:    "webhook/kong/gone.kong.example",
			Address: "kong.gone.svc:8443", ServerName: "kong.gone.svc",
			Module: moduleUnverified,
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "admission": "mutating", "configuration": "kong", "webhook": "gone.kong.example",
				"namespace": "gone", "service": "kong",
			}),
			Schedule: usual,
			Faults: []probe.Problem{
				{
					Reason:   probe.Lookup("service_not_found"),
					Detail:   "MutatingWebhookConfiguration kong: webhooks[2].clientConfig.service names Service gone/kong, which does not exist",
					Received: "gone/kong",
				},
				{
					Reason: probe.Lookup("ca_bundle_invalid"),
					Detail: "MutatingWebhookConfiguration kong: webhooks[2].clientConfig.caBundle holds no PEM block; it should begin, once decoded from base64, with -----BEGIN CERTIFICATE-----",
				},
			},
			Undialled: true,
		},
		{
			Name:    "webhook/kong/url.kong.example",
			Address: "hooks.example.com:443",
			Module:  moduleTLS,
			Trust:   probe.Trust{System: true},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "admission": "validating", "configuration": "kong", "webhook": "url.kong.example",
				"failure_policy": "Fail", "webhook_timeout": "30s",
			}),
			Schedule: usual,
		},
		{
			Name:    "webhook/kong/url.kong.example/mutating",
			Address: "[2001:db8::7]:8443",
			Module:  moduleTLS,
			Trust:   probe.Trust{PEM: ca},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "admission": "mutating", "configuration": "kong", "webhook": "url.kong.example",
			}),
			Schedule: usual,
		},
		{
			Name:    "webhook/kong/validations.kong.example",
			Address: "hook.ns.svc:443", ServerName: "hook.ns.svc",
			Module: moduleTLS,
			Trust:  probe.Trust{PEM: ca},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "admission": "validating", "configuration": "kong", "webhook": "validations.kong.example",
				"namespace": "ns", "service": "hook", "failure_policy": "Ignore", "webhook_timeout": "3s",
				"intercepts": "CREATE,UPDATE ingresses.networking.k8s.io; * pods/exec,*,pods.apps/exec,*.apps",
			}),
			Schedule: probe.Schedule{Interval: 30 * time.Second, Timeout: 3 * time.Second},
			Routes:   hookRoutes,
		},
		{
			Name:    "webhook/kong/validations.kong.example/mutating",
			Address: "hook.ns.svc:443", ServerName: "hook.ns.svc",
			Module: moduleTLS,
			Trust:  probe.Trust{System: true},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "webhook", "admission": "mutating", "configuration": "kong", "webhook": "validations.kong.example",
				"namespace": "ns", "service": "hook",
			}),
			Schedule: usual,
			Routes:   hookRoutes,
			Faults: []probe.Problem{{
				Reason: probe.Lookup("ca_bundle_missing"),
				Detail: "MutatingWebhookConfiguration kong: webhooks[0].clientConfig.caBundle is empty: the API server judges by its system's roots, which sign nothing for hook.ns.svc",
			}},
		},
	})
}

func TestConversions(t *testing.T) {
	ca := caUntil(t, "ca", today.AddDate(1, 0, 0))
	o := parse(t, withCA(hookService+hookSlice+`
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {service: {namespace: ns, name: hook, port: 8443}, caBundle: CA}}
---
kind: CustomResourceDefinition
metadata: {name: urls.example.com}
spec:
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://hooks.example.com:9443/c", caBundle: CA}}}
---
kind: CustomResourceDefinition
metadata: {name: locals.example.com}
spec:
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://[::1]:9443/c", caBundle: CA}}}
---
kind: CustomResourceDefinition
metadata: {name: plains.example.com}
spec: {conversion: {strategy: None}}
---
kind: CustomResourceDefinition
metadata: {name: olds.example.com}
spec: {group: example.com}
`, ca))
	compareTargets(t, build(testConfig(), o).Common, []*probe.Target{
		{
			Name:    "conversion/things.example.com",
			Address: "hook.ns.svc:8443", ServerName: "hook.ns.svc",
			Module: moduleTLS,
			Trust:  probe.Trust{PEM: ca},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "conversion", "crd": "things.example.com", "namespace": "ns", "service": "hook",
			}),
			Schedule: usual,
			Faults: []probe.Problem{{
				Reason:   probe.Lookup("service_port_not_found"),
				Detail:   "CustomResourceDefinition things.example.com: spec.conversion.webhook.clientConfig.service names port 8443, which Service ns/hook does not have",
				Expected: "443 (https), 8080 (metrics), 53/UDP (dns)",
				Received: "8443",
			}},
			Undialled: true,
		},
		{
			Name:     "conversion/urls.example.com",
			Address:  "hooks.example.com:9443",
			Module:   moduleTLS,
			Trust:    probe.Trust{PEM: ca},
			Labels:   probe.LabelsOf(map[string]string{"kind": "conversion", "crd": "urls.example.com"}),
			Schedule: usual,
		},
	})
}

func TestAPIServices(t *testing.T) {
	ca := caUntil(t, "ca", today.AddDate(1, 0, 0))
	o := parse(t, withCA(hookService+hookSlice+`
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, version: v1beta1, service: {namespace: ns, name: hook, port: 443}, insecureSkipTLSVerify: true}
---
kind: APIService
metadata: {name: v1.custom.example.com}
spec: {group: custom.example.com, version: v1, service: {namespace: ns, name: hook}, caBundle: CA}
---
kind: APIService
metadata: {name: v1.apps}
spec: {group: apps, version: v1}
`, ca))
	compareTargets(t, build(testConfig(), o).Common, []*probe.Target{
		{
			Name:    "apiservice/v1.custom.example.com",
			Address: "hook.ns.svc:443", ServerName: "hook.ns.svc",
			Module: moduleTLS,
			Trust:  probe.Trust{PEM: ca},
			Labels: probe.LabelsOf(map[string]string{
				"kind": "apiservice", "apiservice": "v1.custom.example.com", "namespace": "ns", "service": "hook",
			}),
			Schedule: usual,
			Routes:   hookRoutes,
		},
		{
			Name:    "apiservice/v1beta1.metrics.k8s.io",
			Address: "hook.ns.svc:443", ServerName: "hook.ns.svc",
			Module: moduleUnverified,
			Labels: probe.LabelsOf(map[string]string{
				"kind": "apiservice", "apiservice": "v1beta1.metrics.k8s.io", "namespace": "ns", "service": "hook",
				"insecure_skip_tls_verify": "true",
			}),
			Schedule: usual,
			Routes:   hookRoutes,
		},
	})
}

// TestHeadlessCallee has a Service that the API server does not call, although its
// endpoints may be dialled.
func TestHeadlessCallee(t *testing.T) {
	o := parse(t, strings.ReplaceAll(hookService, "10.96.3.4", "None")+hookSlice+`
kind: APIService
metadata: {name: v1.custom.example.com}
spec: {service: {namespace: ns, name: hook}, insecureSkipTLSVerify: true}
`)
	got := build(testConfig(), o).Common[0]
	want := []string{"headless_service: APIService v1.custom.example.com: spec.service names Service ns/hook, which has no ClusterIP"}
	if diff := cmp.Diff(want, details(got.Faults)); diff != "" {
		t.Errorf("faults differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(hookRoutes[1:], got.Routes); diff != "" || got.Undialled {
		t.Errorf("undialled %t, and routes differ (-want +got):\n%s", got.Undialled, diff)
	}
}

func TestIntercepts(t *testing.T) {
	o := parse(t, `
kind: ValidatingWebhookConfiguration
webhooks:
- rules:
  - {operations: [CREATE], apiGroups: [a], resources: [b]}
  - {operations: [CREATE], apiGroups: [a], resources: [c]}
  - {operations: [CREATE], apiGroups: [a], resources: [d]}
  - {operations: [CREATE], apiGroups: [a], resources: [e]}
  - {operations: [CREATE], apiGroups: [a], resources: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]}
  - {operations: [CREATE], apiGroups: [a], resources: [f]}
  - {operations: [CREATE], apiGroups: [a], resources: [g]}
`)
	const want = "CREATE b.a; CREATE c.a; CREATE d.a; CREATE e.a; " +
		"CREATE 1.a,2.a,3.a,4.a,5.a,6.a,7.a,8.a,9.a,10.a,and 2 more; and 2 more"
	if got := intercepts(o.validatingWebhooks[0].Webhooks[0].Rules); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
