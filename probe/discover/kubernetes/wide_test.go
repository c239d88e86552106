package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
)

// wideCluster has nodes, and one webhook whose Service has so many endpoints.
func wideCluster(t testing.TB, nodes, endpoints int) *Cluster {
	t.Helper()
	var documents strings.Builder
	documents.WriteString(hookService + `
kind: ValidatingWebhookConfiguration
metadata: {name: kong}
webhooks: [{name: a, clientConfig: {service: {namespace: ns, name: hook}}}]
---
kind: EndpointSlice
metadata: {namespace: ns, name: hook-1, labels: {kubernetes.io/service-name: hook}}
addressType: IPv4
ports: [{name: https, port: 9443}]
endpoints:
`)
	for i := range endpoints {
		fmt.Fprintf(&documents, "- {addresses: [10.244.%d.%d]}\n", i/256, i%256)
	}
	for i := range nodes {
		fmt.Fprintf(&documents, "---\nkind: Node\nmetadata: {name: node-%d}\n", i)
	}
	return build(testConfig(), parse(t, documents.String()))
}

// checkWide fails unless the nodes together probe each endpoint, and each of them
// enough.
func checkWide(t *testing.T, c *Cluster, nodes, endpoints int) {
	t.Helper()
	probed, dials := map[string]bool{}, 0
	for i := range nodes {
		targets := c.Own(fmt.Sprintf("node-%d", i))
		if len(targets) != 1 {
			t.Fatalf("node-%d has %v", i, namesOfTargets(targets))
		}
		routes := targets[0].Routes
		if routes[0] != hookRoutes[0] || slices.Contains(routes[1:], routes[0]) {
			t.Errorf("node-%d dials %v", i, routes)
		}
		dials += len(routes) - 1
		own := map[probe.Route]bool{}
		for _, r := range routes[1:] {
			own[r] = true
			probed[r.Address] = true
		}
		if len(own) < maxEndpoints || len(own) < len(routes)-1 {
			t.Errorf("of %d endpoints node-%d dials %d, %d times", endpoints, i, len(own), len(routes)-1)
		}
	}
	if dials > endpoints+nodes*maxEndpoints {
		t.Errorf("%d nodes dial %d endpoints %d times", nodes, endpoints, dials)
	}
	if len(probed) != endpoints {
		t.Errorf("%d nodes dial %d endpoints of %d", nodes, len(probed), endpoints)
	}
}

func TestWideTarget(t *testing.T) {
	for _, tt := range []struct{ nodes, endpoints int }{{1, 11}, {1, 300}, {2, 30}, {3, 25}, {40, 300}, {300, 11}} {
		c := wideCluster(t, tt.nodes, tt.endpoints)
		if len(c.Common) > 0 {
			t.Errorf("with %d endpoints all nodes have %v", tt.endpoints, namesOfTargets(c.Common))
		}
		checkWide(t, c, tt.nodes, tt.endpoints)
	}
	if c := wideCluster(t, 3, maxEndpoints); len(c.Common) != 1 || len(c.Common[0].Routes) != 1+maxEndpoints || len(c.Own("node-1")) > 0 {
		t.Errorf("%d endpoints are too many for each node", maxEndpoints)
	}
}

// TestWideIngress is of one whose controller runs on many nodes, all of whose
// addresses are in its status.
func TestWideIngress(t *testing.T) {
	var addresses strings.Builder
	for i := range 30 {
		fmt.Fprintf(&addresses, "{ip: 203.0.113.%d}, ", i)
	}
	c := build(testConfig(), parse(t, strings.ReplaceAll(ingressYAML(``, `, rules: [{host: "*.test"}, {host: a.test}]`), "{ip: 203.0.113.7}", addresses.String())+`
kind: Node
metadata: {name: a}
---
kind: Node
metadata: {name: b}
`))
	probed := map[string]bool{}
	for _, node := range []string{"a", "b"} {
		targets := c.Own(node)
		if len(targets) != 2 || targets[0].Undialled || targets[1].Routes[0].Via != "cluster DNS" {
			t.Fatalf("node %s has %q", node, lines(targets))
		}
		for _, r := range targets[0].Routes {
			probed[r.Address] = true
		}
	}
	if len(c.Common) > 0 || len(probed) != 30 {
		t.Errorf("%d addresses are shared out, all nodes have %v", len(probed), namesOfTargets(c.Common))
	}
}

// TestWideTargetWithoutNodes is of a cluster whose nodes may not be read: nobody
// can tell how many share the work, and nobody takes all of it.
func TestWideTargetWithoutNodes(t *testing.T) {
	c := wideCluster(t, 0, 200)
	a, b := c.Own("a")[0].Routes, c.Own("b")[0].Routes
	if len(a) != 1+maxEndpoints || len(b) != 1+maxEndpoints || slices.Equal(a, b) {
		t.Errorf("one dials %v, the other %v", a, b)
	}
}

func FuzzWideTarget(f *testing.F) {
	f.Add(uint8(3), uint8(50))
	f.Fuzz(func(t *testing.T, nodes, endpoints uint8) {
		n, e := 1+int(nodes), maxEndpoints+1+int(endpoints)
		checkWide(t, wideCluster(t, n, e), n, e)
	})
}
