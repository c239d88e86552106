package kubernetes

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// What controllers are told by annotations.
const (
	annotationPassthrough   = "nginx.ingress.kubernetes.io/ssl-passthrough"
	annotationForceRedirect = "nginx.ingress.kubernetes.io/force-ssl-redirect"
	annotationListenPorts   = "alb.ingress.kubernetes.io/listen-ports" // as [{"HTTPS": 443}]
	annotationRouterTLS     = "traefik.ingress.kubernetes.io/router.tls"
	annotationTermination   = "route.openshift.io/termination" // edge, passthrough or reencrypt
)

// redirectAnnotations are those whose "false" turns off the redirect from http to
// https, or http itself: nothing is to be said of it then.
var redirectAnnotations = []string{
	"nginx.ingress.kubernetes.io/ssl-redirect",
	"nginx.org/redirect-to-https",
	"haproxy.org/ssl-redirect",
	"haproxy-ingress.github.io/ssl-redirect",
	"ingress.kubernetes.io/ssl-redirect",
	"kubernetes.io/ingress.allow-http",
}

// certificateAnnotations are those that name a certificate which a load balancer
// has, so that TLS ends there for all hosts, whatever spec.tls says.
var certificateAnnotations = []string{
	"alb.ingress.kubernetes.io/certificate-arn",
	"appgw.ingress.kubernetes.io/appgw-ssl-certificate",
	"ingress.gcp.kubernetes.io/pre-shared-cert",
	"networking.gke.io/managed-certificates",
}

// ingressAnnotations are those of others that are read.
func ingressAnnotations() []string {
	return slices.Concat(redirectAnnotations, certificateAnnotations, []string{
		annotationPassthrough, annotationForceRedirect, annotationClass, annotationListenPorts, annotationRouterTLS, annotationTermination,
	})
}

// endsTLS reports whether annotations have TLS ended for all hosts of the Ingress.
func endsTLS(i *networkingv1.Ingress) bool {
	return slices.ContainsFunc(certificateAnnotations, func(key string) bool { return i.Annotations[key] != "" }) ||
		strings.Contains(i.Annotations[annotationListenPorts], `"HTTPS"`) ||
		i.Annotations[annotationRouterTLS] == "true" ||
		i.Annotations[annotationTermination] != ""
}

// passesThrough reports whether the backend ends TLS.
func passesThrough(i *networkingv1.Ingress) bool {
	return i.Annotations[annotationPassthrough] == "true" || i.Annotations[annotationTermination] == "passthrough"
}

// servesPlain reports whether somebody has said that plain http need not lead to
// https.
func servesPlain(i *networkingv1.Ingress) bool {
	if i.Annotations[annotationExpect] == "permissive" {
		return true
	}
	return i.Annotations[annotationForceRedirect] != "true" &&
		slices.ContainsFunc(redirectAnnotations, func(key string) bool { return i.Annotations[key] == "false" })
}
