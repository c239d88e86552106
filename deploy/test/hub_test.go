package test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// The hub's service account, as the manifests make it.
const hubNamespace, hubAccount = "tlsprobe", "tlsprobe-hub"

// startHub starts a hub on a host of its own, with exactly the rights that the
// manifests give it.
func startHub(t *testing.T, c *cluster.Cluster) *product {
	t.Helper()
	kubeconfig := grantHub(t, c)
	return runHub(t, c, addHost(t, c, "hub", "10.77.0.20"), "kubeconfig: "+kubeconfig)
}

// grantHub applies the manifests' rights, and returns a kubeconfig of the hub.
func grantHub(t *testing.T, c *cluster.Cluster) (kubeconfig string) {
	t.Helper()
	for _, file := range []string{"namespace.yaml", "rbac.yaml"} {
		manifest, err := os.ReadFile("../manifests/" + file)
		if err != nil {
			t.Fatal(err)
		}
		mustApply(t, c, string(manifest))
	}
	kubeconfig, err := c.AccountKubeconfig(hubNamespace, hubAccount)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// runHub runs a hub until the test ends, with these settings of its source.
func runHub(t *testing.T, c *cluster.Cluster, host *cluster.Host, settings string) *product {
	t.Helper()
	return startProduct(t, c, host, "hub", "sources: [{kubernetes: {"+settings+"}}]\n")
}

// startAgent starts an agent of a node, which has its targets from the hub.
func startAgent(t *testing.T, c *cluster.Cluster, hub *product, node string) *product {
	t.Helper()
	host := addHost(t, c, "agent", "10.77.0.21")
	return runAgent(t, c, host, hub, node, "1s")
}

func runAgent(t *testing.T, c *cluster.Cluster, host *cluster.Host, hub *product, node, refresh string) *product {
	t.Helper()
	return startProduct(t, c, host, "agent", "sources: [{http: {url: "+hub.url+"/targets, refresh: "+refresh+"}}]\n", "--node.name="+node)
}

var watchState = regexp.MustCompile(`(?m)^tlsprobe_watch_state\{resource="([^"]+)",source="kubernetes",state="([^"]+)"\} 1$`)

// watchStates returns the resources that the hub watches, in order, by the state in
// which the watch is.
func (p *product) watchStates() (map[string][]string, error) {
	metrics, err := p.get("/metrics")
	if err != nil {
		return nil, err
	}
	states := map[string][]string{}
	for _, match := range watchState.FindAllStringSubmatch(metrics, -1) {
		states[match[2]] = append(states[match[2]], match[1])
	}
	for _, resources := range states {
		slices.Sort(resources)
	}
	return states, nil
}
