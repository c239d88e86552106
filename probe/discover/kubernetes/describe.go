package kubernetes

import (
	"path"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// describe names an object for people: "Ingress shop/web". What a list holds does
// not say its own kind.
func describe(of metav1.Object) string {
	return kindOf(of) + " " + path.Join(of.GetNamespace(), of.GetName())
}

func kindOf(of metav1.Object) string {
	switch of.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		return "ValidatingWebhookConfiguration"
	case *admissionv1.MutatingWebhookConfiguration:
		return "MutatingWebhookConfiguration"
	case *customResourceDefinition:
		return "CustomResourceDefinition"
	case *apiService:
		return "APIService"
	case *corev1.Node:
		return "Node"
	case *corev1.Service:
		return "Service"
	case *networkingv1.Ingress:
		return "Ingress"
	case *gateway:
		return "Gateway"
	case *httpRoute:
		return "HTTPRoute"
	case *challenge:
		return "Challenge"
	case *certificatesv1.CertificateSigningRequest:
		return "CertificateSigningRequest"
	}
	return "object"
}
