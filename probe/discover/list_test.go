package discover

import (
	"testing"

	"tlsprobe/probe"
)

// FuzzList holds the reading of lists from elsewhere to its promise: what it
// hands over can be probed.
func FuzzList(f *testing.F) {
	for _, list := range []string{
		`[{"name": "a", "address": "a:1", "labels": {"b": "c"}, "interval": "20s"}, {"address": "https://[::1]/"}]`,
		`[{"address": 7, "address": null, "system_roots": "yes", "<<": []}, [[]], {"": 1e999}]`,
		`{"targets": []}`, `[{"address": "a:1"`, `"`, `[] []`,
		`{"interval": "20s", "timeout": "3s", "modules": {"m#2": {"prober": "tls", "tls": {"alpn": []}}, "n": {"prober": "new"}},
			"cas": {"1f": "PEM"}, "targets": [{"names": ["a/b", "a/c/d", "{1}/{3}"], "address": "{2}.{9}:1", "module": "m#2",
			"ca_id": "1f", "routes": [{"via": "{1}", "address": "{2}:1"}], "labels": {"x": "{2}"}, "faults": [{"reason": "no_endpoints",
			"detail": "{1}", "notes": ["{2}"]}, {"reason": "new", "warning": true}], "undialled": true},
			{"name": "n", "module": "n", "address": ""}], "own": {"interval": "1ms", "targets": [{"address": "{1}", "new": {}}]}}`,
		`{"targets": [{"module": "nowhere"}]}`,
		`{"targets": [{"names": "a"}, {"names": ["a", "a", ""], "address": "{1}:1", "faults": {}}, 7], "cas": [], "modules": 7, "own": {"own": []}}`,
	} {
		f.Add([]byte(list))
	}
	rules := targetRules{modules: probe.BuiltinModules(), times: times{interval: defaultInterval}}
	f.Fuzz(func(t *testing.T, body []byte) {
		list, left, err := rules.parseList("http://hub/", body)
		if err != nil && len(list)+len(left) > 0 {
			t.Errorf("%d targets and %d errors with the error %v", len(list), len(left), err)
		}
		if len(rules.modules) != len(probe.BuiltinModules()) {
			t.Error("a module of the list is among the agent's own")
		}
		names := map[string]bool{}
		for _, target := range list {
			if target.Name == "" || names[target.Name] || target.Module == nil || target.Module.Prober == nil && !target.Undialled ||
				target.Undialled && len(target.Faults) == 0 || target.Timeout <= 0 || target.Timeout >= target.Interval {
				t.Errorf("target %+v cannot be probed", target)
			}
			names[target.Name] = true
		}
	})
}
