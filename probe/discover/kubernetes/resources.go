package kubernetes

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A resource is a kind of object to watch, in version v1 of its group.
type resource struct {
	group, kind, name string // name: "ingresses"
	custom            bool   // a CRD brings it
	selector          string // of fields; "": all objects
}

func (r resource) String() string {
	return schema.GroupResource{Group: r.group, Resource: r.name}.String()
}

// watchAll prepares to watch everything that targets are made of. The shipped
// ClusterRole allows exactly this.
func (s *Source) watchAll(c *clients) error {
	var (
		admission = admissionv1.GroupName
		network   = networkingv1.GroupName
		gateways  = "gateway.networking.k8s.io"
		strip     = newStripper(&s.config)
		w         = &watching{source: s, clients: c}
	)
	enlist(w, resource{group: admission, kind: "ValidatingWebhookConfiguration", name: "validatingwebhookconfigurations"},
		&admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfigurationList{}, strip.validating,
		func(o *objects) *[]*admissionv1.ValidatingWebhookConfiguration { return &o.validatingWebhooks })
	enlist(w, resource{group: admission, kind: "MutatingWebhookConfiguration", name: "mutatingwebhookconfigurations"},
		&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfigurationList{}, strip.mutating,
		func(o *objects) *[]*admissionv1.MutatingWebhookConfiguration { return &o.mutatingWebhooks })
	enlistOwn(w, resource{group: "apiextensions.k8s.io", kind: "CustomResourceDefinition", name: "customresourcedefinitions"},
		strip.crd, func(o *objects) *[]*customResourceDefinition { return &o.crds })
	enlistOwn(w, resource{group: "apiregistration.k8s.io", kind: "APIService", name: "apiservices"},
		strip.apiService, func(o *objects) *[]*apiService { return &o.apiServices })
	enlist(w, resource{group: corev1.GroupName, kind: "Node", name: "nodes"},
		&corev1.Node{}, &corev1.NodeList{}, strip.node,
		func(o *objects) *[]*corev1.Node { return &o.nodes })
	enlist(w, resource{group: certificatesv1.GroupName, kind: "CertificateSigningRequest", name: "certificatesigningrequests",
		selector: fields.OneTermEqualSelector("spec.signerName", certificatesv1.KubeletServingSignerName).String()},
		&certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequestList{}, strip.request,
		func(o *objects) *[]*certificatesv1.CertificateSigningRequest { return &o.requests })
	enlist(w, resource{group: corev1.GroupName, kind: "Service", name: "services"},
		&corev1.Service{}, &corev1.ServiceList{}, strip.service,
		func(o *objects) *[]*corev1.Service { return &o.services })
	enlist(w, resource{group: discoveryv1.GroupName, kind: "EndpointSlice", name: "endpointslices"},
		&discoveryv1.EndpointSlice{}, &discoveryv1.EndpointSliceList{}, strip.slice,
		func(o *objects) *[]*discoveryv1.EndpointSlice { return &o.slices })
	enlist(w, resource{group: network, kind: "Ingress", name: "ingresses"},
		&networkingv1.Ingress{}, &networkingv1.IngressList{}, strip.ingress,
		func(o *objects) *[]*networkingv1.Ingress { return &o.ingresses })
	enlist(w, resource{group: network, kind: "IngressClass", name: "ingressclasses"},
		&networkingv1.IngressClass{}, &networkingv1.IngressClassList{}, strip.ingressClass,
		func(o *objects) *[]*networkingv1.IngressClass { return &o.ingressClasses })
	enlistOwn(w, resource{group: gateways, kind: "Gateway", name: "gateways", custom: true},
		strip.gateway, func(o *objects) *[]*gateway { return &o.gateways })
	enlistOwn(w, resource{group: gateways, kind: "HTTPRoute", name: "httproutes", custom: true},
		strip.httpRoute, func(o *objects) *[]*httpRoute { return &o.httpRoutes })
	enlistOwn(w, resource{group: "acme.cert-manager.io", kind: "Challenge", name: "challenges", custom: true},
		strip.challenge, func(o *objects) *[]*challenge { return &o.challenges })
	enlistOwn(w, resource{group: "security.istio.io", kind: "PeerAuthentication", name: "peerauthentications", custom: true},
		strip.peerAuthentication, func(o *objects) *[]*peerAuthentication { return &o.peerAuthentications })
	return w.err
}

// A watching collects the watchers of a source, and the first error.
type watching struct {
	source  *Source
	clients *clients
	err     error
}

// enlist prepares to watch a resource: given an empty object and an empty list,
// what to take away from each object, and where what is left belongs.
func enlist[P apiObject](w *watching, r resource, object P, list runtime.Object, strip func(P) bool, field func(*objects) *[]P) {
	client, err := w.clients.of(r, object, list)
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return
	}
	s := &store[P]{strip: strip, field: field, changed: w.source.changed}
	one := &watcher{
		resource: r,
		example:  object,
		client:   client,
		store:    s,
		report:   w.source.report,
		status:   ResourceStatus{State: Starting},
	}
	s.listed = one.listed
	w.source.watchers = append(w.source.watchers, one)
}

// enlistOwn does it for a kind of crds.go.
func enlistOwn[Spec, Status any](w *watching, r resource, strip func(*object[Spec, Status]) bool, field func(*objects) *[]*object[Spec, Status]) {
	enlist(w, r, &object[Spec, Status]{}, &objectList[Spec, Status]{}, strip, field)
}
