package test

import (
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

func TestIncident5KubeletWithoutIP(t *testing.T) {
	r := nodes(t)
	kubelet := "kubelet/" + r.b.Name
	v := r.judges(t, r.a, kubelet, "missing_ip_san", "self_signed")
	if said := v.Attempts[0].Problems; !strings.Contains(said[0].Received+said[1].Received, r.b.Name) {
		t.Errorf("which names the certificate has instead is not said: %+v", said)
	}

	restart := func(settings cluster.KubeletSettings) {
		t.Helper()
		if err := r.b.StartKubelet(t.Context(), settings); err != nil {
			t.Fatal(err)
		}
		if err := r.WaitForNodes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { restart(cluster.KubeletSettings{}) })
	restart(cluster.KubeletSettings{TLSBootstrap: true})
	v = r.judges(t, r.a, kubelet, "alert_internal_error", "csr_pending")
	request := r.pendingRequest(t)
	if !strings.Contains(v.Attempts[0].Problems[0].Detail, request) {
		t.Errorf("%+v, want the request %s to be named", v.Attempts[0].Problems, request)
	}

	if err := r.command("certificate", "approve", request); err != nil {
		t.Fatal(err)
	}
	for _, from := range r.Nodes {
		r.judges(t, from, kubelet)
	}
	r.quiet(t, "the kubelet", r.b.Kubelet.Output())
}

// pendingRequest waits for a kubelet's request for a serving certificate, and
// returns its name.
func (r *realCluster) pendingRequest(t *testing.T) (name string) {
	t.Helper()
	cluster.Eventually(t, readyTime, func() (err error) {
		name, err = r.Kubectl("get", "certificatesigningrequests", "--field-selector=spec.signerName=kubernetes.io/kubelet-serving", "--output=jsonpath={.items[0].metadata.name}")
		return err
	})
	return name
}
