package discover_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/discover/kubernetes"
)

// clusterOf starts the API of a cluster that has these nodes and no other kind of
// object, and returns a kubeconfig for it.
func clusterOf(t *testing.T, nodes ...string) string {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch query := r.URL.Query(); {
		case r.URL.Path != "/api/v1/nodes":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		case query.Has("watch"):
			watchNodes(w, nodes)
			select {
			case <-ended.Done():
			case <-r.Context().Done():
			}
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}))
	t.Cleanup(func() { end(); server.Close() })
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}]}`, server.URL)
}

// watchNodes streams the list of nodes, and that it has ended.
func watchNodes(w http.ResponseWriter, nodes []string) {
	for i, name := range nodes {
		fmt.Fprintf(w, `{"type": "ADDED", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": %q, "resourceVersion": "1"},
			"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.%d"}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}}}`, name, i+1)
	}
	fmt.Fprint(w, `{"type": "BOOKMARK", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "2",
		"annotations": {"k8s.io/initial-events-end": "true"}}}}`)
	w.(http.Flusher).Flush()
}

// writeConfig writes the kubeconfig to the file that the returned configuration of
// an agent names.
func writeConfig(t *testing.T, kubeconfig string) (config, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("interval: 10s\nsources: [{kubernetes: {kubeconfig: %q, cluster_ca_file: /ca.crt, neighbours: 1, probes_per_second: 0.1}}]", file), file
}

// runCluster runs the Kubernetes source of the configuration for node-a until the
// test ends.
func runCluster(t *testing.T, c *discover.Config) (lists chan []*probe.Target, reports chan discover.SourceStatus, resources chan kubernetes.ResourceStatus) {
	t.Helper()
	s := c.Cluster()
	lists, reports, resources = make(chan []*probe.Target, 100), make(chan discover.SourceStatus, 100), make(chan kubernetes.ResourceStatus, 1000)
	s.Node, s.Pace = "node-a", func(base time.Duration, nodes int, perSecond float64) time.Duration {
		return base + time.Duration(float64(nodes)/perSecond)*time.Second
	}
	s.Report = func(s discover.SourceStatus) { reports <- s }
	s.Resource = func(r kubernetes.ResourceStatus) { resources <- r }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx, func(list []*probe.Target) { lists <- list }) }()
	t.Cleanup(func() {
		cancel()
		if err := next(t, done); err != nil {
			t.Errorf("ends with %v", err)
		}
	})
	return lists, reports, resources
}

// A Kubernetes source hands out what its cluster makes for its node, paced by all
// nodes, and says how it fares.
func TestKubernetesSource(t *testing.T) {
	yaml, _ := writeConfig(t, clusterOf(t, "node-a", "node-b", "node-c"))
	c := parse(t, yaml)
	lists, reports, resources := runCluster(t, c)
	next(t, lists) // of the file: nothing
	list := next(t, lists)
	own := slices.IndexFunc(list, func(t *probe.Target) bool { return t.Name == "kubelet/node-a" })
	if len(list) != 2 || own < 0 {
		t.Fatalf("targets %q, want the node's kubelet and a neighbour's", names(list))
	}
	kubelet := list[own]
	// Of the three nodes two probe each kubelet: itself and the one before.
	if want := (probe.Schedule{Interval: 30 * time.Second, Timeout: 5 * time.Second}); kubelet.Schedule != want {
		t.Errorf("schedule %+v, want %+v", kubelet.Schedule, want)
	}
	if kubelet.Trust.File != "/ca.crt" || kubelet.Address != "10.0.0.1:10250" {
		t.Errorf("target %+v", kubelet)
	}
	if status := next(t, reports); status.Err != nil || status.Targets != 2 || status.Source != "kubernetes" || status.LastSuccess.IsZero() {
		t.Errorf("status %+v", status)
	}
	synced := 0
	for _, r := range c.Cluster().Resources().Resources {
		switch {
		case r.State == kubernetes.Synced && r.Resource == "nodes" && r.Objects == 3:
			synced++
		case r.State != kubernetes.Absent:
			t.Errorf("resource %+v", r)
		}
	}
	if synced != 1 || len(resources) == 0 {
		t.Errorf("%d resources are synced, after %d reports", synced, len(resources))
	}
}

// Without a way to the API the source goes on looking for one; one that a reload
// replaces leaves its list behind.
func TestKubernetesSourceWaitsForTheAPI(t *testing.T) {
	yaml, file := writeConfig(t, clusterOf(t, "node-a"))
	old := parse(t, yaml)
	lists, _, _ := runCluster(t, old)
	next(t, lists)
	if got := names(next(t, lists)); !cmp.Equal(got, []string{"kubelet/node-a"}) {
		t.Fatalf("targets %q", got)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	elsewhere := parse(t, strings.Replace(yaml, file, file+".other", 1))
	elsewhere.Inherit(old)
	if status := elsewhere.Cluster().Status(); status.Targets != 0 || !status.LastSuccess.IsZero() {
		t.Errorf("another cluster: status %+v", status)
	}
	c := parse(t, yaml)
	c.Inherit(old)
	lists, reports, _ := runCluster(t, c)
	if got := names(next(t, lists)); !cmp.Equal(got, []string{"kubelet/node-a"}) {
		t.Errorf("after a reload: targets %q", got)
	}
	if status := next(t, reports); status.Err == nil || !strings.Contains(status.Err.Error(), file) || status.Targets != 1 || status.LastSuccess.IsZero() {
		t.Errorf("without a kubeconfig: status %+v", status)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	next(t, lists)
	if status := next(t, reports); status.Err != nil {
		t.Errorf("with a kubeconfig: status %+v", status)
	}
}

// What a hub's configuration may hold is what a hub uses.
func TestParseHub(t *testing.T) {
	c, err := discover.ParseHub("c.yaml", []byte("interval: 1m\ntargets: \nsources: [{kubernetes: }]"))
	if err != nil || c.Cluster() == nil {
		t.Errorf("%v", err)
	}
	_, err = discover.ParseHub("c.yaml", []byte(`modules: {a: {prober: tls}}
sources: [{http: {url: "http://a/"}}, {kubernetes: {}}, {kubernetes: {}}, {kubernetis: {}}]
`))
	want := `c.yaml:1:10: modules: has no effect on a hub, which does not probe; write it into the configuration of the agents
c.yaml:2:18: sources[0].http: has no effect on a hub, which finds targets in a cluster; write it into the configuration of the agents
c.yaml:2:57: sources[2]: is a second cluster beside sources[1] (line 2); run a hub for each
c.yaml:2:76: sources[3].kubernetis: unknown key; did you mean "kubernetes"?`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("errors differ (-want +got):\n%s", diff)
	}
}
