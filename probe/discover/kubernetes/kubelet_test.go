package kubernetes

import (
	"testing"
	"time"

	"tlsprobe/probe"
)

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
