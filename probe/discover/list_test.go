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
	} {
		f.Add([]byte(list))
	}
	rules := targetRules{modules: probe.BuiltinModules(), times: times{interval: defaultInterval}}
	f.Fuzz(func(t *testing.T, body []byte) {
		list, left, err := rules.parseList("http://hub/", body)
		if err != nil && len(list)+len(left) > 0 {
			t.Errorf("%d targets and %d errors with the error %v", len(list), len(left), err)
		}
		names := map[string]bool{}
		for _, target := range list {
			if target.Name == "" || names[target.Name] || target.Module == nil ||
				target.Timeout <= 0 || target.Timeout >= target.Interval {
				t.Errorf("target %+v cannot be probed", target)
			}
			names[target.Name] = true
		}
	})
}
