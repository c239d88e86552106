package kubernetes

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"tlsprobe/probe"
)

// today is when the tests' snapshots are taken.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// parse reads objects from YAML documents, and keeps of them what a source keeps.
func parse(t testing.TB, documents string) *objects {
	t.Helper()
	s := newTestSource(t)
	reader := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(strings.ReplaceAll(documents, "\t", "  "))))
	defer reader.Close()
	for {
		buffer := make([]byte, len(documents)+1)
		n, err := reader.Read(buffer)
		if err == io.EOF {
			o := s.snapshot()
			o.at, o.clusterCA, o.unread = today, "the cluster's CA", map[string]bool{}
			return o
		}
		if err != nil {
			t.Fatal(err)
		}
		if document := bytes.TrimSpace(buffer[:n]); len(document) > 0 {
			s.add(t, document)
		}
	}
}

// newTestSource returns a source of which only the stores are used. They keep the
// labels that a test selects by.
func newTestSource(t testing.TB) *Source {
	t.Helper()
	selector, err := labels.Parse("team")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSource(Config{Selector: selector}, &rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add gives one object to the store of its kind.
func (s *Source) add(t testing.TB, document []byte) {
	t.Helper()
	var head struct{ Kind string }
	if err := yaml.Unmarshal(document, &head); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	w := s.watcherOf(head.Kind)
	if w == nil {
		t.Fatalf("no resource has kind %q of\n%s", head.Kind, document)
	}
	if err := w.store.Add(w.parse(t, document)); err != nil {
		t.Fatal(err)
	}
}

// parse reads one object of the watched kind.
func (w *watcher) parse(t testing.TB, document []byte) runtime.Object {
	t.Helper()
	object := w.example.DeepCopyObject()
	if err := yaml.Unmarshal(document, object); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	return object
}

// watcherOf returns the watcher of a kind, nil if there is none.
func (s *Source) watcherOf(kind string) *watcher {
	for _, w := range s.watchers {
		if w.resource.kind == kind {
			return w
		}
	}
	return nil
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
