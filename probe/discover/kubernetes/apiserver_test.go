package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestAPIServer(t *testing.T) {
	const documents = `
kind: Service
metadata: {namespace: default, name: kubernetes}
spec: {clusterIP: 10.96.0.1, ports: [{name: https, port: 443, targetPort: 6443}]}
---
kind: EndpointSlice
metadata: {namespace: default, name: kubernetes, labels: {kubernetes.io/service-name: kubernetes}}
addressType: IPv4
ports: [{name: https, port: 6443}]
endpoints: [{addresses: [10.0.0.2], conditions: {ready: true}}, {addresses: [10.0.0.1], conditions: {ready: true}}]
`
	want := []*probe.Target{{
		Name:    "apiserver/kubernetes",
		Address: "kubernetes.default.svc:443", ServerName: "kubernetes.default.svc",
		Module:   moduleTLS,
		Trust:    probe.Trust{PEM: "the cluster's CA"},
		Labels:   probe.LabelsOf(map[string]string{"kind": "apiserver", "namespace": "default", "service": "kubernetes"}),
		Schedule: usual,
		Routes: []probe.Route{
			{Via: "ClusterIP of default/kubernetes", Address: "10.96.0.1:443"},
			{Via: "endpoint 10.0.0.1", Address: "10.0.0.1:6443"},
			{Via: "endpoint 10.0.0.2", Address: "10.0.0.2:6443"},
		},
	}}
	c := testConfig()
	compareTargets(t, build(c, parse(t, documents)).Common, want)
	c.ClusterCAFile = "/etc/tlsprobe/ca.crt"
	want[0].Trust = probe.Trust{File: "/etc/tlsprobe/ca.crt"}
	compareTargets(t, build(c, parse(t, documents)).Common, want)
}

func TestAPIServerFaults(t *testing.T) {
	got := build(testConfig(), parse(t, `
kind: Service
metadata: {namespace: default, name: kubernetes}
spec: {clusterIP: 10.96.0.1, ports: [{name: https, port: 443, targetPort: 6443}]}
`)).Common[0]
	want := []string{"no_endpoints: Service default/kubernetes: spec.ports[0] names Service default/kubernetes, which has no ready endpoint"}
	if diff := cmp.Diff(want, details(got.Faults)); diff != "" || !got.Undialled || len(got.Routes) > 0 {
		t.Errorf("dialled at %v, and faults differ (-want +got):\n%s", got.Routes, diff)
	}
	if got := build(testConfig(), parse(t, "kind: Service\nmetadata: {namespace: default, name: kubernetes}")).Common; len(got) > 0 {
		t.Errorf("a Service without ports makes %v", namesOfTargets(got))
	}
}
