package kubernetes

import (
	"slices"

	"tlsprobe/probe"
)

// maxEndpoints is how many endpoints of a Service, or addresses of an Ingress, a node
// probes at least. If there are more, each node probes others, and all of them
// together every one.
const maxEndpoints = 10

// A wideTarget is one with more endpoints than each node should probe.
type wideTarget struct {
	whole     *probe.Target // with the routes that every node takes
	endpoints ring[probe.Route]
	nodes     ring[string]
}

// shareOut has the routes to the endpoints of one target shared out among the nodes
// if there are very many.
func (b *builder) shareOut(routes []probe.Route) {
	if len(routes) <= maxEndpoints {
		return
	}
	for _, r := range routes {
		b.spread[r] = true
	}
}

// widen makes a wideTarget of t if there is cause to.
func (b *builder) widen(t *probe.Target) (w wideTarget, ok bool) {
	var common, endpoints []probe.Route
	for _, r := range t.Routes {
		if b.spread[r] {
			endpoints = append(endpoints, r)
		} else {
			common = append(common, r)
		}
	}
	if len(endpoints) <= maxEndpoints {
		return wideTarget{}, false
	}
	t.Routes = common
	return wideTarget{t, newRing(endpoints, func(r probe.Route) string { return r.Address }), b.nodes}, true
}

// of returns the target as the node probes it: with the endpoints from the node's
// position to the next node's, so that none is left out, and at least maxEndpoints.
func (w *wideTarget) of(node string) *probe.Target {
	here := positionOf(node)
	there := here + 1 // without nodes, nobody knows how many share the work
	if len(w.nodes) > 0 {
		there = w.nodes[w.nodes.at(here+1)%len(w.nodes)].position
	}
	first, n := w.endpoints.arc(here, there)
	t := *w.whole
	t.Routes = slices.Concat(t.Routes, w.endpoints.take(first, max(n, maxEndpoints)))
	return &t
}
