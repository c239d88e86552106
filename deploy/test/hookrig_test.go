package test

import (
	"fmt"
	"testing"

	"k8s.io/client-go/kubernetes"

	"tlsprobe/deploy/test/cluster"
)

// A hookRig is a cluster whose API server calls hooks on a host of their own, and an
// agent beside the API server that probes them.
type hookRig struct {
	*cluster.Cluster
	host   *cluster.Host
	cas    *hookCAs
	client kubernetes.Interface
	agent  *product
}

// hookCAs are the CAs that hooks' certificates might be judged by. The renewed one
// has the name of the right one.
type hookCAs struct{ right, other, renewed *cluster.CA }

func newHookRig(t *testing.T, name string) *hookRig {
	t.Helper()
	r := &hookRig{Cluster: startCluster(t, cluster.Config{Name: name})}
	r.host = addHost(t, r.Cluster, "hooks", "10.77.0.30")
	r.cas = newHookCAs(t)
	if err := r.StartServiceProxy(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := r.Client()
	if err != nil {
		t.Fatal(err)
	}
	r.client = client
	r.apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: hooks}}")
	r.agent = startProduct(t, r.Cluster, r.ControlPlane, "agent", "sources: [{kubernetes: {kubeconfig: "+r.Admin+"}}]\n")
	return r
}

func (r *hookRig) apply(t *testing.T, yaml string) {
	t.Helper()
	if err := r.Apply(yaml); err != nil {
		t.Fatal(err)
	}
}

// works waits until the API server can call the hook.
func (r *hookRig) works(t *testing.T, h *hook) {
	t.Helper()
	cluster.Eventually(t, readyTime, func() error { return h.call(t.Context(), r.client) })
}

// agrees probes a target until tlsprobe says this, "" for all is well.
func (r *hookRig) agrees(t *testing.T, target, reason string) {
	t.Helper()
	status := "failing"
	if reason == "" {
		status = "ok"
	}
	cluster.Eventually(t, readyTime, func() error {
		v, err := r.agent.probe(target)
		if err == nil && (v.Status != status || v.Reason != reason) {
			err = fmt.Errorf("tlsprobe's verdict is %s %s, want %s %s: %+v", v.Status, v.Reason, status, reason, v)
		}
		return err
	})
}

// means wants the product to read this reason from what the API server said.
func means(t *testing.T, said, reason string) {
	t.Helper()
	t.Logf("the API server: %s", said)
	if got, err := explain(said); err != nil || got != reason {
		t.Errorf("these words stand for the reason %q (%v), want %s", got, err, reason)
	}
}

func newHookCAs(t *testing.T) *hookCAs {
	t.Helper()
	var cas []*cluster.CA
	for _, name := range []string{"hooks-ca", "other-ca", "hooks-ca"} {
		ca, err := cluster.NewCA(name)
		if err != nil {
			t.Fatal(err)
		}
		cas = append(cas, ca)
	}
	return &hookCAs{right: cas[0], other: cas[1], renewed: cas[2]}
}
