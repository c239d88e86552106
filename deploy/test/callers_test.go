package test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// conversionCRD has a webhook that converts between its two versions.
const conversionCRD = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.example}
spec:
  group: test.example
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - {name: v1, served: true, storage: false, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
    - {name: v2, served: true, storage: true, schema: *any}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {caBundle: %q, service: {namespace: hooks, name: converter}}
`

const aggregatedAPI = `---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.aggregated.test.example}
spec:
  group: aggregated.test.example
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 10
  caBundle: %q
  service: {namespace: hooks, name: aggregated}
`

// TestConversionVerdict is for conversion webhooks what TestWebhookVerdicts is.
func TestConversionVerdict(t *testing.T) {
	r := newHookRig(t, "conversion")
	trust := r.serveBy(t, "converter", 9001, conversionCRD)
	trust(r.cas.other)
	var said error
	cluster.Eventually(t, readyTime, func() error {
		said = r.Apply("{apiVersion: test.example/v1, kind: Widget, metadata: {name: one, namespace: default}}")
		if said == nil || !strings.Contains(said.Error(), "x509") {
			return fmt.Errorf("creating a Widget: %v", said)
		}
		return nil
	})
	means(t, said.Error(), "unknown_authority")
	r.agrees(t, "conversion/widgets.test.example", "unknown_authority")
	trust(r.cas.right)
	r.agrees(t, "conversion/widgets.test.example", "")
}

// TestAggregationVerdict is the same for aggregated APIs.
func TestAggregationVerdict(t *testing.T) {
	r := newHookRig(t, "aggregation")
	trust := r.serveBy(t, "aggregated", 9002, aggregatedAPI)
	trust(r.cas.other)
	var said string
	cluster.Eventually(t, readyTime, func() (err error) {
		said, err = r.Kubectl("get", "apiservice", "v1.aggregated.test.example", `--output=jsonpath={.status.conditions[?(@.type=="Available")].message}`)
		if err == nil && !strings.Contains(said, "x509") {
			err = fmt.Errorf("the APIService's condition: %s", said)
		}
		return err
	})
	means(t, said, "unknown_authority")
	r.agrees(t, "apiservice/v1.aggregated.test.example", "unknown_authority")
	trust(r.cas.right)
	r.agrees(t, "apiservice/v1.aggregated.test.example", "")
}

// serveBy serves behind a Service of this name, with a certificate of the right CA.
// What it returns makes the objects, with the caBundle of a CA.
func (r *hookRig) serveBy(t *testing.T, service string, port int, objects string) (trust func(*cluster.CA)) {
	t.Helper()
	h := &hook{name: service, port: port}
	cert, err := r.cas.right.Server([]string{h.dnsName()})
	if err != nil {
		t.Fatal(err)
	}
	serveHook(t, r.host, port, &tls.Config{}, cert, false)
	return func(ca *cluster.CA) {
		t.Helper()
		bundle := base64.StdEncoding.EncodeToString(ca.PEM())
		r.apply(t, h.service(r.host.Address.String())+fmt.Sprintf(objects, bundle))
	}
}
