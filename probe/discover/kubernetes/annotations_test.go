package kubernetes

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"tlsprobe/probe"
)

// annotated has a webhook with the annotations.
func annotated(t *testing.T, annotations string) *objects {
	t.Helper()
	return parse(t, `
kind: ValidatingWebhookConfiguration
metadata: {name: kong, annotations: {`+annotations+`}}
webhooks: [{name: a, clientConfig: {url: "https://hooks.example.com/"}}]
`)
}

func TestAnnotations(t *testing.T) {
	for _, tt := range []struct {
		annotations string
		interval    time.Duration // 0: there is no target
		expected    string        // of the fault, "" if there is none
	}{
		{"", 30 * time.Second, ""},
		{`example.com/interval: 5 minutes`, 30 * time.Second, ""},
		{`tlsprobe.io/interval: 5m`, 5 * time.Minute, ""},
		{`tlsprobe.io/interval: 1s`, time.Second, ""},
		{`tlsprobe.io/interval: 5 minutes`, 30 * time.Second, "a duration of at least 1s, as 30s or 5m"},
		{`tlsprobe.io/interval: "300"`, 30 * time.Second, "a duration of at least 1s, as 30s or 5m"},
		{`tlsprobe.io/interval: ""`, 30 * time.Second, "a duration of at least 1s, as 30s or 5m"},
		{`tlsprobe.io/interval: 999ms`, 30 * time.Second, "a duration of at least 1s, as 30s or 5m"},
		{`tlsprobe.io/interval: -5m`, 30 * time.Second, "a duration of at least 1s, as 30s or 5m"},
		{`tlsprobe.io/ignore: "true"`, 0, ""},
		{`tlsprobe.io/ignore: "false"`, 30 * time.Second, ""},
		{`tlsprobe.io/ignore: "yes"`, 30 * time.Second, "true or false"},
		{`tlsprobe.io/intervall: 5m`, 30 * time.Second, "tlsprobe.io/interval"},
		{`tlsprobe.io/path: /`, 30 * time.Second, "none: it is for Services"},
	} {
		t.Run(tt.annotations, func(t *testing.T) {
			targets := build(testConfig(), annotated(t, tt.annotations)).Common
			if tt.interval == 0 {
				if len(targets) > 0 {
					t.Errorf("makes %v", namesOfTargets(targets))
				}
				return
			}
			got := targets[0]
			if want := min(10*time.Second, tt.interval/2); got.Interval != tt.interval || got.Timeout != want {
				t.Errorf("every %s for at most %s, want every %s for at most %s", got.Interval, got.Timeout, tt.interval, want)
			}
			var expected string
			for _, f := range got.Faults {
				expected += f.Expected
			}
			if expected != tt.expected {
				t.Errorf("faults %v expect %q, want %q", details(got.Faults), expected, tt.expected)
			}
		})
	}
}

func TestAnnotationFaults(t *testing.T) {
	o := annotated(t, `tlsprobe.io/intervall: 5m, tlsprobe.io/interval: 5 minutes, tlsprobe.io/xyzzy: x`)
	want := []probe.Problem{
		{
			Reason:   probe.Lookup("annotation_invalid"),
			Detail:   `ValidatingWebhookConfiguration kong: metadata.annotations[tlsprobe.io/interval] is "5 minutes", and has no effect`,
			Expected: "a duration of at least 1s, as 30s or 5m",
			Received: "5 minutes",
		},
		{
			Reason:   probe.Lookup("annotation_invalid"),
			Detail:   "ValidatingWebhookConfiguration kong: metadata.annotations[tlsprobe.io/intervall] is none that tlsprobe knows",
			Expected: "tlsprobe.io/interval",
			Received: "tlsprobe.io/intervall",
		},
		{
			Reason:   probe.Lookup("annotation_invalid"),
			Detail:   "ValidatingWebhookConfiguration kong: metadata.annotations[tlsprobe.io/xyzzy] is none that tlsprobe knows",
			Received: "tlsprobe.io/xyzzy",
		},
	}
	if diff := cmp.Diff(want, build(testConfig(), o).Common[0].Faults, byID); diff != "" {
		t.Errorf("faults differ (-want +got):\n%s", diff)
	}
}

