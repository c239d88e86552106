package probe

import (
	"maps"
	"slices"
	"unique"
)

// Labels say more of a target, in order of their names, each of which occurs
// once. There are thousands of targets with two or three labels, and a map of so
// few takes 300 bytes more.
type Labels []Label

// A Label is one of them.
type Label struct{ Name, Value string }

// LabelsOf returns the labels of m. Equal strings are kept once: targets have the
// same names, and often the same values.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return nil
	}
	out := make(Labels, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Label{unique.Make(name).Value(), unique.Make(m[name]).Value()})
	}
	return out
}

// Get returns the value of the label of this name, "" if there is none.
func (l Labels) Get(name string) string {
	for _, label := range l {
		if label.Name == name {
			return label.Value
		}
	}
	return ""
}

// Map returns l as a map, nil if there are none.
func (l Labels) Map() map[string]string {
	if len(l) == 0 {
		return nil
	}
	m := make(map[string]string, len(l))
	for _, label := range l {
		m[label.Name] = label.Value
	}
	return m
}
