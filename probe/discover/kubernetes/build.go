package kubernetes

import (
	"slices"
	"time"

	"tlsprobe/probe"
)

// build makes the targets of one state of the cluster.
func build(c *Config, o *objects) *Cluster {
	b := newBuilder(c, o)
	b.webhooks()
	b.conversions()
	b.apiServices()
	b.apiServer()
	b.ingresses()
	b.gateways()
	b.receivers()
	b.challenges()
	b.annotatedServices()
	kubelets := b.kubelets()
	slices.SortFunc(b.targets, byName)
	return &Cluster{
		Nodes:  len(o.nodes),
		Common: b.targets,
		Until:  b.until,

		wide:       b.wide,
		kubelets:   newRing(kubelets, func(t *probe.Target) string { return t.Labels.Get("node") }),
		neighbours: c.Neighbours,
	}
}

// A Cluster is the targets that one state of the cluster makes. It is read-only.
type Cluster struct {
	Nodes  int             // how many there are
	Common []*probe.Target // the same for every node, in order of their names
	Until  time.Time       // when the same objects make other targets, as a caBundle expires; zero: never

	wide       []wideTarget
	kubelets   ring[*probe.Target] // by the name of the node
	neighbours int
}

// Own returns the targets that the node has beside the common ones, in order of
// their names.
func (c *Cluster) Own(node string) []*probe.Target {
	own := c.kubeletsOf(node)
	for i := range c.wide {
		own = append(own, c.wide[i].of(node))
	}
	slices.SortFunc(own, byName)
	return own
}

// kubeletsOf returns the node's own kubelet, and those of the next nodes on the
// ring: so each is probed by as many nodes as it probes itself.
func (c *Cluster) kubeletsOf(node string) []*probe.Target {
	i, found := c.kubelets.find(node)
	n := c.neighbours
	if found {
		n++
	}
	return c.kubelets.take(i, n)
}
