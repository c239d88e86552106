package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// ofKind returns the targets of one kind that the documents make.
func ofKind(t *testing.T, kind string, o *objects) []*probe.Target {
	t.Helper()
	c := testConfig()
	c.Kinds = []string{kind}
	return build(c, o).Common
}

// lines says what matters of targets, one line for each: name, module and address,
// and then its routes and its faults.
func lines(targets []*probe.Target) []string {
	var all []string
	for _, t := range targets {
		line := t.Name + " " + t.Module.Name + " " + t.Address
		if t.Undialled {
			line += " undialled"
		}
		all = append(all, line)
		for _, r := range t.Routes {
			all = append(all, "  "+r.Via+" "+r.Address)
		}
		for _, p := range t.Faults {
			all = append(all, "  "+p.Reason.ID+": "+p.Detail)
		}
	}
	return all
}

// wantLines compares them.
func wantLines(t *testing.T, targets []*probe.Target, want string) {
	t.Helper()
	wanted := strings.Split(strings.Trim(want, "\n"), "\n")
	if want == "" {
		wanted = nil
	}
	if diff := cmp.Diff(wanted, lines(targets)); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}

const nginxClass = `
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---`

// The second fault of incident 2: TLS is there for hskim.example, and the rule is
// for hskim.example.com.
func TestIncident2IngressTLSHost(t *testing.T) {
	targets := ofKind(t, kindIngress, parse(t, nginxClass+`
kind: Ingress
metadata:
  name: hskim
  namespace: web
  annotations: {nginx.ingress.kubernetes.io/force-ssl-redirect: "true"}
spec:
  ingressClassName: nginx
  tls: [{hosts: [hskim.example], secretName: hskim-tls}]
  rules: [{host: hskim.example.com}]
status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}
`))
	wantLines(t, targets, `
ingress/web/hskim/hskim.example ingress https://hskim.example/
  address in the status of the Ingress 203.0.113.7:443
  cluster DNS hskim.example:443
ingress/web/hskim/hskim.example.com ingress https://hskim.example.com/
  address in the status of the Ingress 203.0.113.7:443
  cluster DNS hskim.example.com:443
  ingress_tls_host_mismatch: Ingress web/hskim: spec.tls[0].hosts[0] "hskim.example" fits no rule, and nothing in spec.tls covers the rule for "hskim.example.com"
`)
	p := targets[1].Faults[0]
	if p.Expected != "hskim.example.com" || p.Received != "hskim.example" {
		t.Errorf("expected %q, received %q", p.Expected, p.Received)
	}
	if want := []string{"the one is the beginning of the other"}; !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q, want %q", p.Notes, want)
	}
}

