package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// manifests is what people install, as they do.
const manifests = "../manifests"

// install installs tlsprobe as the manifests say, from the image that they name.
func (r *realCluster) install(ctx context.Context) error {
	rendered, err := r.Kubectl("kustomize", manifests)
	if err != nil {
		return err
	}
	image := regexp.MustCompile(`image: (\S+)`).FindStringSubmatch(rendered)
	if image == nil {
		return errors.New("the manifests name no image")
	}
	// A name without a host is one of Docker's registry.
	if err := r.LoadTlsprobe(ctx, "docker.io/"+image[1]); err != nil {
		return err
	}
	if _, err := r.Kubectl("apply", "--kustomize", manifests); err != nil {
		return err
	}
	return r.rolledOut()
}

// rolledOut waits until every pod of tlsprobe is of the newest kind and ready.
func (r *realCluster) rolledOut() error {
	for _, workload := range []string{"deployment/tlsprobe-hub", "daemonset/tlsprobe-agent"} {
		if _, err := r.Kubectl("--namespace=tlsprobe", "rollout", "status", workload, "--timeout=90s"); err != nil {
			return fmt.Errorf("%w\n%s", err, r.state())
		}
	}
	return nil
}

// state is what the cluster says of tlsprobe's pods, and what they said last.
func (r *realCluster) state() string {
	var all strings.Builder
	for _, question := range [][]string{
		{"get", "nodes,pods", "--output=wide"},
		{"get", "events", "--field-selector=type=Warning"},
		{"logs", "--selector=app.kubernetes.io/name=tlsprobe", "--prefix", "--tail=30"},
	} {
		answer, err := r.Kubectl(append([]string{"--namespace=tlsprobe"}, question...)...)
		fmt.Fprintln(&all, answer, err)
	}
	return all.String()
}

// agents are the agents' pods by the name of their nodes.
func (r *realCluster) agents() (map[string]pod, error) {
	list, err := r.pods("app.kubernetes.io/component=agent")
	agents := map[string]pod{}
	for _, p := range list {
		agents[p.Spec.NodeName] = p
	}
	return agents, err
}

// A pod is what the tests look at of one.
type pod struct {
	Metadata struct{ Name string }
	Spec     struct {
		NodeName string
		Volumes  []struct {
			Projected *struct {
				Sources []struct{ ServiceAccountToken *struct{} }
			}
		}
	}
	Status struct {
		PodIP             netip.Addr
		ContainerStatuses []struct {
			Ready        bool
			RestartCount int
		}
	}
}

// pods returns the pods of tlsprobe with these labels that are not on their way out.
func (r *realCluster) pods(selector string) ([]pod, error) {
	out, err := r.Kubectl("--namespace=tlsprobe", "get", "pods", "--selector="+selector, "--output=json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			pod
			Metadata struct {
				Name              string
				DeletionTimestamp *string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, err
	}
	var pods []pod
	for _, item := range list.Items {
		if item.Metadata.DeletionTimestamp == nil {
			item.pod.Metadata.Name = item.Metadata.Name
			pods = append(pods, item.pod)
		}
	}
	return pods, nil
}

// get asks the agent on a node, as the README tells people to: through the API server.
func (r *realCluster) get(node *cluster.Node, path string) (string, error) {
	return r.raw(node, "get", path)
}

// refresh makes the agent on a node ask the hub for its list at once.
func (r *realCluster) refresh(node *cluster.Node) error {
	_, err := r.raw(node, "create", "/-/reload", "--filename="+os.DevNull)
	return err
}

func (r *realCluster) raw(node *cluster.Node, verb, path string, flags ...string) (string, error) {
	agents, err := r.agents()
	if err != nil {
		return "", err
	}
	p, ok := agents[node.Name]
	if !ok {
		return "", fmt.Errorf("no agent on %q", node.Name)
	}
	return r.Kubectl(append([]string{verb, "--raw", "/api/v1/namespaces/tlsprobe/pods/" + p.Metadata.Name + ":9790/proxy" + path}, flags...)...)
}

// probe lets the agent on a node probe a target now.
func (r *realCluster) probe(node *cluster.Node, target string) (v verdict, err error) {
	body, err := r.get(node, "/probe?format=json&target="+target)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(body), &v)
}

