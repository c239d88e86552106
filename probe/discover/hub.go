package discover

// ParseHub is [Parse] for the configuration of a hub, which finds targets in a
// cluster and probes none. What belongs into the configuration of agents is an
// error: there it would have an effect.
func ParseHub(file string, data []byte) (*Config, error) {
	return parse(file, data, checkHub)
}

func checkHub(d *decoder, g *grammar) {
	for _, key := range []string{"targets", "modules", "probe_endpoint"} {
		if d.at[key] != nil && !isNull(d.at[key]) {
			d.failAt(key, "has no effect on a hub, which does not probe; write it into the configuration of the agents")
		}
	}
	first := ""
	for i := range g.Sources {
		path := indexed("sources", i)
		switch {
		case d.at[path+".http"] != nil:
			d.failAt(path+".http", "has no effect on a hub, which finds targets in a cluster; write it into the configuration of the agents")
		case d.at[path+".kubernetes"] == nil:
			// of no kind that there is, which was told of
		case first != "":
			d.failAt(path, "is a second cluster beside %s%s; run a hub for each", first, alsoAt(d.at[first]))
		default:
			first = path
		}
	}
	if len(g.Sources) == 0 && !d.bad["sources"] {
		d.failAt("sources", "is missing; write the cluster that the hub is for: sources: [{kubernetes: {}}]")
	}
}

// Cluster returns the Kubernetes source of the configuration of a hub.
func (c *Config) Cluster() *KubernetesSource {
	for _, source := range c.Sources {
		if s, ok := source.(*KubernetesSource); ok {
			return s
		}
	}
	return nil
}
