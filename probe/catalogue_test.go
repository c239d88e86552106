package probe_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// TestScenarios runs every server of the lab and compares the reasons found with
// those that the scenario promises.
func TestScenarios(t *testing.T) {
	l := newLab(t)
	for _, s := range lab.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			i, err := l.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			defer i.Close()
			// A Runner of its own, as diagnoses are limited per Runner.
			res := probe.NewRunner("test-node").Run(t.Context(), i.Target)
			checkScenario(t, s, res)
			i.Close()
			if log := i.Log(); log != "" && mustBeQuiet(s) {
				t.Errorf("the probe left lines in the server's log:\n%s", log)
			}
		})
	}
}

// mustBeQuiet reports whether a probe may leave no line in the server's log:
// whenever the handshake completes and we are the ones who judge. What the
// request provokes is left to the server.
func mustBeQuiet(s lab.Scenario) bool {
	return !slices.ContainsFunc(s.Reasons, func(id string) bool {
		phase := probe.Lookup(id).Phase
		return phase == probe.PhaseTLS || phase == probe.PhaseRequest
	})
}

// TestCatalogueIsProvoked fails for a reason that no server of the lab shows.
func TestCatalogueIsProvoked(t *testing.T) {
	provoked := map[string]bool{
		"address_refused": true, // by TestGuardRefuses, as the lab's targets may all be dialled
		"prober_panic":    true, // by TestPanicIsAResult, as no server should be able to
	}
	for _, s := range lab.Scenarios() {
		for _, id := range s.Reasons {
			provoked[id] = true
		}
	}
	for _, r := range probe.Catalogue() {
		if !r.LogOnly && !provoked[r.ID] {
			t.Errorf("no scenario of the lab provokes %s", r.ID)
		}
	}
}

// TestGuardRefuses dials good servers that the guard does not admit: the
// target's own, and the one that a redirect leads to.
func TestGuardRefuses(t *testing.T) {
	l := newLab(t)
	direct, redirect := startScenario(t, l, "good-https").Target, startScenario(t, l, "good-redirect").Target
	first, err := url.Parse(redirect.Address)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target *probe.Target
		allow  probe.AllowList
	}{
		{direct, nil},
		{redirect, probe.AllowList{rule("127.0.0.0/8", first.Port())}},
	} {
		res := probe.NewRunner("test-node").Guarded(tt.allow.Guard()).Run(t.Context(), tt.target)
		if diff := cmp.Diff([]string{"address_refused"}, ids(res)); diff != "" {
			t.Errorf("%s: reasons differ (-want +found):\n%s", tt.target.Name, diff)
		}
	}
}

// TestServerLogNamesTheCause shows a reason that no probe can find from outside:
// the server's log has it.
func TestServerLogNamesTheCause(t *testing.T) {
	i := startScenario(t, newLab(t), "kubelet-csr-pending")
	probe.NewRunner("test-node").Run(t.Context(), i.Target)
	i.Close() // completes the log
	line, _, _ := strings.Cut(i.Log(), "\n")
	matches := probe.MatchLog(line)
	if len(matches) == 0 || matches[0].Reason.ID != "no_server_certificate" || matches[0].Side != probe.ServerSide {
		t.Errorf("%q is read as %+v, want no_server_certificate by the server", line, matches)
	}
}

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// startScenario runs the scenario of this name.
func startScenario(t *testing.T, l *lab.Lab, name string) *lab.Instance {
	t.Helper()
	all := lab.Scenarios()
	n := slices.IndexFunc(all, func(s lab.Scenario) bool { return s.Name == name })
	if n < 0 {
		t.Fatalf("the lab has no scenario %q", name)
	}
	i, err := l.Start(all[n])
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// ids returns the ids of the reasons that were found.
func ids(res *probe.Result) []string {
	var found []string
	for _, r := range res.Reasons() {
		found = append(found, r.ID)
	}
	return found
}

func checkScenario(t *testing.T, s lab.Scenario, res *probe.Result) {
	t.Helper()
	if res.Invalid != "" {
		t.Fatalf("invalid: %s", res.Invalid)
	}
	if diff := cmp.Diff(s.Reasons, ids(res)); diff != "" {
		t.Errorf("reasons differ (-promised +found):\n%s", diff)
		for _, a := range res.Attempts {
			for _, p := range a.Problems {
				t.Logf("%s: %s %q", p.Reason.ID, p.Detail, p.Notes)
			}
		}
	}
	worst := ""
	if p := res.Worst(); p != nil {
		worst = p.Reason.ID
	}
	if want := slices.Concat(s.Reasons, []string{""})[0]; worst != want {
		t.Errorf("verdict %q, want %q", worst, want)
	}
}