// TestPace has each target probed by as many nodes as probe it: all of them, or
// the neighbours of a kubelet.
func TestPace(t *testing.T) {
	c := testConfig()
	c.ProbesPerSecond = 2
	var asked []int
	c.Pace = func(base time.Duration, nodes int, perSecond float64) time.Duration {
		asked = append(asked, nodes)
		if perSecond != 2 {
			t.Errorf("asked about %v probes per second", perSecond)
		}
		return base + time.Duration(nodes)*time.Second
	}
	o := annotated(t, `tlsprobe.io/interval: 5m`)
	for range 100 {
		o.nodes = append(o.nodes, parse(t, `
kind: Node
metadata: {name: node}
status: {addresses: [{type: InternalIP, address: 10.0.0.1}]}
`).nodes...)
	}
	got := build(c, o)
	if webhook, kubelet := got.Common[0], got.Own("node")[0]; webhook.Interval != 5*time.Minute+100*time.Second || kubelet.Interval != 36*time.Second {
		t.Errorf("the webhook every %s, a kubelet every %s", webhook.Interval, kubelet.Interval)
	}
	if len(asked) != 101 {
		t.Errorf("paced for %v nodes", asked)
	}
}

func TestWants(t *testing.T) {
	const objects = `
kind: APIService
metadata: {name: api, labels: {team: a}}
spec: {service: {namespace: ns, name: hook}}
---
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks: [{name: hook, clientConfig: {service: {namespace: ns, name: hook}}}]
---
kind: CustomResourceDefinition
metadata: {name: crd}
spec: {conversion: {webhook: {clientConfig: {service: {namespace: ns, name: hook}}}}}
---
kind: Service
metadata: {namespace: default, name: kubernetes, labels: {team: b}}
spec: {clusterIP: 10.96.0.1, ports: [{port: 443}]}
---
kind: Ingress
metadata: {namespace: shop, name: i}
spec: {rules: [{host: a.test}]}
`
	const ingress = "ingress/shop/i/a.test"
	callees := []string{"apiservice/api", "conversion/crd", "webhook/hooks/hook"}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"all", func(*Config) {}, append([]string{"apiserver/kubernetes", ingress}, callees...)},
		{"a kind", func(c *Config) { c.Kinds = []string{kindAPIServer, kindKubelet} }, []string{"apiserver/kubernetes"}},
		{"no kind", func(c *Config) { c.Kinds = []string{} }, nil},
		{"a namespace", func(c *Config) { c.Namespaces = []string{"kube-*", "sh*"} }, append([]string{"apiserver/kubernetes", ingress}, callees...)},
		{"another namespace", func(c *Config) { c.Namespaces = []string{"kube-*"} }, append([]string{"apiserver/kubernetes"}, callees...)},
		{"not a namespace", func(c *Config) { c.ExcludeNamespaces = []string{"kube-*", "sh*"} }, append([]string{"apiserver/kubernetes"}, callees...)},
		{"not that of a Service", func(c *Config) { c.ExcludeNamespaces = []string{"ns"} }, []string{"apiserver/kubernetes", ingress}},
		{"not that of the API servers", func(c *Config) { c.ExcludeNamespaces = []string{"default"} }, append([]string{"apiserver/kubernetes", ingress}, callees...)},
		{"a namespace, and not", func(c *Config) { c.Namespaces, c.ExcludeNamespaces = []string{"shop"}, []string{"shop"} }, append([]string{"apiserver/kubernetes"}, callees...)},
		{"labels", func(c *Config) { c.Selector, _ = labels.Parse("team in (b, c)") }, []string{"apiserver/kubernetes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := testConfig()
			tt.change(c)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, namesOfTargets(build(c, parse(t, objects)).Common)); diff != "" {
				t.Errorf("targets differ (-want +got):\n%s", diff)
			}
		})
	}
}
