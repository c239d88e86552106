package lab

import "net/url"

// spiffe returns the identity of a workload in a mesh, as Istio writes it.
func spiffe(namespace, serviceAccount string) []*url.URL {
	return []*url.URL{{Scheme: "spiffe", Host: "cluster.local", Path: "/ns/" + namespace + "/sa/" + serviceAccount}}
}
