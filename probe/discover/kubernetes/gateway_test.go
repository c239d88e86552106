package kubernetes

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gatewayYAML = `
kind: Gateway
metadata: {name: web, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: https, port: 443, protocol: HTTPS, hostname: "*.example.com"}
  - {name: admin, port: 8443, protocol: HTTPS, hostname: admin.test}
  - {name: pass, port: 9443, protocol: TLS, hostname: db.test, tls: {mode: Passthrough}}
  - {name: pass-any, port: 9444, protocol: TLS, tls: {mode: Passthrough}}
  - {name: tcp, port: 5432, protocol: TCP}
status: {addresses: [{type: IPAddress, value: 203.0.113.9}, {type: Hostname, value: localhost}, {type: NamedAddress, value: spare}]}
---
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: web, namespace: infra}]
  hostnames: [shop.example.com, plain.test, plain.test]
status:
  parents:
  - parentRef: {name: web, namespace: infra}
    conditions: [{type: ResolvedRefs, status: "False"}]
---
kind: HTTPRoute
metadata: {name: redirect, namespace: infra}
spec:
  parentRefs: [{name: web, sectionName: http}]
  hostnames: ["*.example.com"]
---
kind: HTTPRoute
metadata: {name: of-a-service, namespace: infra}
spec:
  parentRefs: [{group: "", kind: Service, name: web}]
  hostnames: [mesh.test]
---
kind: HTTPRoute
metadata: {name: of-another-kind, namespace: infra}
spec:
  parentRefs: [{kind: Service, name: web}, {group: example.com, name: web}]
  hostnames: [other.test]
---
kind: HTTPRoute
metadata: {name: cm-acme-http-solver, namespace: shop, labels: {acme.cert-manager.io/http01-solver: "true"}}
spec:
  parentRefs: [{name: web, namespace: infra}]
  hostnames: [challenged.example.com]
---
kind: HTTPRoute
metadata: {name: refused, namespace: other}
spec:
  parentRefs: [{name: web, namespace: infra, sectionName: http}]
  hostnames: [refused.test]
status:
  parents:
  - parentRef: {name: web, namespace: infra, sectionName: http}
    conditions: [{type: Accepted, status: "False"}, {type: ResolvedRefs, status: "True"}]
`