// judges waits until the agent on a node finds exactly these reasons at a target,
// none if it is well, and returns its verdict.
func (r *realCluster) judges(t *testing.T, node *cluster.Node, target string, reasons ...string) (v verdict) {
	t.Helper()
	slices.Sort(reasons)
	cluster.Eventually(t, readyTime, func() (err error) {
		if v, err = r.probe(node, target); err == nil {
			if found := slices.Sorted(slices.Values(v.Reasons)); !slices.Equal(found, reasons) {
				err = fmt.Errorf("%s from %s: %s, want %s: %+v", target, node.Name, found, reasons, v.Attempts)
			}
		}
		if err != nil {
			err = errors.Join(err, r.refresh(node))
		}
		return err
	})
	return v
}

// handshakeErrors are the lines of a Go server's log about a client's handshake, and
// that client's address.
var handshakeErrors = regexp.MustCompile(`(?m)^.*TLS handshake error from ([0-9.]+):\d+: .*$`)

// quiet fails the test if the log of a probed server has a line that an agent is the
// cause of. A kubelet without a certificate complains about each client.
func (r *realCluster) quiet(t *testing.T, server, log string) {
	t.Helper()
	for _, line := range handshakeErrors.FindAllStringSubmatch(log, -1) {
		from := netip.MustParseAddr(line[1])
		for _, n := range r.Nodes {
			if n.PodNetwork.Contains(from) && !strings.Contains(line[0], "no serving certificate available") {
				t.Errorf("a probe from a pod of %s made %s log: %s", n.Name, server, line[0])
			}
		}
	}
}

func TestInstalled(t *testing.T) {
	r := nodes(t)
	agents, err := r.agents()
	if err != nil {
		t.Fatal(err)
	}
	if len(agents) != len(r.Nodes) {
		t.Errorf("%d agents on %d nodes, the control plane's included", len(agents), len(r.Nodes))
	}
	for _, p := range agents {
		for _, volume := range p.Spec.Volumes {
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.ServiceAccountToken != nil {
					t.Errorf("the agent %s has a token of its service account", p.Metadata.Name)
				}
			}
		}
	}
	hubs, err := r.pods("app.kubernetes.io/component=hub")
	if err != nil || len(hubs) != 2 || hubs[0].Spec.NodeName == hubs[1].Spec.NodeName {
		t.Errorf("hubs: %+v, %v; want one on each of the two workers", hubs, err)
	}
	for _, p := range append(hubs, agents[r.a.Name], agents[r.b.Name], agents[r.control.Name]) {
		for _, c := range p.Status.ContainerStatuses {
			if !c.Ready || c.RestartCount > 0 {
				t.Errorf("%s on %s: ready: %t, restarts: %d", p.Metadata.Name, p.Spec.NodeName, c.Ready, c.RestartCount)
			}
		}
	}
	// The namespace keeps out what is not restricted.
	_, err = r.Kubectl("--namespace=tlsprobe", "run", "intruder", "--image="+cluster.PeerImage, "--dry-run=server")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a pod without a securityContext: %v", err)
	}
}

func TestVerdictsFromEachNode(t *testing.T) {
	r := nodes(t)
	for _, from := range r.Nodes {
		v := r.judges(t, from, "apiserver/kubernetes")
		if len(v.Attempts) != 2 {
			t.Errorf("from %s: %+v, want the ClusterIP and the one API server", from.Name, v.Attempts)
		}
		for _, to := range r.Nodes {
			r.judges(t, from, "kubelet/"+to.Name, "missing_ip_san", "self_signed")
		}
	}
	for _, n := range r.Nodes {
		r.quiet(t, "the kubelet of "+n.Name, n.Kubelet.Output())
	}
	r.quiet(t, "the API server", r.APIServer().Output())
}
