package kubernetes

import (
	"slices"
	"testing"
)

func TestIngressRedirect(t *testing.T) {
	for _, tt := range []struct{ annotations, want string }{
		{``, "ingress"},
		{`nginx.ingress.kubernetes.io/ssl-redirect: "true"`, "ingress"},
		{`nginx.ingress.kubernetes.io/ssl-redirect: "false"`, "ingress_https"},
		{`nginx.ingress.kubernetes.io/ssl-redirect: "false", nginx.ingress.kubernetes.io/force-ssl-redirect: "true"`, "ingress"},
		{`kubernetes.io/ingress.allow-http: "false"`, "ingress_https"},
		{`haproxy.org/ssl-redirect: "false"`, "ingress_https"},
		{`tlsprobe.io/expect: permissive`, "ingress_https"},
		{`nginx.ingress.kubernetes.io/ssl-passthrough: "true"`, "ingress_tls"},
		{`route.openshift.io/termination: passthrough`, "ingress_tls"},
	} {
		targets := ofKind(t, kindIngress, parse(t, ingressYAML(`, annotations: {`+tt.annotations+`}`, `, tls: [{hosts: [a.test]}]`)))
		if len(targets) != 1 || targets[0].Module.Name != tt.want {
			t.Errorf("%s: %q, want one target by %s", tt.annotations, lines(targets), tt.want)
		}
	}
}

func TestIngressExpectsNothingElse(t *testing.T) {
	target := ofKind(t, kindIngress, parse(t, ingressYAML(`, annotations: {tlsprobe.io/expect: tls}`, `, tls: [{hosts: [a.test]}]`)))[0]
	want := []string{`annotation_invalid: Ingress ns/i: metadata.annotations[tlsprobe.io/expect] is "tls", and has no effect`}
	if got := details(target.Faults); !slices.Equal(got, want) || target.Module.Name != "ingress" {
		t.Errorf("%s: %q, want %q", target.Module.Name, got, want)
	}
}

func TestIngressPassthrough(t *testing.T) {
	wantLines(t, ofKind(t, kindIngress, parse(t, ingressYAML(`, annotations: {nginx.ingress.kubernetes.io/ssl-passthrough: "true"}`,
		`, rules: [{host: argo.test}]`))), `
ingress/ns/i/argo.test ingress_tls argo.test:443
  address in the status of the Ingress 203.0.113.7:443
  cluster DNS argo.test:443
`)
}

// Load balancers of clouds end TLS by certificates that annotations name.
func TestIngressTLSByAnnotation(t *testing.T) {
	for _, tt := range []struct{ annotations, want string }{
		{``, "ingress_http http://a.test/"},
		{`alb.ingress.kubernetes.io/certificate-arn: "arn:aws:acm:x"`, "ingress https://a.test/"},
		{`alb.ingress.kubernetes.io/certificate-arn: ""`, "ingress_http http://a.test/"},
		{`alb.ingress.kubernetes.io/listen-ports: '[{"HTTP": 80}, {"HTTPS": 443}]'`, "ingress https://a.test/"},
		{`alb.ingress.kubernetes.io/listen-ports: '[{"HTTP": 80}]'`, "ingress_http http://a.test/"},
		{`networking.gke.io/managed-certificates: web, kubernetes.io/ingress.allow-http: "false"`, "ingress_https https://a.test/"},
		{`ingress.gcp.kubernetes.io/pre-shared-cert: web`, "ingress https://a.test/"},
		{`appgw.ingress.kubernetes.io/appgw-ssl-certificate: web`, "ingress https://a.test/"},
		{`traefik.ingress.kubernetes.io/router.tls: "true"`, "ingress https://a.test/"},
		{`traefik.ingress.kubernetes.io/router.tls: "false"`, "ingress_http http://a.test/"},
		{`route.openshift.io/termination: edge`, "ingress https://a.test/"},
	} {
		metadata := `, annotations: {` + tt.annotations + `}`
		got := lines(ofKind(t, kindIngress, parse(t, ingressYAML(metadata, `, rules: [{host: a.test}]`))))[0]
		if want := "ingress/ns/i/a.test " + tt.want; got != want {
			t.Errorf("%s: %q, want %q", tt.annotations, got, want)
		}
	}
	metadata := `, annotations: {networking.gke.io/managed-certificates: web}`
	if got := lines(ofKind(t, kindIngress, parse(t, ingressYAML(metadata, ``))))[0]; got != "ingress/ns/i/* ingress_unnamed https://203.0.113.7/" {
		t.Errorf("without rules: %q", got)
	}
}