func TestIngress(t *testing.T) {
	targets := ofKind(t, kindIngress, parse(t, nginxClass+`
kind: Ingress
metadata: {name: shop, namespace: web}
spec:
  ingressClassName: nginx
  tls: [{hosts: ["*.example.com", shop.example.org]}]
  rules: [{host: shop.example.org}, {host: a.example.com}, {host: "*.example.com"}, {host: plain.test}, {host: ""}, {host: a.example.com}]
status: {loadBalancer: {ingress: [{hostname: lb.example.net}, {ip: "2001:db8::7"}, {hostname: lb.example.net}]}}
`))
	const to443 = `
  address in the status of the Ingress lb.example.net:443
  address in the status of the Ingress [2001:db8::7]:443`
	to80 := strings.ReplaceAll(to443, "443", "80")
	wantLines(t, targets, `
ingress/web/shop/* ingress_http http://lb.example.net/`+to80+`
ingress/web/shop/*.example.com ingress https://tlsprobe.example.com/`+to443+`
ingress/web/shop/a.example.com ingress https://a.example.com/`+to443+`
  cluster DNS a.example.com:443
ingress/web/shop/plain.test ingress_http http://plain.test/`+to80+`
  cluster DNS plain.test:80
ingress/web/shop/shop.example.org ingress https://shop.example.org/`+to443+`
  cluster DNS shop.example.org:443
`)
	want := map[string]string{"kind": "ingress", "namespace": "web", "ingress": "shop", "host": "*"}
	if diff := cmp.Diff(want, targets[0].Labels.Map()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

// An answer below 500 is right, another host is not asked, and only the one module
// asks for a redirect.
func TestHostModules(t *testing.T) {
	m := newHostModules("ingress")
	for _, tt := range []struct {
		module                  *probe.Module
		port                    uint16
		require, skips, follows bool
	}{
		{module: m.https, port: 80, follows: true},
		{module: m.alone, follows: true},
		{module: m.http, follows: true},
		{module: m.redirect, require: true},
		{module: m.unnamed, skips: true, follows: true},
	} {
		p := tt.module.Prober.(*probe.HTTPProber)
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", tt.module.Name, err)
		}
		if p.HTTPPort != tt.port || p.RequireHTTPS != tt.require || p.TLSConfig.InsecureSkipVerify != tt.skips || p.Follows() != tt.follows {
			t.Errorf("%s: %+v", tt.module.Name, p)
		}
		if codes := p.ValidStatusCodes; !p.SameHost || codes[0] != 200 || codes[len(codes)-1] != 499 || len(codes) != 300 {
			t.Errorf("%s: same_host %t, status %v", tt.module.Name, p.SameHost, codes)
		}
	}
}

// ingressYAML is an Ingress that has an address.
func ingressYAML(metadata, spec string) string {
	return nginxClass + `
kind: Ingress
metadata: {name: i, namespace: ns` + metadata + `}
spec: {ingressClassName: nginx` + spec + `}
status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}
---`
}

// A wildcard certificate is for the rules below it; the wildcard is a host only where
// something serves it.
func TestIngressWildcardOfTLS(t *testing.T) {
	const asked = "ingress/ns/i/*.a.test"
	for rules, want := range map[string][]string{
		"{host: x.a.test}":                     {"ingress/ns/i/x.a.test"},
		"{host: x.a.test}, {host: '*.a.test'}": {asked, "ingress/ns/i/x.a.test"},
		"{host: x.a.test}, {}":                 {"ingress/ns/i/*", asked, "ingress/ns/i/x.a.test"},
		"{host: x.test}":                       {asked, "ingress/ns/i/x.test"},
		"":                                     {asked},
	} {
		got := namesOfTargets(ofKind(t, kindIngress, parse(t, ingressYAML(``, `, tls: [{hosts: ["*.a.test"]}], rules: [`+rules+`]`))))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", rules, got, want)
		}
	}
}

// kind writes localhost into the status, which is another machine for each node.
func TestIngressAtLoopback(t *testing.T) {
	documents := strings.ReplaceAll(ingressYAML(``, `, rules: [{host: a.test}]`), "{ip: 203.0.113.7}", "{hostname: localhost}, {ip: 127.0.0.1}, {ip: 203.0.113.7}")
	wantLines(t, ofKind(t, kindIngress, parse(t, documents)), `
ingress/ns/i/a.test ingress_http http://a.test/
  address in the status of the Ingress 203.0.113.7:80
  cluster DNS a.test:80
`)
}

// What has no host is asked for by the address, and its certificate is for no name.
func TestIngressAnyHost(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{``, "ingress/ns/i/* ingress_http http://203.0.113.7/"},
		{`, tls: [{secretName: s}]`, "ingress/ns/i/* ingress_unnamed https://203.0.113.7/"},
		{`, tls: [{secretName: s}], rules: [{}]`, "ingress/ns/i/* ingress_unnamed https://203.0.113.7/"},
		{`, tls: [{secretName: s}], rules: [{host: a.test}]`, "ingress/ns/i/a.test ingress https://a.test/"},
	} {
		if got := lines(ofKind(t, kindIngress, parse(t, ingressYAML(``, tt.spec))))[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.spec, got, tt.want)
		}
	}
}

