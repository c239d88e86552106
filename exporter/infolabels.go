package exporter

import (
	"slices"
	"strings"

	"tlsprobe/probe"
)

// infoLabels are the labels of a target's tlsprobe_target_info. They are made
// anew for each target of each scrape, in the same memory: kept, they would be a
// tenth of what a target costs.
type infoLabels struct {
	names, values []string
	known         map[string]string // label names by what the target calls them
}

// taken are names that a target's label may not have: those of our own, and
// those that a scrape attaches, which would rename ours to exported_*. Such a
// label gets the prefix "target_".
var taken = []string{"target", "module", "address", "instance", "job", "namespace", "pod", "container", "endpoint", "service", "node"}

// set makes l the labels of t.
func (l *infoLabels) set(t *probe.Target) {
	l.names = append(l.names[:0], "target", "module", "address")
	l.values = append(l.values[:0], t.Name, t.Module.Name, t.Address)
	for _, label := range t.Labels {
		name := l.name(label.Name)
		if slices.Contains(l.names, name) {
			continue // two keys that differ only in what a label name cannot hold
		}
		l.names = append(l.names, name)
		l.values = append(l.values, label.Value)
	}
}

// name is labelName, remembered: targets have the same few keys.
func (l *infoLabels) name(key string) string {
	name, ok := l.known[key]
	if !ok {
		if l.known == nil {
			l.known = map[string]string{}
		}
		name = labelName(key)
		l.known[key] = name
	}
	return name
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
