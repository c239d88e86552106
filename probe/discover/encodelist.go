package discover

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tlsprobe/probe"
)

// EncodeList returns the list of one node as an [HTTPSource] reads it, in two
// pieces that follow each other: the first is the same for all nodes and holds the
// common targets, the second is what EncodeOwn makes of the node's own. The same
// targets always give the same bytes.
func EncodeList(common []*probe.Target) ([]byte, error) {
	whole, err := encodeTargets(common)
	if err != nil {
		return nil, err
	}
	return whole[:len(whole)-1], nil
}

// EncodeOwn returns what completes the list that EncodeList begins.
func EncodeOwn(own []*probe.Target) ([]byte, error) {
	if len(own) == 0 {
		return []byte("}"), nil
	}
	object, err := encodeTargets(own)
	return slices.Concat([]byte(`,"own":`), object, []byte("}")), err
}

// encodeTargets writes the targets as a [listGrammar].
func encodeTargets(targets []*probe.Target) ([]byte, error) {
	w := &listWriter{
		usual:  usualSchedule(targets),
		keys:   map[string]string{},
		names:  map[string]int{},
		cas:    map[string]string{},
		groups: map[string]int{},
	}
	for _, t := range targets {
		if err := w.add(t); err != nil {
			return nil, fmt.Errorf("writing the target %q: %w", t.Name, err)
		}
	}
	return w.bytes()
}

// usualSchedule is the schedule that most of the targets have, of several such the
// shortest.
func usualSchedule(targets []*probe.Target) probe.Schedule {
	count := map[probe.Schedule]int{}
	var usual probe.Schedule
	for _, t := range targets {
		count[t.Schedule]++
	}
	for s, n := range count {
		if cmp.Or(cmp.Compare(n, count[usual]), cmp.Compare(usual.Interval, s.Interval), cmp.Compare(usual.Timeout, s.Timeout)) > 0 {
			usual = s
		}
	}
	return usual
}

// A listWriter gathers what a list holds.
type listWriter struct {
	usual   probe.Schedule
	modules []writtenModule   // in order of their keys' first use
	keys    map[string]string // of modules: by name and settings
	names   map[string]int    // how many modules have it
	cas     map[string]string
	entries []writtenEntry
	groups  map[string]int // entries by what they have in common
}

// A writtenModule is a module in JSON.
type writtenModule struct {
	key      string
	settings []byte
}

// A writtenEntry is a group of targets that differ in their names only.
type writtenEntry struct {
	names    []string
	first    listEntry // of them
	template listEntry
}

func (w *listWriter) add(t *probe.Target) error {
	module, err := w.module(t.Module)
	if err != nil {
		return err
	}
	e := entryOf(t, w.usual)
	e.Target.Module = module
	if t.Trust.PEM != "" {
		sum := sha256.Sum256([]byte(t.Trust.PEM))
		e.CAID = hex.EncodeToString(sum[:8])
		w.cas[e.CAID] = t.Trust.PEM
	}
	template, ok := e.template(t.Name)
	group, err := encodeEntry(&template)
	if err != nil {
		return err
	}
	i, known := w.groups[string(group)]
	if !known || !ok {
		i = len(w.entries)
		w.entries = append(w.entries, writtenEntry{first: e, template: template})
	}
	if ok {
		w.groups[string(group)] = i
	}
	w.entries[i].names = append(w.entries[i].names, t.Name)
	return nil
}

// entryOf returns t as it is written, but for the name, the module and the CA.
func entryOf(t *probe.Target, usual probe.Schedule) listEntry {
	e := listEntry{
		Target: targetEntry{
			Address:     t.Address,
			ServerName:  t.ServerName,
			CAFile:      t.Trust.File,
			SystemRoots: t.Trust.System,
			Labels:      t.Labels.Map(),
		},
		Undialled: t.Undialled,
	}
	if t.Interval != usual.Interval {
		e.Target.Interval = t.Interval
	}
	if t.Timeout != usual.Timeout {
		e.Target.Timeout = t.Timeout
	}
	for _, r := range t.Routes {
		e.Target.Routes = append(e.Target.Routes, routeEntry(r))
	}
	for _, f := range t.Faults {
		e.Faults = append(e.Faults, faultEntry{
			Reason:   f.Reason.ID,
			Warning:  f.Reason.Severity == probe.Warning,
			Detail:   f.Detail,
			Expected: f.Expected,
			Received: f.Received,
			Notes:    f.Notes,
		})
	}
	return e
}

