package cluster

import (
	"context"
	"fmt"
)

// KubeletSettings are what the tests want different from a kubelet's own ways.
type KubeletSettings struct {
	// TLSBootstrap lets it ask the cluster for its serving certificate
	// (serverTLSBootstrap). Otherwise it signs one itself, for its name only.
	TLSBootstrap bool
	// Taints are for a node that is new, as "node-role.kubernetes.io/control-plane:NoSchedule".
	Taints string
}

// kubeletConfig names the cluster's CA, the node's control group, the runtime's socket
// and whether the serving certificate comes from the cluster. Quotas of local storage
// and evictions need a device that the node's file system does not show.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %q}
authorization: {mode: Webhook}
clusterDomain: cluster.local
clusterDNS: [%q]
resolvConf: ""
cgroupDriver: cgroupfs
cgroupRoot: /%s
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://` + containerdSocket + `
serverTLSBootstrap: %t
rotateCertificates: false
evictionHard: {memory.available: 100Mi}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 5s
localStorageCapacityIsolation: false
`

// StartKubelet starts the node's kubelet, or starts it anew with other settings. Its
// pods live on meanwhile.
func (n *Node) StartKubelet(ctx context.Context, settings KubeletSettings) error {
	if n.Kubelet != nil {
		n.Kubelet.Stop()
	}
	kubeconfig, err := n.cluster.Kubeconfig("system:node:"+n.Name, "system:nodes")
	if err != nil {
		return err
	}
	config, err := n.write("kubelet.yaml", fmt.Sprintf(kubeletConfig,
		n.cluster.PKI.File("ca.crt"), dnsAddress, n.cgroup, settings.TLSBootstrap))
	if err != nil {
		return err
	}
	n.Kubelet, err = n.start("kubelet", n.cluster.Programs.Path("kubelet"), "--config="+config, "--kubeconfig="+kubeconfig,
		"--hostname-override="+n.Name, "--node-ip="+n.Address.String(), "--register-with-taints="+settings.Taints)
	return err
}