func TestGateway(t *testing.T) {
	targets := ofKind(t, kindGateway, parse(t, gatewayYAML))
	wantLines(t, targets, `
gateway/infra/web/admin/admin.test gateway_https https://admin.test:8443/
  address in the status of the Gateway 203.0.113.9:8443
  cluster DNS admin.test:8443
gateway/infra/web/http/*.example.com gateway_redirect http://tlsprobe.example.com/
  address in the status of the Gateway 203.0.113.9:80
gateway/infra/web/http/plain.test gateway_http http://plain.test/
  address in the status of the Gateway 203.0.113.9:80
  cluster DNS plain.test:80
gateway/infra/web/http/shop.example.com gateway_redirect http://shop.example.com/
  address in the status of the Gateway 203.0.113.9:80
  cluster DNS shop.example.com:80
gateway/infra/web/https/shop.example.com gateway_https https://shop.example.com/
  address in the status of the Gateway 203.0.113.9:443
  cluster DNS shop.example.com:443
gateway/infra/web/pass/db.test gateway_tls db.test:9443
  address in the status of the Gateway 203.0.113.9:9443
  cluster DNS db.test:9443
`)
	want := map[string]string{"kind": "gateway", "namespace": "infra", "gateway": "web", "listener": "admin", "host": "admin.test"}
	if diff := cmp.Diff(want, targets[0].Labels.Map()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

// A Gateway may say that plain http is meant.
func TestGatewayPermissive(t *testing.T) {
	o := parse(t, gatewayYAML)
	o.gateways[0].Annotations = map[string]string{annotationExpect: "permissive"}
	for _, target := range ofKind(t, kindGateway, o) {
		if target.Module.Name == "gateway_redirect" {
			t.Errorf("%s must redirect", target.Name)
		}
	}
}

func TestGatewayHosts(t *testing.T) {
	for _, tt := range []struct {
		name, listener, route, want string
	}{
		{"any of any", `{name: l, port: 443, protocol: HTTPS}`, `{parentRefs: [{name: g}]}`, "gateway/ns/g/l/* gateway_unnamed https://203.0.113.9/"},
		{"any of any, plain", `{name: l, port: 80, protocol: HTTP}`, `{parentRefs: [{name: g}]}`, "gateway/ns/g/l/* gateway_http http://203.0.113.9/"},
		{"any of any, plain beside https", `{name: l, port: 80, protocol: HTTP}, {name: m, port: 443, protocol: HTTPS}`, `{parentRefs: [{name: g}]}`, "gateway/ns/g/l/* gateway_http http://203.0.113.9/"},
		{"some of any beside https", `{name: l, port: 80, protocol: HTTP}, {name: m, port: 443, protocol: HTTPS}`, `{parentRefs: [{name: g}], hostnames: [a.test]}`, "gateway/ns/g/l/a.test gateway_redirect http://a.test/"},
		{"no route", `{name: l, port: 443, protocol: HTTPS, hostname: a.test}`, `{}`, "gateway/ns/g/l/a.test gateway_https https://a.test/"},
		{"no route, plain", `{name: l, port: 80, protocol: HTTP, hostname: a.test}`, `{}`, ""},
		{"the listener's", `{name: l, port: 443, protocol: HTTPS, hostname: a.test}`, `{parentRefs: [{name: g}]}`, "gateway/ns/g/l/a.test gateway_https https://a.test/"},
		{"several labels below", `{name: l, port: 80, protocol: HTTP, hostname: "*.test"}`, `{parentRefs: [{name: g}], hostnames: [a.b.test]}`, "gateway/ns/g/l/a.b.test gateway_http http://a.b.test/"},
		{"the narrower wildcard", `{name: l, port: 80, protocol: HTTP, hostname: "*.test"}`, `{parentRefs: [{name: g}], hostnames: ["*.b.test"]}`, "gateway/ns/g/l/*.b.test gateway_http http://tlsprobe.b.test/"},
		{"a route's wildcard", `{name: l, port: 80, protocol: HTTP, hostname: a.test}`, `{parentRefs: [{name: g}], hostnames: ["*.test"]}`, "gateway/ns/g/l/a.test gateway_http http://a.test/"},
		{"nothing in common", `{name: l, port: 80, protocol: HTTP, hostname: a.test}`, `{parentRefs: [{name: g}], hostnames: [b.test]}`, ""},
		{"not below", `{name: l, port: 80, protocol: HTTP, hostname: "*.test"}`, `{parentRefs: [{name: g}], hostnames: [test, atest]}`, ""},
		{"another section", `{name: l, port: 80, protocol: HTTP}`, `{parentRefs: [{name: g, sectionName: m}], hostnames: [b.test]}`, ""},
		{"another port", `{name: l, port: 80, protocol: HTTP}`, `{parentRefs: [{name: g, port: 81}], hostnames: [b.test]}`, ""},
		{"another namespace", `{name: l, port: 80, protocol: HTTP}`, `{parentRefs: [{name: g, namespace: other}], hostnames: [b.test]}`, ""},
		{"the port", `{name: l, port: 80, protocol: HTTP}`, `{parentRefs: [{name: g, port: 80}], hostnames: [b.test]}`, "gateway/ns/g/l/b.test gateway_http http://b.test/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(ofKind(t, kindGateway, parse(t, `
kind: Gateway
metadata: {name: g, namespace: ns}
spec: {listeners: [`+tt.listener+`]}
status: {addresses: [{type: IPAddress, value: 203.0.113.9}]}
---
kind: HTTPRoute
metadata: {name: r, namespace: ns}
spec: `+tt.route)))
			if len(got) == 0 {
				got = []string{""}
			}
			if got[0] != tt.want {
				t.Errorf("%q, want %q", got[0], tt.want)
			}
		})
	}
}

func TestGatewayWithoutAddress(t *testing.T) {
	o := parse(t, gatewayYAML)
	o.gateways[0].Status.Addresses = nil
	targets := ofKind(t, kindGateway, o)
	for _, target := range targets {
		if got := details(target.Faults); !slices.Equal(got, []string{"ingress_no_address: Gateway infra/web: status.addresses is empty"}) {
			t.Errorf("%s: %q", target.Name, got)
		}
		if wildcard := target.Name == "gateway/infra/web/http/*.example.com"; target.Undialled != wildcard {
			t.Errorf("%s: undialled is %t", target.Name, target.Undialled)
		}
	}
}

func TestGatewayIsStable(t *testing.T) {
	o := parse(t, gatewayYAML)
	want := lines(ofKind(t, kindGateway, o))
	slices.Reverse(o.httpRoutes)
	strip := newStripper(testConfig())
	strip.gateway(o.gateways[0])
	for _, r := range o.httpRoutes {
		strip.httpRoute(r)
	}
	if diff := cmp.Diff(want, lines(ofKind(t, kindGateway, o))); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}
