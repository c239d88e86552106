package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestKubelets(t *testing.T) {
	c := build(testConfig(), parse(t, `
kind: Node
metadata: {name: node1, annotations: {tlsprobe.io/interval: 2m}}
status:
  addresses: [{type: Hostname, address: node1}, {type: ExternalIP, address: 203.0.113.1}, {type: InternalIP, address: 10.0.0.1}, {type: InternalIP, address: "fd00::1"}]
  daemonEndpoints: {kubeletEndpoint: {Port: 10350}}
---
kind: Node
metadata: {name: node2}
status: {addresses: [{type: InternalIP, address: "fd00::2"}]}
---
kind: Node
metadata: {name: node3}
status: {addresses: [{type: Hostname, address: node3}, {type: ExternalIP, address: 203.0.113.3}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}
---
kind: Node
metadata: {name: node4}
status: {addresses: [{type: Hostname, address: node4.example}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}
---
kind: Node
metadata: {name: node5}
---
kind: Node
metadata: {name: node6, annotations: {tlsprobe.io/ignore: "true"}}
status: {addresses: [{type: InternalIP, address: "10.0.0.6"}]}
`))
	kubelet := func(node, address string, schedule probe.Schedule) *probe.Target {
		return &probe.Target{
			Name: "kubelet/" + node, Address: address,
			Module: moduleTLS, Trust: probe.Trust{PEM: "the cluster's CA"},
			Labels: probe.LabelsOf(map[string]string{"kind": "kubelet", "node": node}), Schedule: schedule,
		}
	}
	compareTargets(t, c.Own("node1"), []*probe.Target{
		kubelet("node1", "10.0.0.1:10350", probe.Schedule{Interval: 2 * time.Minute, Timeout: 10 * time.Second}),
		kubelet("node2", "[fd00::2]:10250", usual),
		kubelet("node3", "203.0.113.3:10250", usual),
		kubelet("node4", "node4.example:10250", usual),
	})
	if len(c.Common) != 0 || c.Nodes != 6 {
		t.Errorf("%d common targets for %d nodes", len(c.Common), c.Nodes)
	}
}

// clusterOf has n nodes.
func clusterOf(n, neighbours int) *Cluster {
	var nodes strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, "node-%d\n", i)
	}
	targets := make([]*probe.Target, n)
	for i, name := range strings.Fields(nodes.String()) {
		targets[i] = &probe.Target{Name: "kubelet/" + name, Labels: probe.Labels{{Name: "node", Value: name}}}
	}
	return &Cluster{Nodes: n, kubelets: newRing(targets, func(t *probe.Target) string { return t.Labels.Get("node") }), neighbours: neighbours}
}

// TestRing counts who probes whom: each node its own kubelet and the neighbours',
// and each kubelet is probed by as many.
func TestRing(t *testing.T) {
	const neighbours = 5
	for _, n := range []int{1, 2, neighbours, neighbours + 1, neighbours + 2, 5000} {
		c := clusterOf(n, neighbours)
		in := map[string]int{}
		want := min(n, neighbours+1)
		for i := range n {
			node := fmt.Sprintf("node-%d", i)
			own := namesOfTargets(c.Own(node))
			if len(own) != want || !slices.Contains(own, "kubelet/"+node) || !slices.IsSorted(own) || len(slices.Compact(own)) != want {
				t.Errorf("of %d nodes %s probes %v", n, node, own)
			}
			for _, name := range own {
				in[name]++
			}
		}
		for name, times := range in {
			if times != want {
				t.Errorf("of %d nodes %d probe %s, want %d", n, times, name, want)
			}
		}
		if len(in) != n {
			t.Errorf("of %d kubelets %d are probed", n, len(in))
		}
	}
}

// TestRingIsStable has a node come: it takes one place in the lists of its
// neighbours, and all others are as they were.
func TestRingIsStable(t *testing.T) {
	const n, neighbours = 200, 5
	before, after := clusterOf(n, neighbours), clusterOf(n+1, neighbours)
	changed := 0
	for i := range n {
		node := fmt.Sprintf("node-%d", i)
		was, is := namesOfTargets(before.Own(node)), namesOfTargets(after.Own(node))
		if slices.Equal(was, is) {
			continue
		}
		changed++
		stayed := slices.DeleteFunc(slices.Clone(is), func(name string) bool { return !slices.Contains(was, name) })
		if len(stayed) != neighbours {
			t.Errorf("%s probes %v instead of %v", node, is, was)
		}
	}
	if changed != neighbours {
		t.Errorf("one node more changes the lists of %d, want %d", changed, neighbours)
	}
}

// TestRingOfAStranger asks for a node that is none, or has no kubelet to probe.
func TestRingOfAStranger(t *testing.T) {
	c := clusterOf(20, 5)
	if got := c.Own("elsewhere"); len(got) != 5 {
		t.Errorf("probes %v, want five kubelets", namesOfTargets(got))
	}
	if got := clusterOf(0, 5).Own("elsewhere"); len(got) != 0 {
		t.Errorf("probes %v without any kubelet", namesOfTargets(got))
	}
}

