package kubernetes

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tlsprobe/probe"
)

// TestBuildIsDeterministic shuffles the objects, which makes no difference.
func TestBuildIsDeterministic(t *testing.T) {
	var documents strings.Builder
	for i := range 6 {
		fmt.Fprintf(&documents, `
kind: Service
metadata: {namespace: ns%[1]d, name: hook}
spec: {clusterIP: 10.96.3.%[1]d, ports: [{port: 443}]}
---
kind: Service
metadata: {namespace: ns%[1]d, name: other}
spec: {clusterIP: 10.96.4.%[1]d, ports: [{port: 443}]}
---
kind: ValidatingWebhookConfiguration
metadata: {name: v%[1]d}
webhooks: [{name: a, clientConfig: {service: {namespace: ns%[1]d, name: hook}}}, {name: b, clientConfig: {service: {namespace: none, name: hook}}}]
---
kind: MutatingWebhookConfiguration
metadata: {name: v%[1]d}
webhooks: [{name: a, clientConfig: {service: {namespace: ns%[1]d, name: other}}}]
---
kind: APIService
metadata: {name: v%[1]d}
spec: {service: {namespace: ns%[1]d, name: hook}, insecureSkipTLSVerify: true}
---
kind: Node
metadata: {name: node%[1]d}
status: {addresses: [{type: InternalIP, address: 10.0.0.%[1]d}]}
---
kind: CertificateSigningRequest
metadata: {name: csr-%[1]d, creationTimestamp: "2026-11-21T11:55:00Z"}
spec: {signerName: kubernetes.io/kubelet-serving, username: "system:node:node1"}
---
`, i)
		for _, slice := range []string{"x", "y"} {
			fmt.Fprintf(&documents, `
kind: EndpointSlice
metadata: {namespace: ns%[1]d, name: hook-%[2]s, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{port: 9443}]
endpoints: [{addresses: [10.244.0.1], nodeName: %[2]s}, {addresses: [10.244.0.2], nodeName: %[2]s}, {addresses: [10.244.0.3]}]
---
kind: EndpointSlice
metadata: {namespace: ns%[1]d, name: other-%[2]s, labels: {kubernetes.io/service-name: other}}
addressType: IPv4
ports: [{port: 9443}]
endpoints: [{addresses: [10.244.0.1], conditions: {ready: false}, nodeName: %[2]s}, {addresses: [10.244.0.2], conditions: {ready: false}}]
---
`, i, slice)
		}
	}
	o := parse(t, documents.String())
	want := everything(o)
	if len(want) < 24+6 {
		t.Fatalf("only %d targets", len(want))
	}
	for range 20 {
		shuffle(o)
		got := everything(o)
		if diff := cmp.Diff(want, got, byID, cmpopts.IgnoreFields(probe.Target{}, "Module")); diff != "" {
			t.Fatalf("targets differ (-in order +shuffled):\n%s", diff)
		}
	}
}

// everything is the targets of all nodes, one after the other.
func everything(o *objects) []*probe.Target {
	c := build(testConfig(), o)
	all := slices.Clone(c.Common)
	for _, node := range []string{"node0", "node1", "node2"} {
		all = append(all, c.Own(node)...)
	}
	return all
}

// shuffle puts each list of objects, and the endpoints of slices, in another order.
func shuffle(o *objects) {
	lists := reflect.ValueOf(o).Elem()
	for i := range lists.NumField() {
		if list := lists.Field(i); list.Kind() == reflect.Slice {
			// The fields are not exported: swap through a slice at the same address.
			open := reflect.NewAt(list.Type(), list.Addr().UnsafePointer()).Elem()
			rand.Shuffle(open.Len(), reflect.Swapper(open.Interface()))
		}
	}
	for _, s := range o.slices {
		rand.Shuffle(len(s.Endpoints), reflect.Swapper(s.Endpoints))
	}
}

// TestUntil takes the nearest of all times at which something changes.
func TestUntil(t *testing.T) {
	first, second := today.AddDate(0, 1, 0), today.AddDate(0, 2, 0)
	o := parse(t, withCA(`
kind: APIService
metadata: {name: a}
spec: {service: {namespace: ns, name: hook}, caBundle: CA}
---`, caUntil(t, "second", second))+withCA(`
kind: APIService
metadata: {name: b}
spec: {service: {namespace: ns, name: hook}, caBundle: CA}
`, caUntil(t, "first", first))+withCA(`---
kind: APIService
metadata: {name: c}
spec: {service: {namespace: ns, name: hook}, caBundle: CA}
`, caUntil(t, "third", second.AddDate(0, 1, 0))))
	faults := func() (ids []string) {
		for _, target := range build(testConfig(), o).Common {
			for _, f := range target.Faults[1:] { // behind that there is no Service
				ids = append(ids, target.Name+" "+f.Reason.ID)
			}
		}
		return ids
	}
	until := build(testConfig(), o).Until
	if want := first.Add(1); !until.Equal(want) || len(faults()) > 0 {
		t.Errorf("until %s, with %v; want %s, and no faults", until, faults(), want)
	}
	o.at = until
	if diff := cmp.Diff([]string{"apiservice/b ca_bundle_expired"}, faults()); diff != "" {
		t.Errorf("then the faults differ (-want +got):\n%s", diff)
	}
	if next, want := build(testConfig(), o).Until, second.Add(1); !next.Equal(want) {
		t.Errorf("then until %s, want %s", next, want)
	}
}
