package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
)

// clusterOf has n nodes.
func clusterOf(n, neighbours int) *Cluster {
	var nodes strings.Builder
	for i := range n {
		fmt.Fprintf(&nodes, "node-%d\n", i)
	}
	targets := make([]*probe.Target, n)
	for i, name := range strings.Fields(nodes.String()) {
		targets[i] = &probe.Target{Name: "kubelet/" + name, Labels: probe.Labels{{Name: "node", Value: name}}}
	}
	return &Cluster{Nodes: n, kubelets: newRing(targets, func(t *probe.Target) string { return t.Labels.Get("node") }), neighbours: neighbours}
}

// TestRing counts who probes whom: each node its own kubelet and the neighbours',
// and each kubelet is probed by as many.
func TestRing(t *testing.T) {
	const neighbours = 5
	for _, n := range []int{1, 2, neighbours, neighbours + 1, neighbours + 2, 5000} {
		c := clusterOf(n, neighbours)
		in := map[string]int{}
		want := min(n, neighbours+1)
		for i := range n {
			node := fmt.Sprintf("node-%d", i)
			own := namesOfTargets(c.Own(node))
			if len(own) != want || !slices.Contains(own, "kubelet/"+node) || !slices.IsSorted(own) || len(slices.Compact(own)) != want {
				t.Errorf("of %d nodes %s probes %v", n, node, own)
			}
			for _, name := range own {
				in[name]++
			}
		}
		for name, times := range in {
			if times != want {
				t.Errorf("of %d nodes %d probe %s, want %d", n, times, name, want)
			}
		}
		if len(in) != n {
			t.Errorf("of %d kubelets %d are probed", n, len(in))
		}
	}
}

// TestRingIsStable has a node come: it takes one place in the lists of its
// neighbours, and all others are as they were.
func TestRingIsStable(t *testing.T) {
	const n, neighbours = 200, 5
	before, after := clusterOf(n, neighbours), clusterOf(n+1, neighbours)
	changed := 0
	for i := range n {
		node := fmt.Sprintf("node-%d", i)
		was, is := namesOfTargets(before.Own(node)), namesOfTargets(after.Own(node))
		if slices.Equal(was, is) {
			continue
		}
		changed++
		stayed := slices.DeleteFunc(slices.Clone(is), func(name string) bool { return !slices.Contains(was, name) })
		if len(stayed) != neighbours {
			t.Errorf("%s probes %v instead of %v", node, is, was)
		}
	}
	if changed != neighbours {
		t.Errorf("one node more changes the lists of %d, want %d", changed, neighbours)
	}
}

// TestRingOfAStranger asks for a node that is none, or has no kubelet to probe.
func TestRingOfAStranger(t *testing.T) {
	c := clusterOf(20, 5)
	if got := c.Own("elsewhere"); len(got) != 5 {
		t.Errorf("probes %v, want five kubelets", namesOfTargets(got))
	}
	if got := clusterOf(0, 5).Own("elsewhere"); len(got) != 0 {
		t.Errorf("probes %v without any kubelet", namesOfTargets(got))
	}
}

func namesOfTargets(targets []*probe.Target) []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}