func namesOfTargets(targets []*probe.Target) []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}

// TestRequests gives one node all kinds of requests for a certificate.
func TestRequests(t *testing.T) {
	request := func(name, at, status string) string {
		return fmt.Sprintf(`
kind: CertificateSigningRequest
metadata: {name: %s, creationTimestamp: "2026-11-21T%sZ"}
spec: {signerName: kubernetes.io/kubelet-serving, username: "system:node:node1"}
status: %s
---`, name, at, status)
	}
	const (
		pending = `{}`
		issued  = `{conditions: [{type: Approved, status: "True"}], certificate: Cg==}`
		denied  = `{conditions: [{type: Denied, status: "True", reason: PolicyDenied, message: "10.0.0.1 is not allowed"}]}`
	)
	approved := func(at string) string {
		return `{conditions: [{type: Approved, status: "True", lastUpdateTime: "2026-11-21T` + at + `Z"}]}`
	}
	for _, tt := range []struct {
		name, requests string
		want           []string // the faults with their notes
		until          string
	}{
		{
			"one pending", request("csr-a", "11:55:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-a: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:55:00Z",
				"to approve it: kubectl certificate approve csr-a",
			}, "12:40:00",
		},
		{
			"several pending", request("csr-c", "11:50:00", pending) + request("csr-b", "11:20:00", pending) + request("csr-a", "11:35:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-c: status.conditions is neither Approved nor Denied; node node1 has asked 3 times since 2026-11-21T11:20:00Z",
				"all of them: csr-c, csr-a, csr-b",
				"to approve it: kubectl certificate approve csr-c",
			}, "12:35:00",
		},
		{
			"very many pending", request("csr-a", "11:50:01", pending) + request("csr-b", "11:50:02", pending) + request("csr-c", "11:50:03", pending) +
				request("csr-d", "11:50:04", pending) + request("csr-e", "11:50:05", pending) + request("csr-f", "11:50:06", pending) + request("csr-g", "11:50:06", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-g: status.conditions is neither Approved nor Denied; node node1 has asked 7 times since 2026-11-21T11:50:01Z",
				"all of them: csr-g, csr-f, csr-e, csr-d, csr-c, and 2 more",
				"to approve it: kubectl certificate approve csr-g",
			}, "12:35:06",
		},
		{"pending, then issued", request("csr-a", "11:50:00", pending) + request("csr-b", "11:51:00", issued), nil, ""},
		{
			"issued, then pending", request("csr-b", "11:51:00", pending) + request("csr-a", "11:50:00", issued),
			[]string{
				"csr_pending: CertificateSigningRequest csr-b: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:51:00Z",
				"to approve it: kubectl certificate approve csr-b",
			}, "12:36:00",
		},
		{"approved a moment ago", request("csr-a", "11:50:00", pending) + request("csr-b", "11:59:00", approved("11:59:30")), nil, "12:00:30"},
		{
			"approved, and nobody signs", request("csr-a", "11:58:00", approved("11:59:00")),
			[]string{"csr_pending: CertificateSigningRequest csr-a: status.conditions is Approved, and nobody signs it; node node1 asked at 2026-11-21T11:58:00Z"}, "",
		},
		{"left over from a wait that is over", request("csr-a", "10:00:00", pending) + request("csr-b", "11:15:00", pending), nil, ""},
		{
			"denied, and asked again", request("csr-a", "11:50:00", denied) + request("csr-b", "11:55:00", denied) + request("csr-c", "11:56:00", pending),
			[]string{
				"csr_pending: CertificateSigningRequest csr-c: status.conditions is neither Approved nor Denied; node node1 asked at 2026-11-21T11:56:00Z",
				"to approve it: kubectl certificate approve csr-c",
				"csr_denied: CertificateSigningRequest csr-b: status.conditions is Denied; node node1 has asked 2 times since 2026-11-21T11:50:00Z",
				"received PolicyDenied: 10.0.0.1 is not allowed",
				"all of them: csr-b, csr-a",
			}, "12:41:00",
		},
		{
			"another signer, another node, no node", strings.ReplaceAll(request("csr-a", "11:55:00", pending), "kubelet-serving", "kube-apiserver-client-kubelet") +
				strings.ReplaceAll(request("csr-b", "11:55:00", pending), "node:node1", "node:node9") +
				strings.ReplaceAll(request("csr-c", "11:55:00", pending), "system:node:node1", "alice"), nil, "12:40:00",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, "kind: Node\nmetadata: {name: node1}\nstatus: {addresses: [{type: InternalIP, address: 10.0.0.1}]}\n---"+tt.requests)
			c := build(testConfig(), o)
			var got []string
			for _, f := range c.Own("node1")[0].Faults {
				got = append(got, details([]probe.Problem{f})...)
				if f.Received != "" {
					got = append(got, "received "+f.Received)
				}
				got = append(got, f.Notes...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
			until := ""
			if !c.Until.IsZero() {
				until = c.Until.UTC().Format(time.TimeOnly)
			}
			if until != tt.until {
				t.Errorf("the next list is due at %q, want %q", until, tt.until)
			}
		})
	}
}