func TestIngressTLSHosts(t *testing.T) {
	for _, tt := range []struct {
		name, tls, rules string
		want             []string // "TLS host -> rule's host", of faults
		plain            []string // rules' hosts without TLS
	}{
		{"covered", "a.test", "a.test", nil, nil},
		{"a wildcard covers", "'*.test'", "a.test, b.test", nil, nil},
		{"a rule deliberately without", "a.test", "a.test, b.test", nil, []string{"b.test"}},
		{"shortened", "hskim.example", "hskim.example.com", []string{"hskim.example -> hskim.example.com"}, nil},
		{"another altogether", "a.test", "b.test", []string{"a.test -> b.test"}, nil},
		{"one is near", "a.example", "a.example.com, plain.test", []string{"a.example -> a.example.com"}, []string{"plain.test"}},
		{"another name of one that has it", "a.test, www.a.test", "www.a.test, plain.test", nil, []string{"plain.test"}},
		{"below", "www.a.test", "a.test", []string{"www.a.test -> a.test"}, nil},
		{"above", "a.test", "www.a.test", []string{"a.test -> www.a.test"}, nil},
		{"a wildcard is one label", "'*.a.test'", "x.y.a.test", []string{"*.a.test -> x.y.a.test"}, nil},
		{"a wildcard is not the domain", "'*.a.test'", "a.test", []string{"*.a.test -> a.test"}, nil},
		{"a rule's wildcard has a use for it", "a.b.test", "'*.b.test'", nil, []string{"*.b.test"}},
		{"any host has a use for it", "a.test", "b.test, ''", nil, []string{"", "b.test"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rules []string
			for _, host := range strings.Split(tt.rules, ", ") {
				rules = append(rules, "{host: "+host+"}")
			}
			targets := ofKind(t, kindIngress, parse(t, ingressYAML(``, `, tls: [{hosts: [`+tt.tls+`]}], rules: [`+strings.Join(rules, ", ")+`]`)))
			var faults, plain []string
			for _, target := range targets {
				for _, p := range target.Faults {
					faults = append(faults, p.Received+" -> "+p.Expected)
				}
				if strings.HasPrefix(target.Address, "http://") {
					plain = append(plain, strings.TrimPrefix(target.Name, "ingress/ns/i/"))
				}
			}
			for i, host := range tt.plain {
				if host == "" {
					tt.plain[i] = "*"
				}
			}
			if !slices.Equal(faults, tt.want) || !slices.Equal(plain, tt.plain) {
				t.Errorf("faults %q, plain %q, want %q and %q", faults, plain, tt.want, tt.plain)
			}
		})
	}
}

// Another Ingress may hold the TLS of a host: controllers merge them.
func TestIngressTLSElsewhere(t *testing.T) {
	o := parse(t, ingressYAML(``, `, tls: [{hosts: [a.example]}], rules: [{host: a.example.com}]`)+
		strings.ReplaceAll(ingressYAML(``, `, tls: [{hosts: [a.example.com]}], rules: [{host: a.example.com}]`), "name: i,", "name: other,"))
	for _, target := range ofKind(t, kindIngress, o) {
		if len(target.Faults) > 0 {
			t.Errorf("%s: %q", target.Name, details(target.Faults))
		}
	}
}

