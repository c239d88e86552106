package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

// hookService has a port with a name for its target, which a slice resolves.
const hookService = `
kind: Service
metadata: {namespace: ns, name: hook}
spec:
  clusterIP: 10.96.3.4
  selector: {app: hook}
  ports:
  - {name: https, port: 443, targetPort: webhook}
  - {name: metrics, port: 8080}
  - {name: dns, port: 53, protocol: UDP}
---
`

// hookSlice has endpoints in every state, of which two are ready.
const hookSlice = `
kind: EndpointSlice
metadata: {namespace: ns, name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: metrics, port: 8080}, {name: https, port: 9443}]
endpoints:
- {addresses: [10.244.1.7], nodeName: node-b, targetRef: {kind: Pod, name: hook-7d4}}
- {addresses: [10.244.0.9], nodeName: node-a, targetRef: {kind: Pod, name: hook-1aa}, conditions: {ready: true, serving: true, terminating: false}}
- {addresses: [10.244.0.8], targetRef: {kind: Pod, name: hook-2bb}, conditions: {ready: false, serving: false, terminating: false}}
- {addresses: [10.244.0.7], targetRef: {kind: Pod, name: hook-3cc}, conditions: {ready: false, serving: true, terminating: true}}
---
`

var hookRoutes = []probe.Route{
	{Via: "ClusterIP of ns/hook", Address: "10.96.3.4:443"},
	{Via: "pod hook-1aa on node-a", Address: "10.244.0.9:9443"},
	{Via: "pod hook-7d4 on node-b", Address: "10.244.1.7:9443"},
}

