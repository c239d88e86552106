package cluster

import (
	"context"
	"fmt"
)

// proxyConfig names kubeconfig and node. A network namespace may not size the
// machine's table of connections, hence the zeros.
const proxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %q}
hostnameOverride: %q
mode: nftables
clusterCIDR: 10.244.0.0/16
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
metricsBindAddress: 127.0.0.1:10249
`

func (n *Node) startProxy(context.Context) error {
	kubeconfig, err := n.cluster.Kubeconfig("system:kube-proxy")
	if err != nil {
		return err
	}
	config, err := n.write("kube-proxy.yaml", fmt.Sprintf(proxyConfig, kubeconfig, n.Name))
	if err != nil {
		return err
	}
	n.Proxy, err = n.start("kube-proxy", n.cluster.Programs.Path("kube-proxy"), "--config="+config)
	return err
}
