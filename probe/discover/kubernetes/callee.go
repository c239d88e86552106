package kubernetes

import (
	"maps"
	"net"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

// A callee is whom the API server calls: a webhook or an aggregated API.
type callee struct {
	at         place // the field that holds the others
	url        *string
	service    *serviceReference // nil if there is a URL
	caBundle   []byte
	unverified bool // the API server takes any certificate
}

// callee makes a target of whom the API server calls, judged as the API server
// judges: SNI and the name are those of the Service, and only its own caBundle is
// trusted. Nothing is sent, as a request might have effects. nil says that there is
// nothing to probe: no node can tell, or the namespace of the Service is excluded.
// Who leaves out one namespace alone does not want to hear of what runs in it; who
// wants one alone still depends on the webhooks that run elsewhere. To the labels
// come those of the Service.
func (b *builder) callee(name string, c callee, own map[string]string) *probe.Target {
	t := &probe.Target{Name: name, Module: b.verified}
	all := maps.Clone(own)
	switch {
	case c.service != nil && b.excludes(c.service.Namespace):
		return nil
	case c.service != nil:
		b.throughService(t, c.at, c.service)
		all["namespace"], all["service"] = c.service.Namespace, c.service.Name
	case c.url != nil && throughURL(t, *c.url):
	default:
		return nil
	}
	t.Labels = probe.LabelsOf(all)
	switch {
	case c.unverified:
		t.Module = b.unverified
	case len(c.caBundle) > 0:
		b.trust(t, c.at.in("caBundle"), c.caBundle)
	default:
		t.Trust = probe.Trust{System: true}
		if c.service != nil { // a URL may well lead to a public host
			t.Faults = append(t.Faults, c.at.in("caBundle").fault("ca_bundle_missing",
				"is empty: the API server judges by its system's roots, which sign nothing for %s", t.ServerName))
		}
	}
	return t
}

// throughService leads t to a Service, as the field names it.
func (b *builder) throughService(t *probe.Target, at place, to *serviceReference) {
	port := int32(443)
	if to.Port != nil {
		port = *to.Port
	}
	t.ServerName = to.Name + "." + to.Namespace + ".svc"
	t.Address = hostPort(t.ServerName, port)
	behind := b.backend(at.in("service"), to.Namespace, to.Name, intstr.FromInt32(port))
	t.Routes, t.Faults, t.Undialled = behind.routes, behind.faults, behind.undialled
	if s := b.services[to.Namespace+"/"+to.Name]; s != nil && s.Spec.ClusterIP == corev1.ClusterIPNone {
		t.Faults = append(t.Faults, at.in("service").fault("headless_service", "names Service %s, which has no ClusterIP", nameOf(s)))
	}
}

// throughURL leads t to the host of a URL. It does not to the API server's own
// machine: an agent's loopback is another. Amazon's clusters come with such webhooks.
func throughURL(t *probe.Target, text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host, port := u.Hostname(), u.Port()
	if host == "" || isLoopback(host) {
		return false
	}
	if port == "" {
		port = "443"
	}
	t.Address = net.JoinHostPort(host, port)
	return true
}
