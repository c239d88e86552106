package test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tlsprobe/deploy/test/cluster"
)

const markerPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

// marker is an object whose target tells that the hub has seen the cluster since.
func marker(name string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
  - name: %[1]s.test.example
    clientConfig: {url: "https://10.77.0.31/"}
    rules: [{apiGroups: [test.example], apiVersions: [v1], resources: [markers], operations: [CREATE]}]
    sideEffects: None
    admissionReviewVersions: [v1]
`, name)
}

func markerTarget(name string) string { return "webhook/" + name + "/" + name + ".test.example" }

// TestOutages takes the API away from the hub in three ways. Each time the agent
// keeps its targets, and what has changed meanwhile arrives when it is over.
func TestOutages(t *testing.T) {
	c := startCluster(t, cluster.Config{Name: "outage"})
	hub := startHub(t, c)
	agent := startAgent(t, c, hub, "node-a")
	mustApply(t, c, marker("first"))
	agent.knows(t, markerTarget("first"), "")

	t.Run("connections are cut", func(t *testing.T) {
		cut(t, hub.host)
		change(t, c, "first", "second")
		agent.changes(t, "first", "second")
	})
	t.Run("the API server is away", func(t *testing.T) {
		c.KillAPIServer()
		cluster.Eventually(t, readyTime, func() error {
			states, err := hub.watchStates()
			if err == nil && len(states["failing"]) == 0 {
				err = fmt.Errorf("the hub has not noticed: %v", states)
			}
			return err
		})
		if _, err := hub.get("/-/ready"); err != nil {
			t.Errorf("a hub that has a list is not ready any more: %v", err)
		}
		agent.knows(t, markerTarget("second"), "")
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		change(t, c, "second", "third")
		agent.changes(t, "second", "third")
	})
	t.Run("the resource version has expired", func(t *testing.T) {
		known := version(t, c)
		c.KillAPIServer()
		setLink(t, hub.host, false)
		restart(t, c)
		change(t, c, "third", "fourth")
		if err := c.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.KillAPIServer() // which remembers some time of changes itself
		restart(t, c)
		expired(t, c, known)
		setLink(t, hub.host, true)
		agent.changes(t, "third", "fourth")
	})
}

// cut ends the connections to the API server, at both ends.
func cut(t *testing.T, host *cluster.Host) {
	t.Helper()
	out, err := host.Command(t.Context(), "ss", "--no-header", "--tcp", "--kill", "dst", "10.77.0.10", "dport", "=", "6443").CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Fatalf("no connection was cut: %v: %s", err, out)
	}
}

// change takes one marker away and brings another.
func change(t *testing.T, c *cluster.Cluster, from, to string) {
	t.Helper()
	mustApply(t, c, marker(to))
	if err := c.Delete(marker(from)); err != nil {
		t.Fatal(err)
	}
}

// changes waits until the agent has the one marker, and not the other.
func (p *product) changes(t *testing.T, from, to string) {
	t.Helper()
	p.knows(t, markerTarget(to), "")
	p.forgets(t, markerTarget(from))
}

// version returns the present resource version.
func version(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.ResourceVersion
}

// expired wants that nobody can watch from this version on.
func expired(t *testing.T, c *cluster.Cluster, version string) {
	t.Helper()
	out, err := c.Kubectl("get", "--raw", markerPath+"?watch=1&timeoutSeconds=1&resourceVersion="+version)
	if said := fmt.Sprint(out, err); !strings.Contains(said, "too old resource version") && !strings.Contains(said, "Expired") {
		t.Fatalf("the resource version %q is still good: %s", version, said)
	}
}

func restart(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func setLink(t *testing.T, host *cluster.Host, up bool) {
	t.Helper()
	if err := host.SetLink(up); err != nil {
		t.Fatal(err)
	}
}
