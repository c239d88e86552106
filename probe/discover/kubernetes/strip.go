package kubernetes

import (
	"bytes"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A stripper takes away from objects what no target is made of, so that neither
// memory nor work is spent on it: a change of what is taken away is none. Each of
// its methods reports whether the object is of any use.
type stripper struct {
	labels []string // those that the configuration selects by
}

func newStripper(c *Config) stripper {
	var s stripper
	if c.Selector != nil {
		requirements, _ := c.Selector.Requirements()
		for _, r := range requirements {
			s.labels = append(s.labels, r.Key())
		}
	}
	return s
}

// ownAnnotations is what the names of our annotations begin with.
const ownAnnotations = "tlsprobe.io/"

// meta keeps the names, our annotations, and of the labels and the other
// annotations those that are used.
func (s stripper) meta(t *metav1.TypeMeta, m *metav1.ObjectMeta, annotations ...string) {
	*t = metav1.TypeMeta{}
	*m = metav1.ObjectMeta{
		Namespace: m.Namespace,
		Name:      m.Name,
		Labels:    only(m.Labels, func(key string) bool { return slices.Contains(s.labels, key) }),
		Annotations: only(m.Annotations, func(key string) bool {
			return strings.HasPrefix(key, ownAnnotations) || slices.Contains(annotations, key)
		}),
	}
}

// with returns a stripper that keeps more labels.
func (s stripper) with(labels ...string) stripper {
	s.labels = slices.Concat(s.labels, labels)
	return s
}

// only returns the entries whose keys are wanted, nil without any.
func only(from map[string]string, wanted func(key string) bool) map[string]string {
	var kept map[string]string
	for key, value := range from {
		if wanted(key) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

func (s stripper) validating(c *admissionv1.ValidatingWebhookConfiguration) bool {
	s.meta(&c.TypeMeta, &c.ObjectMeta)
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		*w = admissionv1.ValidatingWebhook{
			Name:           w.Name,
			ClientConfig:   w.ClientConfig,
			Rules:          stripRules(w.Rules),
			FailurePolicy:  w.FailurePolicy,
			TimeoutSeconds: w.TimeoutSeconds,
		}
		if i > 0 {
			share(&w.ClientConfig.CABundle, c.Webhooks[i-1].ClientConfig.CABundle)
		}
	}
	return true
}

func (s stripper) mutating(c *admissionv1.MutatingWebhookConfiguration) bool {
	s.meta(&c.TypeMeta, &c.ObjectMeta)
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		*w = admissionv1.MutatingWebhook{
			Name:           w.Name,
			ClientConfig:   w.ClientConfig,
			Rules:          stripRules(w.Rules),
			FailurePolicy:  w.FailurePolicy,
			TimeoutSeconds: w.TimeoutSeconds,
		}
		if i > 0 {
			share(&w.ClientConfig.CABundle, c.Webhooks[i-1].ClientConfig.CABundle)
		}
	}
	return true
}

func stripRules(all []admissionv1.RuleWithOperations) []admissionv1.RuleWithOperations {
	for i := range all {
		all[i].APIVersions, all[i].Scope = nil, nil
	}
	return all
}

// share makes one of two equal bundles: the webhooks of a configuration mostly have
// the same, of some kilobytes.
func share(bundle *[]byte, with []byte) {
	if bytes.Equal(*bundle, with) {
		*bundle = with
	}
}

func (s stripper) crd(c *customResourceDefinition) bool {
	s.meta(&c.TypeMeta, &c.ObjectMeta)
	convert := c.Spec.Conversion
	if convert == nil || convert.Webhook == nil {
		c.Spec = crdSpec{}
		return false
	}
	return true
}

// apiService has no use for those that the API server itself serves.
func (s stripper) apiService(a *apiService) bool {
	s.meta(&a.TypeMeta, &a.ObjectMeta)
	return a.Spec.Service != nil
}

func (s stripper) node(n *corev1.Node) bool {
	s.meta(&n.TypeMeta, &n.ObjectMeta)
	n.Spec = corev1.NodeSpec{}
	n.Status = corev1.NodeStatus{Addresses: n.Status.Addresses, DaemonEndpoints: n.Status.DaemonEndpoints}
	return true
}

// request keeps one byte of the certificate, which says that there is one.
func (s stripper) request(r *certificatesv1.CertificateSigningRequest) bool {
	created := r.CreationTimestamp
	s.meta(&r.TypeMeta, &r.ObjectMeta)
	r.CreationTimestamp = created
	r.Spec = certificatesv1.CertificateSigningRequestSpec{Username: r.Spec.Username, SignerName: r.Spec.SignerName}
	if c := &r.Status.Certificate; len(*c) > 1 {
		*c = slices.Clone((*c)[:1])
	}
	return true
}

func (s stripper) service(v *corev1.Service) bool {
	owners := v.OwnerReferences
	s.with(solverLabels()...).meta(&v.TypeMeta, &v.ObjectMeta)
	v.OwnerReferences = owners
	for i, o := range owners {
		owners[i] = metav1.OwnerReference{Kind: o.Kind, Name: o.Name, UID: o.UID}
	}
	v.Spec = corev1.ServiceSpec{
		Type:         v.Spec.Type,
		ClusterIP:    v.Spec.ClusterIP,
		ExternalName: v.Spec.ExternalName,
		Ports:        v.Spec.Ports,
		Selector:     v.Spec.Selector,

		InternalTrafficPolicy: v.Spec.InternalTrafficPolicy,
	}
	for i := range v.Spec.Ports {
		v.Spec.Ports[i].NodePort = 0
	}
	v.Status = corev1.ServiceStatus{}
	return true
}

func (s stripper) slice(e *discoveryv1.EndpointSlice) bool {
	service := e.Labels[discoveryv1.LabelServiceName]
	s.meta(&e.TypeMeta, &e.ObjectMeta)
	e.Labels = map[string]string{discoveryv1.LabelServiceName: service}
	for i, end := range e.Endpoints {
		if end.TargetRef != nil {
			*end.TargetRef = corev1.ObjectReference{Kind: end.TargetRef.Kind, Name: end.TargetRef.Name}
		}
		e.Endpoints[i] = discoveryv1.Endpoint{
			Addresses:  end.Addresses,
			Conditions: end.Conditions,
			TargetRef:  end.TargetRef,
			NodeName:   end.NodeName,
		}
	}
	return service != ""
}

// ingress has no use for those that cert-manager makes for a challenge, which has a
// target of its own: the hosts would come and go with it.
func (s stripper) ingress(i *networkingv1.Ingress) bool {
	s.with(labelSolver).meta(&i.TypeMeta, &i.ObjectMeta, ingressAnnotations()...)
	for k := range i.Spec.Rules {
		i.Spec.Rules[k].HTTP = nil
	}
	i.Spec.DefaultBackend = nil
	for k := range i.Status.LoadBalancer.Ingress {
		i.Status.LoadBalancer.Ingress[k].Ports = nil
	}
	return i.Labels[labelSolver] == ""
}

func (s stripper) ingressClass(c *networkingv1.IngressClass) bool {
	s.meta(&c.TypeMeta, &c.ObjectMeta, networkingv1.AnnotationIsDefaultIngressClass)
	c.Spec.Parameters = nil
	return true
}

func (s stripper) gateway(g *gateway) bool {
	s.meta(&g.TypeMeta, &g.ObjectMeta)
	return true
}

// httpRoute has no use for those that cert-manager makes either.
func (s stripper) httpRoute(r *httpRoute) bool {
	s.with(labelSolver).meta(&r.TypeMeta, &r.ObjectMeta)
	return r.Labels[labelSolver] == ""
}

func (s stripper) challenge(c *challenge) bool {
	uid, created := c.UID, c.CreationTimestamp
	s.meta(&c.TypeMeta, &c.ObjectMeta)
	c.UID, c.CreationTimestamp = uid, created
	return true
}

func (s stripper) peerAuthentication(p *peerAuthentication) bool {
	created := p.CreationTimestamp
	s.meta(&p.TypeMeta, &p.ObjectMeta)
	p.CreationTimestamp = created
	return true
}
