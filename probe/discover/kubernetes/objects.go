package kubernetes

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// objects is what is known of the cluster at one moment, in order of namespaces
// and names. It is read-only, and stripped of what no target is made of: strip.go
// says what is left.
type objects struct {
	at        time.Time // the moment
	clusterCA string    // PEM, by which the connection to the API is judged; "": the system's roots

	validatingWebhooks  []*admissionv1.ValidatingWebhookConfiguration
	mutatingWebhooks    []*admissionv1.MutatingWebhookConfiguration
	crds                []*customResourceDefinition
	apiServices         []*apiService
	nodes               []*corev1.Node
	requests            []*certificatesv1.CertificateSigningRequest // for kubelets' serving certificates
	services            []*corev1.Service
	slices              []*discoveryv1.EndpointSlice
	ingresses           []*networkingv1.Ingress
	ingressClasses      []*networkingv1.IngressClass
	gateways            []*gateway
	httpRoutes          []*httpRoute
	challenges          []*challenge
	peerAuthentications []*peerAuthentication

	// unread holds the resources, as "ingressclasses", that the cluster does not
	// have or has not shown yet: that nothing is in them means nothing.
	unread map[string]bool
}
