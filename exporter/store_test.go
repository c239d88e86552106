package exporter_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

func TestStoreTransitions(t *testing.T) {
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{kong})
	weak, wrong := resultWeak(), resultWrongName()
	expired := result(kong, attempt("10.96.44.10:443", problem("cert_expired", "")))
	for _, step := range []struct {
		name     string
		result   *probe.Result
		changed  bool
		previous *probe.Result
	}{
		{"first result", resultOK(), true, nil},
		{"still ok", resultOK(), false, nil},
		{"a warning", weak, true, nil},
		{"failing", wrong, true, weak},
		{"steady failure", resultWrongName(), false, nil},
		{"another reason", expired, true, nil},
		{"recovered", resultOK(), true, expired},
	} {
		change, changed := store.Record(step.result)
		if changed != step.changed {
			t.Errorf("%s: changed is %t", step.name, changed)
		}
		if changed && change.Result != step.result {
			t.Errorf("%s: the change is not about the result recorded", step.name)
		}
		if step.previous != nil && change.Previous != step.previous {
			t.Errorf("%s: the change does not tell the result before", step.name)
		}
	}
	v, _ := store.View(kong.Name)
	if v.LastFailure != expired {
		t.Error("the last failure was not kept")
	}
	if got := string(historyBytes(v.History)); got != "..wFFF." {
		t.Errorf("history %q", got)
	}
}

func historyBytes(h []exporter.Outcome) (b []byte) {
	for _, o := range h {
		b = append(b, byte(o))
	}
	return b
}

func TestStoreHistoryKeepsTheLast(t *testing.T) {
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{kong})
	for i := range 61 {
		if i == 1 {
			store.Record(resultWrongName())
		} else {
			store.Record(resultOK())
		}
	}
	v, _ := store.View(kong.Name)
	if h := historyBytes(v.History); len(h) != 60 || h[0] != 'F' || h[1] != '.' {
		t.Errorf("history %q", h)
	}
}

func TestStoreDrops(t *testing.T) {
	moved := *kong
	moved.Address = "elsewhere:443"
	invalid := resultOK()
	invalid.Invalid, invalid.Attempts = "cancelled", nil
	relabelled := *kong
	relabelled.Labels = probe.LabelsOf(map[string]string{"team": "other"})
	relabelled.Module = module("tls") // equal, but not the same pointer
	rolled := *kong
	rolled.Routes = []probe.Route{{Via: "pod a", Address: "10.0.0.1:443"}}
	faulty := *kong
	faulty.Faults = []probe.Problem{problem("weak_crypto", "")}
	undialled := *kong
	undialled.Undialled = true
	for _, test := range []struct {
		name   string
		result *probe.Result
		kept   bool
	}{
		{"invalid", invalid, false},
		{"unknown target", result(target("gone", "a:1", "tls"), attempt("10.0.0.1:443")), false},
		{"target changed", result(&moved, attempt("10.0.0.1:443")), false},
		{"another prober", result(target(kong.Name, kong.Address, "http"), attempt("10.0.0.1:443")), false},
		{"other routes", result(&rolled, attempt("10.0.0.1:443")), false},
		{"other faults", result(&faulty, attempt("10.0.0.1:443")), false},
		{"undialled", result(&undialled, attempt("10.0.0.1:443")), false},
		{"only labels changed", result(&relabelled, attempt("10.0.0.1:443")), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := exporter.NewStore(nil)
			store.SetTargets([]*probe.Target{kong})
			_, changed := store.Record(test.result)
			v, _ := store.View(kong.Name)
			if kept := v.Result != nil; kept != test.kept || changed != test.kept {
				t.Errorf("kept %t, changed %t; want %t", kept, changed, test.kept)
			}
		})
	}
}

func TestStoreSetTargets(t *testing.T) {
	other := target("other", "other:443", "http")
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{other, kong})
	store.Record(resultOK())
	store.Record(result(other, attempt("10.0.0.1:443")))

	slower := *kong
	slower.Interval = time.Minute
	changed := *other
	changed.ServerName = "b"
	store.SetTargets([]*probe.Target{&slower, &changed})
	var pending []string
	for _, v := range store.Views() {
		if v.Result == nil {
			pending = append(pending, v.Target.Name)
		}
	}
	if diff := cmp.Diff([]string{"other"}, pending); diff != "" {
		t.Errorf("pending after one target's pace and the other's name changed (-want +got):\n%s", diff)
	}
	if store.Target("kong-validation").Interval != time.Minute {
		t.Error("the new pace is not known")
	}

	store.SetTargets(nil)
	if _, ok := store.View(kong.Name); ok {
		t.Error("a target that is gone is still known")
	}
	store.SetTargets([]*probe.Target{kong})
	if v, _ := store.View(kong.Name); v.Result != nil || len(v.History) > 0 {
		t.Error("a target that came back brought its past along")
	}
}

// Pods come and go all the time; what they serve has its history nevertheless.
func TestStoreKeepsHistoryOverRoutes(t *testing.T) {
	store := exporter.NewStore(nil)
	before := hook()
	store.SetTargets([]*probe.Target{before})
	store.Record(result(before, attempt("10.96.3.4:443", problem("tcp_refused", ""))))
	after := *before
	after.Routes, after.Faults, after.Undialled = after.Routes[:1], nil, true
	store.SetTargets([]*probe.Target{&after})
	store.Record(result(&after, attempt("10.96.3.4:443")))
	if v, _ := store.View(before.Name); string(historyBytes(v.History)) != "F." || v.Target != &after {
		t.Errorf("history %q", historyBytes(v.History))
	}
}

func TestViewTimes(t *testing.T) {
	v := scheduled(t, start.Add(12*time.Second), resultOK(), resultWrongName(), resultWrongName())
	if want := 12*time.Second - 41*time.Millisecond; v.Age != want {
		t.Errorf("age %s, want %s", v.Age, want)
	}
	if v.Next != 18*time.Second {
		t.Errorf("next %s", v.Next)
	}
	if want := start.Add(-30 * time.Second); !v.Since.Equal(want) {
		t.Errorf("failing since %s, want %s", v.Since, want)
	}
}
