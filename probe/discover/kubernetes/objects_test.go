package kubernetes

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"

	"tlsprobe/probe"
)

// today is when the tests' snapshots are taken.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// parse reads objects from YAML documents, in their order.
func parse(t testing.TB, documents string) *objects {
	t.Helper()
	o := &objects{at: today, clusterCA: "the cluster's CA", unread: map[string]bool{}}
	reader := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(documents)))
	defer reader.Close()
	for {
		buffer := make([]byte, len(documents)+1)
		n, err := reader.Read(buffer)
		if err == io.EOF {
			return o
		}
		if err != nil {
			t.Fatal(err)
		}
		if document := bytes.TrimSpace(buffer[:n]); len(document) > 0 {
			o.add(t, document)
		}
	}
}

// add reads one object into the list of its kind.
func (o *objects) add(t testing.TB, document []byte) {
	t.Helper()
	var head struct{ Kind string }
	if err := yaml.Unmarshal(document, &head); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	switch head.Kind {
	case "ValidatingWebhookConfiguration":
		decode(t, document, &o.validatingWebhooks)
	case "MutatingWebhookConfiguration":
		decode(t, document, &o.mutatingWebhooks)
	case "CustomResourceDefinition":
		decode(t, document, &o.crds)
	case "APIService":
		decode(t, document, &o.apiServices)
	case "Node":
		decode(t, document, &o.nodes)
	case "CertificateSigningRequest":
		decode(t, document, &o.requests)
	case "Service":
		decode(t, document, &o.services)
	case "EndpointSlice":
		decode(t, document, &o.slices)
	case "Ingress":
		decode(t, document, &o.ingresses)
	case "IngressClass":
		decode(t, document, &o.ingressClasses)
	case "Gateway":
		decode(t, document, &o.gateways)
	case "HTTPRoute":
		decode(t, document, &o.httpRoutes)
	case "Challenge":
		decode(t, document, &o.challenges)
	case "PeerAuthentication":
		decode(t, document, &o.peerAuthentications)
	default:
		t.Fatalf("no list of kind %q for\n%s", head.Kind, document)
	}
}

// decode appends the object to the list.
func decode[T any](t testing.TB, document []byte, list *[]*T) {
	t.Helper()
	item := new(T)
	if err := yaml.Unmarshal(document, item); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	*list = append(*list, item)
}

// details lists what the problems say, as "reason: detail".
func details(problems []probe.Problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Reason.ID+": "+p.Detail)
	}
	return all
}

// byID compares reasons.
var byID = cmp.Comparer(func(a, b *probe.Reason) bool { return a == b || a != nil && b != nil && a.ID == b.ID })
