package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// A kindCase is an object that the product makes a target of, from its first day to
// its last.
type kindCase struct {
	target  string
	objects string
	status  string // the same with what only ApplyStatus applies, if that matters
	// A change of the text, old and new, and what the target then shows.
	old, new, shows string
}

// Objects that several of the others refer to.
const kindBasics = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: https, port: 443, targetPort: 8443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: https, port: 8443, protocol: TCP}]
endpoints: [{addresses: [10.77.0.31], conditions: {ready: true}}]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: shared}
spec: {controller: test.example/ingress}
`

func kindCases() []kindCase {
	return []kindCase{
		{target: "webhook/check/orders.shop.example", objects: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: check}
webhooks:
  - name: orders.shop.example
    clientConfig: {service: {namespace: shop, name: web}}
    rules: [{apiGroups: [shop.example], apiVersions: [v1], resources: [orders], operations: [CREATE]}]
    failurePolicy: Fail
    sideEffects: None
    admissionReviewVersions: [v1]
`, old: "failurePolicy: Fail", new: "failurePolicy: Ignore", shows: `"failure_policy": "Ignore"`},
		{target: "webhook/defaults/orders.shop.example", objects: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: defaults}
webhooks:
  - name: orders.shop.example
    clientConfig: {url: "https://10.77.0.31:8443/"}
    rules: [{apiGroups: [shop.example], apiVersions: [v1], resources: [orders], operations: [CREATE]}]
    sideEffects: None
    admissionReviewVersions: [v1]
`, old: "10.77.0.31:8443", new: "10.77.0.32:8443", shows: "10.77.0.32:8443"},
		{target: "conversion/widgets.test.example", objects: strings.NewReplacer("%q", `""`, "hooks", "shop", "converter", "web").Replace(conversionCRD),
			old: "name: web", new: "name: other", shows: "other.shop.svc"},
		{target: "apiservice/v1.aggregated.test.example", objects: strings.NewReplacer("%q", `""`, "hooks", "shop", "name: aggregated", "name: web").Replace(aggregatedAPI),
			old: "name: web", new: "name: other", shows: "other.shop.svc"},
		{target: "kubelet/node-a", objects: "{apiVersion: v1, kind: Node, metadata: {name: node-a}}",
			status: "{apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {addresses: [{type: InternalIP, address: 10.77.0.41}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}}}",
			old:    "10.77.0.41", new: "10.77.0.42", shows: "10.77.0.42:10250"},
		{target: "ingress/shop/web/shop.example", objects: ingressObject, status: ingressObject,
			old: "tls: []", new: "tls: [{hosts: [shop.example], secretName: web}]", shows: "https://shop.example"},
		{target: "gateway/shop/edge/https/shop.example", objects: gatewayObjects,
			old: "port: 443", new: "port: 8443", shows: "shop.example:8443"},
		{target: "otlp/shop/collector/otlp-grpc", objects: `
apiVersion: v1
kind: Service
metadata: {name: collector, namespace: shop}
spec: {ports: [{name: otlp-grpc, port: 4317}]}
`, old: "port: 4317", new: "port: 14317", shows: ":14317"},
		{target: "acme/shop/web-tls-1", objects: `
apiVersion: acme.cert-manager.io/v1
kind: Challenge
metadata: {name: web-tls-1, namespace: shop}
spec: {type: HTTP-01, dnsName: shop.example, token: first, key: first.thumbprint}
status: {processing: true, presented: true, state: pending}
`, old: "token: first", new: "token: second", shows: "/.well-known/acme-challenge/second"},
		{target: "service/shop/web-annotated", objects: `
apiVersion: v1
kind: Service
metadata:
  name: web-annotated
  namespace: shop
  annotations: {tlsprobe.io/probe: tls, tlsprobe.io/server-name: one.shop.example}
spec: {ports: [{port: 443}]}
`, old: "one.shop.example", new: "two.shop.example", shows: "two.shop.example"},
	}
}

const ingressObject = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: shared
  tls: []
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: https}}}}]}}]
status: {loadBalancer: {ingress: [{ip: 10.77.0.50}]}}
`

const gatewayObjects = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: shared
  listeners: [{name: https, port: 443, protocol: HTTPS, tls: {mode: Terminate}}]
status: {addresses: [{type: IPAddress, value: 10.77.0.51}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [shop.example]}
`

// TestKindsComeAndGo has the hub, with the rights that the manifests give it, tell
// an agent of every kind of target: that it is there, that it has changed, and that
// it is gone. The kinds that CRDs bring are there later than the hub.
func TestKindsComeAndGo(t *testing.T) {
	c := startCluster(t, cluster.Config{Name: "kinds"})
	hub := startHub(t, c)
	agent := startAgent(t, c, hub, "node-a")
	crds, err := os.ReadFile("testdata/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, kindBasics)
	mustApply(t, c, string(crds))
	agent.knows(t, "apiserver/kubernetes", "kubernetes.default.svc")
	for _, kind := range kindCases() {
		t.Run(kind.target, func(t *testing.T) { kind.live(t, c, agent) })
	}
	if said := hub.Output(); strings.Contains(said, "forbidden") {
		t.Errorf("the manifests do not give the hub all its rights:\n%s", said)
	}
}

// live takes the object through its life.
func (k *kindCase) live(t *testing.T, c *cluster.Cluster, agent *product) {
	mustBe(t, c, k.objects, k.status)
	agent.knows(t, k.target, "")
	change := strings.NewReplacer(k.old, k.new)
	mustBe(t, c, change.Replace(k.objects), change.Replace(k.status))
	agent.knows(t, k.target, k.shows)
	if err := c.Delete(k.objects); err != nil {
		t.Fatal(err)
	}
	agent.forgets(t, k.target)
}

func mustApply(t *testing.T, c *cluster.Cluster, yaml string) {
	t.Helper()
	// A kind whose CRD was made a moment ago is not served yet.
	cluster.Eventually(t, readyTime, func() error { return c.Apply(yaml) })
}

// mustBe makes objects with a status.
func mustBe(t *testing.T, c *cluster.Cluster, objects, status string) {
	t.Helper()
	mustApply(t, c, objects)
	if status == "" {
		return
	}
	if err := c.ApplyStatus(status); err != nil {
		t.Fatal(err)
	}
}

// targets returns what the product knows of each of its targets, as JSON, by name.
func (p *product) targets() (map[string]string, error) {
	body, err := p.get("/targets")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, item := range list.Items {
		var target struct{ Name string }
		if err := json.Unmarshal(item, &target); err != nil {
			return nil, err
		}
		targets[target.Name] = string(item)
	}
	return targets, nil
}

// knows waits until the product has a target that shows this.
func (p *product) knows(t *testing.T, name, shows string) {
	t.Helper()
	cluster.Eventually(t, 2*readyTime, func() error {
		targets, err := p.targets()
		if err != nil {
			return err
		}
		target, ok := targets[name]
		if !ok {
			return fmt.Errorf("no target %q among %d", name, len(targets))
		}
		if !strings.Contains(target, shows) {
			return fmt.Errorf("the target shows nothing of %q: %s", shows, target)
		}
		return nil
	})
}

// forgets waits until the product does not have the target any more.
func (p *product) forgets(t *testing.T, name string) {
	t.Helper()
	cluster.Eventually(t, readyTime, func() error {
		targets, err := p.targets()
		if _, ok := targets[name]; ok {
			err = fmt.Errorf("the target %q is still there", name)
		}
		return err
	})
}
