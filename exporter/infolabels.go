package exporter

import (
	"maps"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// infoLabels are the labels of a target's tlsprobe_target_info.
type infoLabels struct{ names, values []string }

// taken are names that a target's label may not have: those of our own, and
// those that a scrape attaches, which would rename ours to exported_*. Such a
// label gets the prefix "target_".
var taken = []string{"target", "module", "address", "instance", "job", "namespace", "pod", "container", "endpoint", "service", "node"}

func newInfoLabels(t *probe.Target) *infoLabels {
	info := &infoLabels{
		names:  []string{"target", "module", "address"},
		values: []string{t.Name, t.Module.Name, t.Address},
	}
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		name := labelName(key)
		if slices.Contains(info.names, name) {
			continue // two keys that differ only in what a label name cannot hold
		}
		info.names = append(info.names, name)
		info.values = append(info.values, t.Labels[key])
	}
	return info
}

// labelName makes a label name of any key, such as a Kubernetes label's.
func labelName(key string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, key)
	if slices.Contains(taken, name) || name == "" || name[0] >= '0' && name[0] <= '9' || strings.HasPrefix(name, "__") {
		return "target_" + name
	}
	return name
}
