package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

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

func TestBackend(t *testing.T) {
	for _, tt := range []struct {
		name, objects string
		port          intstr.IntOrString
		want          []probe.Route
	}{
		{
			"a ClusterIP and two pods", hookService + `
kind: EndpointSlice
metadata: {namespace: ns, name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: metrics, port: 8080}, {name: https, port: 9443}]
endpoints:
- {addresses: [10.244.1.7], nodeName: node-b, targetRef: {kind: Pod, name: hook-7d4}}
- {addresses: [10.244.0.9], nodeName: node-a, targetRef: {kind: Pod, name: hook-1aa}, conditions: {ready: true}}
- {addresses: [10.244.0.8], conditions: {ready: false}}
`, intstr.FromInt32(443),
			[]probe.Route{
				{Via: "ClusterIP of ns/hook", Address: "10.96.3.4:443"},
				{Via: "pod hook-1aa on node-a", Address: "10.244.0.9:9443"},
				{Via: "pod hook-7d4 on node-b", Address: "10.244.1.7:9443"},
			},
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
