package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

func TestLinkCut(t *testing.T) {
	r := nodes(t)
	kubelet := "kubelet/" + r.b.Name
	before := r.judges(t, r.a, kubelet, "missing_ip_san", "self_signed")
	if err := r.b.SetLink(false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plugIn(t, r) })
	cluster.Eventually(t, readyTime, func() error {
		v, err := r.probe(r.a, kubelet)
		if err == nil && (v.Status != "failing" || !slices.Contains([]string{"tcp_unreachable", "tcp_timeout"}, v.Reason)) {
			err = fmt.Errorf("the kubelet behind a cut link: %+v", v)
		}
		return err
	})
	r.judges(t, r.a, "apiserver/kubernetes")

	plugIn(t, r)
	r.judges(t, r.a, kubelet, before.Reasons...)
	r.judges(t, r.b, "apiserver/kubernetes")
}

// plugIn restores node-b's link and waits until the cluster has got over it.
func plugIn(t *testing.T, r *realCluster) {
	t.Helper()
	if err := r.b.SetLink(true); err != nil {
		t.Error(err)
	}
	cluster.Eventually(t, readyTime, func() error {
		return errors.Join(r.command("wait", "node", "--all", "--for=condition=Ready", "--timeout=1s"), r.rolledOut())
	})
}

func TestHubAway(t *testing.T) {
	r := nodes(t)
	lists := r.settled(t)
	scale := func(replicas int) {
		t.Helper()
		if err := r.command("--namespace=tlsprobe", "scale", "deployment/tlsprobe-hub", fmt.Sprintf("--replicas=%d", replicas)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		scale(2)
		if err := r.rolledOut(); err != nil {
			t.Error(err)
		}
	})
	scale(0)
	cluster.Eventually(t, readyTime, func() error {
		hubs, err := r.pods("app.kubernetes.io/component=hub")
		if err == nil && len(hubs) > 0 {
			err = fmt.Errorf("%d hubs are left", len(hubs))
		}
		return err
	})
	for _, n := range r.Nodes {
		if err := r.refresh(n); err != nil {
			t.Error(err)
		}
		r.judges(t, n, "apiserver/kubernetes")
	}
	r.sameTargets(t, lists, r.results(t))
	metrics, err := r.get(r.a, "/metrics")
	if err != nil || !regexp.MustCompile(`tlsprobe_source_last_update_timestamp_seconds\{source="http://tlsprobe-hub:9790/targets[^}]*\} \d`).MatchString(metrics) {
		t.Errorf("the age of the list is no metric: %v", err)
	}
}

// A result is what an agent found last at a target.
type result struct {
	Target, Status string
	Reasons        []string
}

// results returns what each agent found last, by node and target.
func (r *realCluster) results(t *testing.T) map[string]map[string]result {
	t.Helper()
	all := map[string]map[string]result{}
	for _, n := range r.Nodes {
		body, err := r.get(n, "/results")
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Items []result }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		all[n.Name] = map[string]result{}
		for _, item := range list.Items {
			all[n.Name][item.Target] = item
		}
	}
	return all
}

// settled returns the results when each agent has one for each of its targets, and
// the last cut of a link is no longer among them.
func (r *realCluster) settled(t *testing.T) (all map[string]map[string]result) {
	t.Helper()
	cluster.Eventually(t, readyTime, func() error {
		all = r.results(t)
		for node, results := range all {
			for target, found := range results {
				if found.Status == "pending" || strings.HasPrefix(strings.Join(found.Reasons, " "), "tcp_") {
					return fmt.Errorf("%s on %s: %+v", target, node, found)
				}
			}
			if len(results) == 0 {
				return fmt.Errorf("the agent on %s has no targets yet", node)
			}
		}
		return nil
	})
	return all
}

// sameTargets fails the test if an agent has lost a target.
func (r *realCluster) sameTargets(t *testing.T, before, after map[string]map[string]result) {
	t.Helper()
	for node, results := range before {
		for target := range results {
			if _, ok := after[node][target]; !ok {
				t.Errorf("the agent on %s has lost %s", node, target)
			}
		}
	}
}
