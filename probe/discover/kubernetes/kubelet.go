package kubernetes

import (
	corev1 "k8s.io/api/core/v1"

	"tlsprobe/probe"
)

// defaultKubeletPort is what the API server dials of a Node that says no port.
const defaultKubeletPort = 10250

// kubelets makes a target of each kubelet, dialled and verified by its address, as
// metrics-server and the API server do.
func (b *builder) kubelets() []*probe.Target {
	requests := b.requestQueues()
	var all []*probe.Target
	for _, n := range b.objects.nodes {
		address := kubeletAddress(n)
		if address == "" || !b.wants(kindKubelet, n) {
			continue
		}
		t := &probe.Target{
			Name:    kindKubelet + "/" + n.Name,
			Address: address,
			Module:  b.verified,
			Trust:   b.clusterTrust(),
			Labels:  probe.LabelsOf(map[string]string{"kind": kindKubelet, "node": n.Name}),
			Faults:  requests[n.Name].faults(),
		}
		b.complete(n, t, b.config.Neighbours+1)
		all = append(all, t)
	}
	return all
}

// kubeletAddress returns where the node's kubelet listens, "" if the node does not
// say.
func kubeletAddress(n *corev1.Node) string {
	port := n.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port == 0 {
		port = defaultKubeletPort
	}
	for _, kind := range []corev1.NodeAddressType{corev1.NodeInternalIP, corev1.NodeExternalIP, corev1.NodeHostName} {
		for _, a := range n.Status.Addresses {
			if a.Type == kind && a.Address != "" {
				return hostPort(a.Address, port)
			}
		}
	}
	return ""
}