func TestIngressClass(t *testing.T) {
	const (
		missing  = "is missing, and no IngressClass is the default one"
		unserved = "ingress_no_address: Ingress ns/i: status.loadBalancer.ingress is empty"
	)
	for _, tt := range []struct {
		name, classes, metadata, spec string
		unread, served                bool
		want                          string
	}{
		{name: "known", classes: "nginx", spec: "ingressClassName: nginx", served: true},
		{name: "known, no address", classes: "nginx", spec: "ingressClassName: nginx", want: unserved},
		{name: "unknown", classes: "nginx", spec: "ingressClassName: ngnix", served: true,
			want: `ingress_class_not_found: Ingress ns/i: spec.ingressClassName names IngressClass "ngnix", which does not exist`},
		{name: "classes are unread", unread: true, spec: "ingressClassName: ngnix", served: true},
		{name: "classes are unread, no address", unread: true, spec: "ingressClassName: ngnix", want: unserved},
		{name: "none, no default", classes: "nginx", want: "ingress_class_not_found: Ingress ns/i: spec.ingressClassName " + missing},
		{name: "none, no default, served nevertheless", classes: "nginx", served: true},
		{name: "none, a default", classes: "nginx!", served: true},
		{name: "none, a default, no address", classes: "nginx!", want: unserved},
		{name: "annotation", classes: "nginx", metadata: "kubernetes.io/ingress.class: nginx", served: true},
		{name: "annotation without an object", classes: "nginx!", metadata: "kubernetes.io/ingress.class: internal", served: true},
		{name: "annotation without an object or an address", classes: "nginx!", metadata: "kubernetes.io/ingress.class: internal",
			want: `ingress_class_not_found: Ingress ns/i: metadata.annotations[kubernetes.io/ingress.class] names IngressClass "internal", which does not exist`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			documents := "kind: Ingress\nmetadata: {name: i, namespace: ns, annotations: {" + tt.metadata + "}}\nspec: {rules: [{host: a.test}], " + tt.spec + "}\n"
			if tt.served {
				documents += "status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}\n"
			}
			if name, isDefault := strings.CutSuffix(tt.classes, "!"); name != "" {
				documents += "---\nkind: IngressClass\nmetadata: {name: " + name
				if isDefault {
					documents += `, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}`
				}
				documents += "}\n"
			}
			o := parse(t, documents)
			o.unread["ingressclasses"] = tt.unread
			if got := strings.Join(details(ofKind(t, kindIngress, o)[0].Faults), "\n"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Without an address a host is looked for in DNS, and what DNS need not know is not
// dialled.
func TestIngressWithoutAddress(t *testing.T) {
	documents := strings.ReplaceAll(ingressYAML(``, `, rules: [{host: a.test}, {host: "*.test"}, {}]`), "{ip: 203.0.113.7}", "")
	const fault = "\n  ingress_no_address: Ingress ns/i: status.loadBalancer.ingress is empty"
	wantLines(t, ofKind(t, kindIngress, parse(t, documents)), `
ingress/ns/i/* ingress_http http://*/ undialled`+fault+`
ingress/ns/i/*.test ingress_http http://tlsprobe.test/ undialled`+fault+`
ingress/ns/i/a.test ingress_http http://a.test/
  cluster DNS a.test:80`+fault+"\n")
}

// The Ingress of a challenge's solver goes with the challenge.
func TestIngressOfSolver(t *testing.T) {
	wantLines(t, ofKind(t, kindIngress, parse(t, ingressYAML(`, labels: {acme.cert-manager.io/http01-solver: "true"}`, `, rules: [{host: a.test}]`))), "")
}

// The same objects make the same targets, in whatever order they come, and also
// after what is not used has been taken away.
func TestIngressIsStable(t *testing.T) {
	documents := ingressYAML(`, annotations: {kubernetes.io/ingress.allow-http: "false"}, labels: {x: y}`, `, tls: [{hosts: [a.test, b.example]}], rules: [{host: b.example.com}]`) +
		strings.ReplaceAll(ingressYAML(``, `, rules: [{host: c.test}]`), "name: i,", "name: j,")
	o := parse(t, documents)
	want := lines(ofKind(t, kindIngress, o))
	slices.Reverse(o.ingresses)
	slices.Reverse(o.ingressClasses)
	strip := newStripper(testConfig())
	for _, i := range o.ingresses {
		strip.ingress(i)
	}
	for _, c := range o.ingressClasses {
		strip.ingressClass(c)
	}
	if diff := cmp.Diff(want, lines(ofKind(t, kindIngress, o))); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}
