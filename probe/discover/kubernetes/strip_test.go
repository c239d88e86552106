package kubernetes

import (
	"strings"
	"testing"
)

// TestStripIrrelevant changes of each kind what no target is made of: it must not
// count as a change. Then it changes something that matters.
func TestStripIrrelevant(t *testing.T) {
	const own = "\n\tlabels: {kubernetes.io/service-name: a, team: a}"
	const other = `
	resourceVersion: "8"
	generation: 4
	labels: {kubernetes.io/service-name: a, team: a, app: other}
	annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
	finalizers: [a.example/b]
	managedFields: [{manager: kubectl}]
`
	for _, test := range []struct{ kind, first, irrelevant, relevant string }{
		{"ValidatingWebhookConfiguration",
			`webhooks: [{name: a, clientConfig: {caBundle: YQ==}, rules: [{operations: [CREATE], apiVersions: [v1], scope: "*"}]}]`,
			`webhooks: [{name: a, clientConfig: {caBundle: YQ==}, rules: [{operations: [CREATE], apiVersions: [v2], scope: Cluster}],
  matchPolicy: Exact, sideEffects: None, admissionReviewVersions: [v1], namespaceSelector: {matchLabels: {a: b}}, objectSelector: {},
  matchConditions: [{name: a}]}]`,
			`webhooks: [{name: a, clientConfig: {caBundle: Yg==}}]`},
		{"MutatingWebhookConfiguration",
			`webhooks: [{name: a, clientConfig: {caBundle: YQ==}, rules: [{operations: [CREATE], apiVersions: [v1], scope: "*"}]}]`,
			`webhooks: [{name: a, clientConfig: {caBundle: YQ==}, rules: [{operations: [CREATE], apiVersions: [v2], scope: Cluster}],
  reinvocationPolicy: Never, sideEffects: None, admissionReviewVersions: [v1]}]`,
			`webhooks: [{name: a, clientConfig: {caBundle: YQ==}, timeoutSeconds: 5}]`},
		{"CustomResourceDefinition",
			`spec: {conversion: {webhook: {clientConfig: {url: "https://a/"}}}}`,
			`spec: {group: a, names: {plural: b}, versions: [{name: v1}], conversion: {webhook: {clientConfig: {url: "https://a/"}}}}
status: {storedVersions: [v1]}`,
			`spec: {conversion: {webhook: {clientConfig: {url: "https://b/"}}}}`},
		{"APIService",
			`spec: {service: {namespace: a, name: b}}`,
			`spec: {service: {namespace: a, name: b}, versionPriority: 7}
status: {conditions: [{type: Available, status: "False"}]}`,
			`spec: {service: {namespace: a, name: c}}`},
		{"Node",
			`status: {addresses: [{type: InternalIP, address: 10.0.0.1}]}`,
			`spec: {podCIDR: 10.1.0.0/24, unschedulable: true, taints: [{key: a}]}
status: {addresses: [{type: InternalIP, address: 10.0.0.1}], conditions: [{type: Ready}], images: [{names: [a]}], nodeInfo: {kubeletVersion: a}}`,
			`status: {addresses: [{type: InternalIP, address: 10.0.0.2}]}`},
		{"CertificateSigningRequest",
			`spec: {username: "system:node:a", request: YQ==}
status: {certificate: YWE=}`,
			`spec: {username: "system:node:a", request: Yg==, groups: [a]}
status: {certificate: YWI=}`,
			`spec: {username: "system:node:a"}
status: {conditions: [{type: Denied}]}`},
		{"Service",
			`spec: {clusterIP: 10.96.0.1, ports: [{port: 443}]}`,
			`spec: {clusterIP: 10.96.0.1, ports: [{port: 443, nodePort: 30443}], sessionAffinity: None, externalTrafficPolicy: Local}
status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}`,
			`spec: {clusterIP: 10.96.0.1, ports: [{port: 444}]}`},
		{"EndpointSlice",
			`endpoints: [{addresses: [10.0.0.1], targetRef: {kind: Pod, name: a}}]`,
			`endpoints: [{addresses: [10.0.0.1], targetRef: {kind: Pod, name: a, uid: b, resourceVersion: "3"}, zone: a, hostname: b, hints: {forZones: [{name: a}]}}]`,
			`endpoints: [{addresses: [10.0.0.1], targetRef: {kind: Pod, name: b}}]`},
		{"Ingress",
			`spec: {rules: [{host: a.example}]}`,
			`spec: {rules: [{host: a.example, http: {paths: [{path: /}]}}], defaultBackend: {service: {name: a}}}`,
			`spec: {rules: [{host: b.example}]}`},
		{"IngressClass",
			`spec: {controller: a}`,
			`spec: {controller: a, parameters: {kind: b, name: c}}`,
			`spec: {controller: b}`},
		{"Gateway",
			`spec: {listeners: [{name: a}]}`,
			`spec: {gatewayClassName: b, listeners: [{name: a, tls: {mode: Terminate}}]}
status: {conditions: [{type: Accepted, lastTransitionTime: "2026-11-21T10:00:00Z"}]}`,
			`spec: {listeners: [{name: b}]}`},
		{"HTTPRoute",
			`spec: {hostnames: [a.example]}`,
			`spec: {hostnames: [a.example], rules: [{backendRefs: [{name: a}]}]}`,
			`spec: {hostnames: [b.example]}`},
		{"Challenge",
			`spec: {dnsName: a.example}`,
			`spec: {dnsName: a.example, authorizationURL: "https://a/", solver: {http01: {}}}
status: {processing: true}`,
			`spec: {dnsName: b.example}`},
		{"PeerAuthentication",
			`spec: {mtls: {mode: STRICT}}`,
			`spec: {mtls: {mode: STRICT}}
status: {observedGeneration: 4}`,
			`spec: {mtls: {mode: DISABLE}}`},
	} {
		t.Run(test.kind, func(t *testing.T) {
			s := newTestSource(t)
			w := s.watcherOf(test.kind)
			add := func(meta, body string, want uint64) {
				t.Helper()
				head := "kind: " + test.kind + "\nmetadata:\n\tname: a\n\tnamespace: b" + meta
				s.add(t, []byte(strings.ReplaceAll(head, "\t", "  ")+"\n"+body))
				noDiff(t, "changes", want, w.store.count().changes)
			}
			add(own, test.first, 1)
			add(other, test.irrelevant, 1)
			add(own, test.relevant, 2)
		})
	}
}

// TestStripUseless keeps nothing of these, although what is streamed has been
// stripped when the store strips it.
func TestStripUseless(t *testing.T) {
	const solver = "metadata: {name: a, namespace: b, labels: {acme.cert-manager.io/http01-solver: \"true\"}}"
	for _, document := range []string{
		"kind: Ingress\n" + solver + "\nspec: {rules: [{host: a.example}]}",
		"kind: HTTPRoute\n" + solver + "\nspec: {hostnames: [a.example]}",
		"kind: EndpointSlice\nmetadata: {name: a, namespace: b}\nendpoints: [{addresses: [10.0.0.1]}]",
		"kind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: a}",
		"kind: APIService\nmetadata: {name: a}\nspec: {group: a}",
	} {
		s := newTestSource(t)
		kind, _, _ := strings.Cut(strings.TrimPrefix(document, "kind: "), "\n")
		w := s.watcherOf(kind)
		object := w.parse(t, []byte(document))
		if _, err := w.store.Transformer()(object); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Replace([]any{object}, ""); err != nil {
			t.Fatal(err)
		}
		if kept := w.store.count().objects; kept > 0 {
			t.Errorf("keeps\n%s", document)
		}
	}
}
