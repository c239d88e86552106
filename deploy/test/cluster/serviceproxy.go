package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// StartServiceProxy runs kube-proxy where the API server is, as on the control plane
// nodes of real clusters: without, the API server can reach no Service by its
// ClusterIP. The host becomes a Node that nothing is scheduled on.
func (c *Cluster) StartServiceProxy(ctx context.Context) error {
	host := c.ControlPlane
	if err := c.Apply(fmt.Sprintf(controlPlaneNode, host.Name)); err != nil {
		return err
	}
	status := fmt.Sprintf(`{"status":{"addresses":[{"type":"InternalIP","address":%q}]}}`, host.Address)
	if _, err := c.Kubectl("patch", "node", host.Name, "--subresource=status", "--type=merge", "--patch="+status); err != nil {
		return err
	}
	kubeconfig, err := c.Kubeconfig("system:kube-proxy")
	if err != nil {
		return err
	}
	file := filepath.Join(c.Dir, "kube-proxy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, proxyConfig, kubeconfig, host.Name), 0o644); err != nil {
		return err
	}
	process, err := c.Processes.Start("kube-proxy", host.Command(context.Background(), c.Programs.Path("kube-proxy"), "--config="+file))
	if err != nil {
		return err
	}
	return c.awaitHTTP(ctx, process, &http.Client{Transport: &http.Transport{DialContext: host.Dial}}, "http://127.0.0.1:10256/healthz")
}

const controlPlaneNode = `
apiVersion: v1
kind: Node
metadata: {name: %s}
spec:
  unschedulable: true
  taints: [{key: node-role.kubernetes.io/control-plane, effect: NoExecute}]
`
