package kubernetes

import (
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// webhooks makes a target of each admission webhook. A mutating one whose names a
// validating one has too is told apart by a suffix.
func (b *builder) webhooks() {
	taken := map[string]bool{}
	for _, c := range b.objects.validatingWebhooks {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			name := webhookName(c.Name, w.Name)
			taken[name] = true
			b.webhook(c, i, name, webhook{"validating", w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.TimeoutSeconds})
		}
	}
	for _, c := range b.objects.mutatingWebhooks {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			name := webhookName(c.Name, w.Name)
			if taken[name] {
				name += "/mutating"
			}
			b.webhook(c, i, name, webhook{"mutating", w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.TimeoutSeconds})
		}
	}
}

func webhookName(configuration, webhook string) string {
	return kindWebhook + "/" + configuration + "/" + webhook
}

// A webhook is what validating and mutating ones have in common.
type webhook struct {
	admission string // validating or mutating
	name      string
	client    admissionv1.WebhookClientConfig
	rules     []admissionv1.RuleWithOperations
	failure   *admissionv1.FailurePolicyType
	timeout   *int32 // in seconds
}

// webhook makes a target of the i-th webhook of a configuration. The nils are what
// the API server fills in; no object that it hands out has them.
func (b *builder) webhook(of metav1.Object, i int, name string, w webhook) {
	if !b.wants(kindWebhook, of) {
		return
	}
	labels := map[string]string{
		"kind":          kindWebhook,
		"admission":     w.admission,
		"configuration": of.GetName(),
		"webhook":       w.name,
	}
	if requests := intercepts(w.rules); requests != "" {
		labels["intercepts"] = requests
	}
	if w.failure != nil {
		labels["failure_policy"] = string(*w.failure)
	}
	var timeout time.Duration
	if w.timeout != nil {
		timeout = time.Duration(*w.timeout) * time.Second
		labels["webhook_timeout"] = timeout.String()
	}
	t := b.callee(name, callee{
		at:       at(of, fmt.Sprintf("webhooks[%d].clientConfig", i)),
		url:      w.client.URL,
		service:  referenceOf(w.client.Service),
		caBundle: w.client.CABundle,
	}, labels)
	if t == nil {
		return
	}
	t.Timeout = timeout
	b.add(of, t)
}

func referenceOf(s *admissionv1.ServiceReference) *serviceReference {
	if s == nil {
		return nil
	}
	return &serviceReference{Namespace: s.Namespace, Name: s.Name, Port: s.Port}
}

// intercepts says which requests the rules send to a webhook: "CREATE,UPDATE
// ingresses.networking.k8s.io". What is said once is not said again, as of two
// versions of a group.
func intercepts(rules []admissionv1.RuleWithOperations) string {
	const most = 5
	var all []string
	said := map[string]bool{}
	for _, r := range rules {
		text := operations(r.Operations) + " " + resources(r.APIGroups, r.Resources)
		if !said[text] {
			said[text] = true
			all = append(all, text)
		}
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

func operations(all []admissionv1.OperationType) string {
	var text []string
	for _, o := range all {
		text = append(text, string(o))
	}
	return strings.Join(text, ",")
}

// resources names each resource of each group as kubectl does: "pods",
// "deployments.apps/scale".
func resources(groups, resources []string) string {
	const most = 10
	var all []string
	for _, g := range groups {
		for _, r := range resources {
			name, sub, _ := strings.Cut(r, "/")
			if g != "" {
				name += "." + g
			}
			if sub != "" {
				name += "/" + sub
			}
			all = append(all, name)
		}
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ",")
}
