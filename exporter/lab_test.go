package exporter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// TestEveryScenarioIsShown probes all that the lab has and reads the verdict back
// from the text and the metrics. Whether it is the right one, package probe's
// own tests say.
func TestEveryScenarioIsShown(t *testing.T) {
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	runner := probe.NewRunner("node-a")
	for _, s := range lab.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			instance, err := l.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			defer instance.Close()
			r := runner.Run(t.Context(), instance.Target)
			store := exporter.NewStore(nil)
			store.SetTargets([]*probe.Target{instance.Target})
			store.Record(r)
			checkVerdict(t, store, r)
			checkProblems(t, store, r)
		})
	}
}

func checkVerdict(t *testing.T, store *exporter.Store, r *probe.Result) {
	t.Helper()
	view, _ := store.View(r.Target.Name)
	var b strings.Builder
	if err := exporter.WriteText(&b, view); err != nil {
		t.Fatal(err)
	}
	checkText(t, b.String())
	want := "OK    " + r.Target.Name
	if worst := r.Worst(); worst != nil {
		word := map[probe.Severity]string{probe.Error: "FAIL", probe.Warning: "WARN"}[worst.Reason.Severity]
		want = word + "  " + worst.Reason.ID + "  " + r.Target.Name
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); first != want {
		t.Errorf("line 1 is %q, want %q", first, want)
	}
	t.Log("\n" + b.String())
}

func checkProblems(t *testing.T, store *exporter.Store, r *probe.Result) {
	t.Helper()
	want := map[string]string{}
	for _, reason := range r.Reasons() {
		want[fmt.Sprintf("tlsprobe_problem{target=%q,reason=%q,phase=%q,severity=%q}",
			r.Target.Name, reason.ID, reason.Phase, reason.Severity)] = "1"
	}
	if diff := cmp.Diff(want, scrape(t, newHandler(store), "tlsprobe_problem{")); diff != "" {
		t.Errorf("tlsprobe_problem (-want +got):\n%s", diff)
	}
}
