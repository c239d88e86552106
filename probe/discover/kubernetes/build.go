package kubernetes

import (
	"slices"
	"time"

	"tlsprobe/probe"
)

// build makes the targets of one state of the cluster.
func build(c *Config, o *objects) *Cluster {
	b := newBuilder(c, o)
	slices.SortFunc(b.targets, byName)
	return &Cluster{
		Nodes:  len(o.nodes),
		Common: b.targets,
		Until:  b.until,
		wide:   b.wide,
	}
}

// A Cluster is the targets that one state of the cluster makes. It is read-only.
type Cluster struct {
	Nodes  int             // how many there are
	Common []*probe.Target // the same for every node, in order of their names
	Until  time.Time       // when the same objects make other targets, as a caBundle expires; zero: never

	wide []wideTarget
}

// Own returns the targets that the node has beside the common ones, in order of
// their names.
func (c *Cluster) Own(node string) []*probe.Target {
	var own []*probe.Target
	for i := range c.wide {
		own = append(own, c.wide[i].of(node))
	}
	slices.SortFunc(own, byName)
	return own
}