func TestBackendRoutes(t *testing.T) {
	for _, tt := range []struct {
		name, objects string
		port          intstr.IntOrString
		want          []probe.Route
	}{
		{"by number", hookService + hookSlice, intstr.FromInt32(443), hookRoutes},
		{"whose ClusterIP leads to the same node alone", strings.Replace(hookService, "clusterIP:", "internalTrafficPolicy: Local\n  clusterIP:", 1) + hookSlice, intstr.FromInt32(443), hookRoutes[1:]},
		{"whose ClusterIP leads everywhere", strings.Replace(hookService, "clusterIP:", "internalTrafficPolicy: Cluster\n  clusterIP:", 1) + hookSlice, intstr.FromInt32(443), hookRoutes},
		{"by name", hookService + hookSlice, intstr.FromString("https"), hookRoutes},
		{"the same pods in another slice", hookService + hookSlice + strings.Replace(hookSlice, "name: hook-1,", "name: hook-2,", 1), intstr.FromInt32(443), hookRoutes},
		{
			"a slice whose port has no number", hookService + hookSlice +
				strings.NewReplacer("hook-1,", "hook-2,", "{name: https, port: 9443}", "{name: https}", "10.244.", "10.245.").Replace(hookSlice),
			intstr.FromInt32(443), hookRoutes,
		},
		{
			"slices with other numbers for one name", hookService + hookSlice + `
kind: EndpointSlice
metadata: {namespace: ns, name: hook-2, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: 7443}]
endpoints: [{addresses: [10.244.2.2], nodeName: node-c}]
---
kind: EndpointSlice
metadata: {namespace: other, name: hook-2, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: 7443}]
endpoints: [{addresses: [10.244.3.3]}]
`, intstr.FromInt32(443),
			slices.Concat(hookRoutes[:1], []probe.Route{{Via: "endpoint 10.244.2.2 on node-c", Address: "10.244.2.2:7443"}}, hookRoutes[1:]),
		},
		{
			"only terminating endpoints that still serve", hookService + `
kind: EndpointSlice
metadata: {namespace: ns, name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: 9443}]
endpoints:
- {addresses: [10.244.1.7], conditions: {ready: false, serving: true, terminating: true}}
- {addresses: [10.244.1.8], conditions: {ready: false, serving: false, terminating: true}}
- {addresses: [10.244.1.9], conditions: {ready: false, serving: true, terminating: false}}
`, intstr.FromInt32(443),
			[]probe.Route{hookRoutes[0], {Via: "endpoint 10.244.1.7", Address: "10.244.1.7:9443"}},
		},
		{
			"both families behind an IPv6 ClusterIP", `
kind: Service
metadata: {namespace: ns, name: hook}
spec: {clusterIP: "fd00::1", clusterIPs: ["fd00::1", 10.96.3.4], ports: [{port: 443}]}
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-6, labels: {kubernetes.io/service-name: hook}}
addressType: IPv6
ports: [{name: "", port: 9443}]
endpoints: [{addresses: ["fd00:1::7"]}]
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-4, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{port: 9443}]
endpoints: [{addresses: [10.244.1.7]}]
`, intstr.FromInt32(443),
			[]probe.Route{
				{Via: "ClusterIP of ns/hook", Address: "[fd00::1]:443"},
				{Via: "endpoint fd00:1::7", Address: "[fd00:1::7]:9443"},
			},
		},
		{
			"both families of a headless Service", `
kind: Service
metadata: {namespace: ns, name: hook}
spec: {clusterIP: None, ports: [{port: 443}]}
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-6, labels: {kubernetes.io/service-name: hook}}
addressType: IPv6
ports: [{name: "", port: 9443}]
endpoints: [{addresses: ["fd00:1::7"]}]
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-4, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{port: 9443}]
endpoints: [{addresses: [10.244.1.7]}]
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-names, labels: {kubernetes.io/service-name: hook}}
addressType: FQDN
ports: [{port: 9443}]
endpoints: [{addresses: [hook.example.com]}]
`, intstr.FromInt32(443),
			[]probe.Route{
				{Via: "endpoint 10.244.1.7", Address: "10.244.1.7:9443"},
				{Via: "endpoint fd00:1::7", Address: "[fd00:1::7]:9443"},
			},
		},
		{
			"an external name", `
kind: Service
metadata: {namespace: ns, name: hook}
spec: {type: ExternalName, externalName: hook.example.com}
`, intstr.FromInt32(443),
			[]probe.Route{{Via: "external name of ns/hook", Address: "hook.example.com:443"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuilder(&Config{}, parse(t, tt.objects))
			got := b.backend(place{"Thing x", "spec.service"}, "ns", "hook", tt.port)
			if diff := cmp.Diff(tt.want, got.routes); diff != "" {
				t.Errorf("routes differ (-want +got):\n%s", diff)
			}
			if len(got.faults) > 0 || got.undialled {
				t.Errorf("undialled %t, with the faults %v", got.undialled, details(got.faults))
			}
		})
	}
}

func TestBackendFaults(t *testing.T) {
	slice := func(ports, endpoints string) string {
		return fmt.Sprintf(`
kind: EndpointSlice
metadata: {namespace: ns, name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: %s
endpoints: %s
`, ports, endpoints)
	}
	const waiting = `
- {addresses: [10.244.1.7], nodeName: node-b, targetRef: {kind: Pod, name: hook-%d}, conditions: {ready: false}}`
	for _, tt := range []struct {
		name, objects string
		port          intstr.IntOrString
		want          probe.Problem
	}{
		{
			"no such Service", hookService, intstr.FromInt32(443),
			probe.Problem{
				Reason:   probe.Lookup("service_not_found"),
				Detail:   "Thing x: spec.service names Service ns/hoook, which does not exist",
				Expected: "ns/hook",
				Received: "ns/hoook",
			},
		},
		{
			"the Service in other namespaces", `
kind: Service
metadata: {namespace: kong, name: hoook}
---
kind: Service
metadata: {namespace: prod, name: hoook}
`, intstr.FromInt32(443),
			probe.Problem{
				Reason:   probe.Lookup("service_not_found"),
				Detail:   "Thing x: spec.service names Service ns/hoook, which does not exist",
				Expected: "kong/hoook or prod/hoook",
				Received: "ns/hoook",
			},
		},
		{
			"no such port", hookService + hookSlice, intstr.FromInt32(8443),
			probe.Problem{
				Reason:   probe.Lookup("service_port_not_found"),
				Detail:   "Thing x: spec.service names port 8443, which Service ns/hook does not have",
				Expected: "443 (https), 8080 (metrics), 53/UDP (dns)",
				Received: "8443",
			},
		},
		{
			"a port of UDP", hookService + hookSlice, intstr.FromString("dns"),
			probe.Problem{
				Reason:   probe.Lookup("service_port_not_found"),
				Detail:   "Thing x: spec.service names port dns, which Service ns/hook does not have",
				Expected: "443 (https), 8080 (metrics), 53/UDP (dns)",
				Received: "dns",
			},
		},
		{
			"a named port of an external name", "kind: Service\nmetadata: {namespace: ns, name: hook}\nspec: {type: ExternalName, externalName: a.example}",
			intstr.FromString("https"),
			probe.Problem{
				Reason:   probe.Lookup("service_port_not_found"),
				Detail:   "Thing x: spec.service names port https, which Service ns/hook does not have",
				Received: "https",
			},
		},
		{
			"pods without the named port", hookService + slice(`[{name: metrics, port: 8080}]`,
				`[{addresses: [10.244.1.7], nodeName: node-b, targetRef: {kind: Pod, name: hook-1}}]`), intstr.FromInt32(443),
			probe.Problem{
				Reason:   probe.Lookup("target_port_not_found"),
				Detail:   "Thing x: spec.service names port 443 (https) of Service ns/hook, whose targetPort webhook no container has",
				Expected: "a port named webhook in a container of each pod",
				Notes:    []string{"pod hook-1 on node-b is ready, and has no such port"},
			},
		},
		{
			"pods with a port that has no name", hookService + slice(`[{port: 8080}, {name: ""}]`, `[{addresses: [10.244.1.7]}]`), intstr.FromInt32(443),
			probe.Problem{
				Reason:   probe.Lookup("target_port_not_found"),
				Detail:   "Thing x: spec.service names port 443 (https) of Service ns/hook, whose targetPort webhook no container has",
				Expected: "a port named webhook in a container of each pod",
				Notes:    []string{"endpoint 10.244.1.7 is ready, and has no such port"},
			},
		},
		{
			"pods without any port", hookService + slice(`[]`,
				`[{addresses: [10.244.1.7]}, {addresses: [10.244.1.8], conditions: {ready: false}}]`), intstr.FromInt32(443),
			probe.Problem{
				Reason:   probe.Lookup("target_port_not_found"),
				Detail:   "Thing x: spec.service names port 443 (https) of Service ns/hook, whose targetPort webhook no container has",
				Expected: "a port named webhook in a container of each pod",
				Notes:    []string{"endpoint 10.244.1.7 is ready, and has no such port"},
			},
		},
		{
			"pods that are not ready", hookService + slice(`[{name: https, port: 9443}]`,
				fmt.Sprintf(waiting+waiting+waiting+waiting+waiting+waiting+waiting, 7, 6, 5, 4, 3, 2, 1)), intstr.FromInt32(443),
			probe.Problem{
				Reason: probe.Lookup("no_endpoints"),
				Detail: "Thing x: spec.service names Service ns/hook, which has no ready endpoint",
				Notes: []string{
					"pod hook-1 on node-b is not ready", "pod hook-2 on node-b is not ready", "pod hook-3 on node-b is not ready",
					"pod hook-4 on node-b is not ready", "pod hook-5 on node-b is not ready", "and 2 more",
				},
			},
		},
		{
			"no pods", hookService, intstr.FromInt32(443),
			probe.Problem{
				Reason: probe.Lookup("no_endpoints"),
				Detail: "Thing x: spec.service names Service ns/hook, which has no ready endpoint",
				Notes:  []string{"no pod matches its selector app=hook"},
			},
		},
		{
			"no selector", "kind: Service\nmetadata: {namespace: ns, name: hook}\nspec: {clusterIP: 10.96.3.4, ports: [{port: 443}]}", intstr.FromInt32(443),
			probe.Problem{
				Reason: probe.Lookup("no_endpoints"),
				Detail: "Thing x: spec.service names Service ns/hook, which has no ready endpoint",
				Notes:  []string{"it has no selector: whoever made it adds its EndpointSlices"},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := "hook"
			if tt.want.Reason.ID == "service_not_found" {
				name = "hoook"
			}
			b := newBuilder(&Config{}, parse(t, tt.objects))
			got := b.backend(place{"Thing x", "spec.service"}, "ns", name, tt.port)
			if diff := cmp.Diff([]probe.Problem{tt.want}, got.faults, byID); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
			if len(got.routes) > 0 || !got.undialled {
				t.Errorf("dialled at %v", got.routes)
			}
		})
	}
}

// TestBackendUnread has objects of which nothing is known: they are not missed.
func TestBackendUnread(t *testing.T) {
	for _, tt := range []struct {
		unread string
		want   []probe.Route
	}{
		{"services", nil},
		{"endpointslices", hookRoutes[:1]},
	} {
		o := parse(t, hookService)
		o.unread[tt.unread] = true
		if tt.unread == "services" {
			o.services = nil
		}
		got := newBuilder(&Config{}, o).backend(place{"Thing x", "spec.service"}, "ns", "hook", intstr.FromInt32(443))
		if diff := cmp.Diff(tt.want, got.routes); diff != "" || got.undialled || len(got.faults) > 0 {
			t.Errorf("without %s: undialled %t, with the faults %v, and routes differ (-want +got):\n%s",
				tt.unread, got.undialled, details(got.faults), diff)
		}
	}
}
