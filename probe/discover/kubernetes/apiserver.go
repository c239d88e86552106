package kubernetes

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

// The Service by which every pod reaches the API server. The API server makes it,
// and its EndpointSlices.
const apiServerNamespace, apiServerService = "default", "kubernetes"

// apiServer makes a target of the API servers, one by one, as pods reach them.
func (b *builder) apiServer() {
	s := b.services[apiServerNamespace+"/"+apiServerService]
	if s == nil || len(s.Spec.Ports) == 0 || !b.wants(kindAPIServer, s) {
		return
	}
	port := s.Spec.Ports[0].Port
	behind := b.backend(at(s, "spec.ports[0]"), s.Namespace, s.Name, intstr.FromInt32(port))
	name := hostOf(s)
	b.add(s, &probe.Target{
		Name:       kindAPIServer + "/" + s.Name,
		Address:    hostPort(name, port),
		ServerName: name,
		Module:     b.verified,
		Trust:      b.clusterTrust(),
		Labels: probe.LabelsOf(map[string]string{
			"kind":      kindAPIServer,
			"namespace": s.Namespace,
			"service":   s.Name,
		}),
		Routes:    behind.routes,
		Faults:    behind.faults,
		Undialled: behind.undialled,
	})
}

// clusterTrust is the CA that signs for API servers and kubelets.
func (b *builder) clusterTrust() probe.Trust {
	if file := b.config.ClusterCAFile; file != "" {
		return probe.Trust{File: file}
	}
	return probe.Trust{PEM: b.objects.clusterCA}
}