// template returns e with placeholders for the parts of the name; not ok if it
// holds what a reader would take for one.
func (e *listEntry) template(name string) (template listEntry, ok bool) {
	parts := strings.Split(name, "/")
	ok = true
	template = e.texts(func(text string) string {
		ok = ok && !looksReplaced.MatchString(text)
		return withPlaceholders(text, parts)
	})
	return template, ok
}

var looksReplaced = regexp.MustCompile(`\{[0-9]+\}`)

// withPlaceholders replaces the parts of a name, where they stand as words of
// text; where several would fit, the longest. The first part is the kind of the
// target, and always the same.
func withPlaceholders(text string, parts []string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		longest := 0
		for p := 1; p < len(parts); p++ {
			if isWord(text, i, parts[p]) && (longest == 0 || len(parts[p]) > len(parts[longest])) {
				longest = p
			}
		}
		if longest == 0 {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(placeholder(longest))
		i += len(parts[longest])
	}
	return out.String()
}

// isWord reports whether word stands at the index of text, as a word.
func isWord(text string, at int, word string) bool {
	end := at + len(word)
	return word != "" && strings.HasPrefix(text[at:], word) &&
		(at == 0 || !isLetter(text[at-1])) && (end == len(text) || !isLetter(text[end]))
}

// isLetter reports whether c can be part of the name of an object.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// module returns the key of m among the modules of the list: of one that is not to
// be written there, its name.
func (w *listWriter) module(m *probe.Module) (string, error) {
	if m.Prober == nil {
		return m.Name, nil
	}
	settings, err := encodeModule(m)
	if err != nil {
		return "", fmt.Errorf("module %q: %w", m.Name, err)
	}
	id := m.Name + "\n" + string(settings)
	if w.keys[id] == "" {
		w.keys[id] = w.newKey(m.Name)
		w.modules = append(w.modules, writtenModule{w.keys[id], settings})
	}
	return w.keys[id], nil
}

// newKey returns a key that [moduleName] makes the name of, and no other module has.
func (w *listWriter) newKey(name string) string {
	if w.names[name]++; w.names[name] == 1 && !strings.Contains(name, "#") {
		return name
	}
	return name + "#" + strconv.Itoa(w.names[name])
}

// encodeModule writes m as [moduleEntry] reads it.
func encodeModule(m *probe.Module) ([]byte, error) {
	e := &encoder{}
	e.WriteByte('{')
	e.key("prober")
	e.text(m.Kind)
	if m.Timeout != 0 {
		e.key("timeout")
		e.text(m.Timeout.String())
	}
	if m.SSLMetrics {
		e.key("ssl_metrics")
		e.WriteString("true")
	}
	settings, defaults := reflect.ValueOf(m.Prober).Elem(), reflect.ValueOf(probe.NewProber(m.Kind)).Elem()
	if !same(settings, defaults) {
		e.key(m.Kind)
		if err := e.structure(settings, defaults); err != nil {
			return nil, err
		}
	}
	e.WriteByte('}')
	return e.Bytes(), nil
}

func encodeEntry(entry *listEntry) ([]byte, error) {
	e := &encoder{}
	err := e.structure(reflect.ValueOf(entry).Elem(), reflect.Zero(reflect.TypeFor[listEntry]()))
	return e.Bytes(), err
}

// bytes returns the list.
func (w *listWriter) bytes() ([]byte, error) {
	e := &encoder{}
	e.WriteByte('{')
	if w.usual != (probe.Schedule{}) {
		e.key("interval")
		e.text(w.usual.Interval.String())
		e.key("timeout")
		e.text(w.usual.Timeout.String())
	}
	if len(w.modules) > 0 {
		e.key("modules")
		e.WriteByte('{')
		for _, m := range w.modules {
			e.key(m.key)
			e.Write(m.settings)
		}
		e.WriteByte('}')
	}
	if len(w.cas) > 0 {
		e.key("cas")
		e.mapping(reflect.ValueOf(w.cas)) // of strings, which have a form
	}
	e.key("targets")
	e.WriteByte('[')
	for _, entry := range w.entries {
		e.separate('[')
		one, err := entry.bytes()
		if err != nil {
			return nil, err
		}
		e.Write(one)
	}
	e.WriteString("]}")
	return e.Bytes(), nil
}

func (w *writtenEntry) bytes() ([]byte, error) {
	e := w.template
	if len(w.names) == 1 {
		e = w.first
		e.Target.Name = w.names[0]
	} else {
		e.Names = w.names
	}
	return encodeEntry(&e)
}
