package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// podNetworkConfig names the node's pod network. Addresses are not masqueraded: a
// packet filter between nodes sees which pod it stops.
const podNetworkConfig = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}
]}
`

// joinPodNetworks gives the node its pod network, and each node of the cluster the
// way to the pods of the others.
func (n *Node) joinPodNetworks(context.Context) error {
	if err := os.MkdirAll(filepath.Join(n.Dir, "etc", "cni"), 0o755); err != nil {
		return err
	}
	if _, err := n.write("cni/pods.conflist", fmt.Sprintf(podNetworkConfig, n.PodNetwork)); err != nil {
		return err
	}
	for _, other := range n.cluster.Nodes {
		if other == n {
			continue
		}
		if err := errors.Join(other.AddRoute(n.PodNetwork.String(), n.Address), n.AddRoute(other.PodNetwork.String(), other.Address)); err != nil {
			return err
		}
	}
	return n.Do(filterBridges)
}

// filterBridges lets kube-proxy's rules see what a pod sends to a neighbour on the
// same bridge. A kernel that has no such switch does it anyway.
func filterBridges() error {
	err := os.WriteFile("/proc/sys/net/bridge/bridge-nf-call-iptables", []byte("1"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
