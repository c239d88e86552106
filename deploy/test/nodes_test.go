package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tlsprobe/deploy/test/cluster"
)

// A realCluster has three nodes: the control plane's, a and b. The tests that need
// nodes share one, and leave it as they find it.
type realCluster struct {
	*cluster.Cluster
	control, a, b *cluster.Node
}

// shared is the cluster of nodes, started by the first test that wants it. TestMain
// closes it.
var shared struct {
	sync.Once
	cluster *realCluster
	err     error
}

// nodes returns the cluster of nodes. With -short the test is reported as skipped.
func nodes(t *testing.T) *realCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	shared.Do(func() {
		start := time.Now()
		shared.cluster, shared.err = startNodes(context.Background())
		t.Logf("starting the nodes took %s", time.Since(start).Round(time.Second))
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(shared.cluster.state())
		}
	})
	return shared.cluster
}

// closeNodes ends the cluster of nodes if a test has started it.
func closeNodes() error {
	if shared.cluster == nil {
		return nil
	}
	return errors.Join(shared.cluster.Close(), leftovers(shared.cluster.Dir))
}

// leftovers says which processes still have mounts of a cluster whose files were in
// this folder, or are in its control groups.
func leftovers(dir string) error {
	var errs []error
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, process := range processes {
		mounts, _ := os.ReadFile(filepath.Join(process, "mountinfo")) // it may have ended
		groups, _ := os.ReadFile(filepath.Join(process, "cgroup"))
		if bytes.Contains(mounts, []byte(dir)) || bytes.Contains(groups, fmt.Appendf(nil, "/tlsprobe-%d-", os.Getpid())) {
			name, _ := os.ReadFile(filepath.Join(process, "comm"))
			errs = append(errs, fmt.Errorf("the cluster of nodes leaves process %s behind, %q", filepath.Base(process), name))
		}
	}
	for _, kept := range []string{"/run/netns/", "/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		names, _ := filepath.Glob(fmt.Sprintf("%stlsprobe-%d-nodes-*", kept, os.Getpid()))
		for _, name := range names {
			errs = append(errs, fmt.Errorf("the cluster of nodes leaves %s behind", name))
		}
	}
	return errors.Join(errs...)
}

func startNodes(ctx context.Context) (*realCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Config{Name: "nodes", Programs: programs})
	if err != nil {
		return nil, err
	}
	r := &realCluster{Cluster: c}
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

func (r *realCluster) start(ctx context.Context) (err error) {
	if err := r.StartControllers(ctx); err != nil {
		return err
	}
	if err := r.StartDNS(); err != nil {
		return err
	}
	if r.control, err = r.AddNode(ctx, r.ControlPlane, cluster.KubeletSettings{Taints: "node-role.kubernetes.io/control-plane:NoSchedule"}); err != nil {
		return err
	}
	if r.a, err = r.addWorker(ctx, "node-a", "10.77.0.11"); err != nil {
		return err
	}
	if r.b, err = r.addWorker(ctx, "node-b", "10.77.0.12"); err != nil {
		return err
	}
	if err := r.LoadPeer(ctx); err != nil {
		return err
	}
	if err := r.WaitForNodes(ctx); err != nil {
		return err
	}
	// The hub looks for a kind that is missing only now and then.
	if _, err := r.Kubectl("apply", "--filename=testdata/crds.yaml"); err != nil {
		return err
	}
	return r.install(ctx)
}

func (r *realCluster) addWorker(ctx context.Context, name, address string) (*cluster.Node, error) {
	host, err := r.Network.AddHost(name, netip.MustParseAddr(address))
	if err != nil {
		return nil, err
	}
	return r.AddNode(ctx, host, cluster.KubeletSettings{})
}

// command runs kubectl for its effect.
func (r *realCluster) command(args ...string) error {
	_, err := r.Kubectl(args...)
	return err
}

func TestNodes(t *testing.T) {
	r := nodes(t)
	const pods = `
apiVersion: v1
kind: Pod
metadata: {name: on-%[1]s, namespace: default, labels: {app: where}}
spec:
  nodeName: %[1]s
  terminationGracePeriodSeconds: 0
  containers:
    - name: peer
      image: ` + cluster.PeerImage + `
      args: [serve, --path=/where, --body=%[1]s]
---
`
	yaml := fmt.Sprintf(pods, r.a.Name) + fmt.Sprintf(pods, r.b.Name)
	if err := r.Apply(yaml); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Kubectl("wait", "pod", "--selector=app=where", "--for=condition=Ready", "--timeout=60s"); err != nil {
		t.Fatal(out, err)
	}
	for _, node := range []*cluster.Node{r.a, r.b} {
		where, err := r.Kubectl("get", "--raw", "/api/v1/namespaces/default/pods/on-"+node.Name+":8080/proxy/where")
		if err != nil || where != node.Name {
			t.Errorf("the pod on %q answers %q, %v", node.Name, where, err)
		}
	}
	if err := r.Delete(yaml); err != nil {
		t.Error(err)
	}
}
