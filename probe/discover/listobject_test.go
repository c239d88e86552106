package discover_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// A list from a hub is one that tlsprobe wrote, but perhaps of a later version:
// what is not understood is told, and costs no target.
func TestListFromANewerHub(t *testing.T) {
	got, err := read(t, []byte(`{
		"schema": 2,
		"interval": "20s",
		"modules": {
			"new": {"prober": "smtp", "smtp": {}},
			"tls#2": {"prober": "tls", "tls": {"alpn": ["acme"], "ech": true}}
		},
		"targets": [
			{"name": "a", "address": "a:1", "module": "new"},
			{"name": "b", "address": "b:1", "module": "tls#2", "weight": 7},
			{"name": "c", "address": "c:1", "module": "here"},
			{"name": "d", "address": "d:1", "module": "nowhere"},
			{"name": "e", "address": "e:1", "module": "tls", "faults": [
				{"reason": "new_fault", "detail": "the Service is on fire"},
				{"reason": "new_warning", "warning": true, "detail": "smoke"},
				{"reason": "weak_crypto", "warning": true, "detail": "old"}]},
			{"name": "f", "address": "nonsense", "module": "tls"},
			{"name": "g", "address": "g:1", "module": "tls", "ca_id": "1f"}
		]
	}`), "modules: {here: {prober: tls, timeout: 3s}}")

	verdicts := map[string][]string{}
	for _, target := range got {
		verdicts[target.Name] = []string{target.Module.Name, target.Interval.String()}
		for _, f := range target.Faults {
			verdicts[target.Name] = append(verdicts[target.Name], f.Reason.ID+": "+f.Detail)
		}
		if usable := target.Module.Prober != nil; target.Undialled == usable {
			t.Errorf("target %s has undialled: %t", target.Name, target.Undialled)
		}
	}
	const unusable = ", which cannot be used here"
	want := map[string][]string{
		"a": {"new", "20s", `target_misconfigured: the list of targets names the module "new"` + unusable},
		"b": {"tls", "20s"},
		"c": {"here", "20s"},
		"d": {"nowhere", "20s", `target_misconfigured: the list of targets names the module "nowhere"` + unusable},
		"e": {"tls", "20s", "target_misconfigured: the Service is on fire", "weak_crypto: old"},
	}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
	checkSaid(t, err, []string{
		`modules.new.prober: unknown prober "smtp"`,
		`modules.new.smtp: unknown key`,
		`modules["tls#2"].tls.ech: unknown key`,
		`schema: unknown key`,
		`targets[1].weight: unknown key`,
		`targets[4].faults[0].reason: "new_fault" is no reason that this version of tlsprobe knows`,
		`targets[4].faults[1].reason: "new_warning" is no reason that this version of tlsprobe knows`,
		`targets[5].address: "nonsense" has no port`,
		`targets[6].ca_id: "1f" is not among the cas of the list`,
	})
}

// What cannot be dialled for a reason that is not known here is no success.
func TestListUndialledWithoutReason(t *testing.T) {
	for _, faults := range []string{`[]`, `[{"reason": "new_warning", "warning": true, "detail": "smoke"}]`} {
		got, _ := read(t, []byte(`{"targets": [{"name": "a", "address": "a:1", "undialled": true, "faults": `+faults+`}]}`), "")
		if len(got) != 1 || len(got[0].Faults) != 1 || got[0].Faults[0].Reason.ID != "target_misconfigured" {
			t.Errorf("with the faults %s: %+v", faults, got)
		}
	}
}

// One entry can stand for several targets, whose names tell what differs; what one
// node has of its own can use what all have, or its own.
func TestListEntryForSeveral(t *testing.T) {
	got, err := read(t, []byte(`{
		"modules": {"m": {"prober": "tls", "timeout": "3s"}, "n": {"prober": "tls"}},
		"cas": {"1f": "PEM"},
		"targets": [{
			"names": ["ingress/shop/web", "ingress/{2}/a b"],
			"address": "{3}.{2}.svc:443", "module": "m", "ca_id": "1f",
			"labels": {"namespace": "{2}", "part": "{4}"},
			"routes": [{"via": "pod {3}", "address": "{3}:1"}]
		}],
		"own": {
			"interval": "5m", "timeout": "1m",
			"modules": {"n": {"prober": "tls", "timeout": "2s"}},
			"targets": [
				{"name": "k", "address": "k:1", "module": "m", "ca_id": "1f"},
				{"name": "l", "address": "l:1", "module": "n"}
			]
		}
	}`), "")
	checkSaid(t, err, []string{`targets[0].address: "ingress/{2}/a b" holds a space`, `targets[0].routes[0].address: "a b:1" has the host "a b"`})
	if len(got) != 3 {
		t.Fatalf("%d targets", len(got))
	}
	want := &probe.Target{
		Name:     "ingress/shop/web",
		Address:  "web.shop.svc:443",
		Module:   got[0].Module,
		Trust:    probe.Trust{PEM: "PEM"},
		Labels:   probe.Labels{{Name: "namespace", Value: "shop"}, {Name: "part", Value: "{4}"}},
		Routes:   []probe.Route{{Via: "pod web", Address: "web:1"}},
		Schedule: probe.Schedule{Interval: 30 * time.Second, Timeout: 3 * time.Second},
	}
	if diff := cmp.Diff(want, got[0], sameTargets); diff != "" {
		t.Errorf("target differs (-want +got):\n%s", diff)
	}
	if own := got[1]; own.Module != got[0].Module || own.Trust.PEM != "PEM" || own.Interval != 5*time.Minute {
		t.Errorf("own target %+v", own)
	}
	if own := got[2]; own.Timeout != 2*time.Second {
		t.Errorf("own target %+v with another module of the name", own)
	}
}
