package probe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestLabels(t *testing.T) {
	m := map[string]string{"service": "web", "namespace": "kong", "empty": ""}
	labels := probe.LabelsOf(m)
	want := probe.Labels{{Name: "empty"}, {Name: "namespace", Value: "kong"}, {Name: "service", Value: "web"}}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m, labels.Map()); diff != "" {
		t.Errorf("as a map again (-want +got):\n%s", diff)
	}
	if got := labels.Get("namespace"); got != "kong" {
		t.Errorf("namespace is %q", got)
	}
	if got := labels.Get("name"); got != "" {
		t.Errorf("a label that is not there is %q", got)
	}
	if none := probe.LabelsOf(map[string]string{}); none != nil || none.Map() != nil {
		t.Errorf("no labels are %v", none)
	}
}
