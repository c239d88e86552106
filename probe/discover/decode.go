package discover

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A decoder reads a YAML tree into Go values by their yaml tags, as yaml.v3
// does, but tells every key it does not know and every value of the wrong type,
// with its position and what to write instead. What a value holds before is the
// default of what the tree does not say.
type decoder struct {
	file    string
	dir     string                // what relative names of files start from, "" if nothing
	lenient bool                  // unknown keys are no errors
	at      map[string]*yaml.Node // by key path, what is written there
	bad     map[string]bool       // key paths that an error was told of
	files   []fileSetting
	errs    Errors
	warns   Errors
}

// A fileSetting is a setting that names a file: its key ends in _file.
type fileSetting struct {
	at   ConfigError // where it is written; no message yet
	name string      // of the file, as it is opened
}

func newDecoder(file, dir string) *decoder {
	return &decoder{file: file, dir: dir, at: map[string]*yaml.Node{}, bad: map[string]bool{}}
}

// A nodeDecoder reads itself from a tree.
type nodeDecoder interface {
	decodeNode(d *decoder, n *yaml.Node, path string)
}

// funcUnmarshaler is what yaml.v2 called an Unmarshaler: prometheus/common's
// types have it.
type funcUnmarshaler interface {
	UnmarshalYAML(unmarshal func(any) error) error
}

// value decodes n, which is written at the key path, into v.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	n = resolved(n)
	d.at[path] = n
	if v.Kind() == reflect.Pointer {
		if isNull(n) {
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if d.byItself(n, v, path) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Interface:
		if err := n.Decode(v.Addr().Interface()); err != nil {
			d.fail(n, path, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
	default:
		d.scalar(n, v, path)
	}
}

// byItself lets v decode itself, if its type can.
func (d *decoder) byItself(n *yaml.Node, v reflect.Value, path string) bool {
	var err error
	switch u := v.Addr().Interface().(type) {
	case nodeDecoder:
		u.decodeNode(d, n, path)
	case yaml.Unmarshaler:
		err = u.UnmarshalYAML(n)
	case funcUnmarshaler:
		err = u.UnmarshalYAML(func(into any) error { return d.apart(n, into, path) })
	case encoding.TextUnmarshaler:
		if n.Kind != yaml.ScalarNode || isNull(n) {
			d.wrongType(n, path, "text")
			return true
		}
		err = u.UnmarshalText([]byte(n.Value))
	default:
		return false
	}
	var found Errors
	switch {
	case errors.As(err, &found):
		for _, e := range found {
			d.add(e)
		}
	case err != nil:
		d.fail(n, path, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return true
}

// apart decodes n into another value and returns its errors instead of keeping
// them: who asked for it may try another form.
func (d *decoder) apart(n *yaml.Node, into any, path string) error {
	inner := newDecoder(d.file, d.dir)
	inner.lenient = d.lenient
	inner.value(n, reflect.ValueOf(into).Elem(), path)
	for path, n := range inner.at {
		d.at[path] = n
	}
	d.files = append(d.files, inner.files...)
	d.warns = append(d.warns, inner.warns...)
	return inner.errs.err()
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	known := map[string][]int{}
	fieldsOf(v.Type(), nil, known)
	for _, e := range d.entries(n, path) {
		index, ok := known[e.key.Value]
		if !ok {
			d.unknownKey(e, path, slices.Collect(maps.Keys(known)))
			continue
		}
		field := v.FieldByIndex(index)
		d.value(e.value, field, e.path)
		if field.Kind() == reflect.String && strings.HasSuffix(e.key.Value, "_file") && field.String() != "" {
			field.SetString(d.fileName(field.String(), e.path))
		}
	}
}

// fileName returns name as it is opened, and keeps it for [Config.CheckFiles].
func (d *decoder) fileName(name, path string) string {
	switch {
	case filepath.IsAbs(name):
	case d.dir == "":
		d.failAt(path, "%q is relative, and this list is in no folder; write an absolute path", name)
	default:
		name = filepath.Join(d.dir, name)
	}
	n := d.at[path]
	at := ConfigError{File: d.file, Line: n.Line, Column: n.Column, Key: path}
	d.files = append(d.files, fileSetting{at: at, name: name})
	return name
}

// fieldsOf collects the yaml keys of a struct type and of those inlined in it.
func fieldsOf(t reflect.Type, above []int, into map[string][]int) {
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(above[:len(above):len(above)], i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case strings.Contains(options, "inline"):
			fieldsOf(field.Type, index, into)
		case name == "":
			into[strings.ToLower(field.Name)] = index
		default:
			into[name] = index
		}
	}
}

// keys decodes the mapping n into one pointer for each key it may hold.
func (d *decoder) keys(n *yaml.Node, into map[string]any, path string) {
	for _, e := range d.entries(n, path) {
		if pointer, ok := into[e.key.Value]; ok {
			d.value(e.value, reflect.ValueOf(pointer).Elem(), e.path)
		} else {
			d.unknownKey(e, path, slices.Collect(maps.Keys(into)))
		}
	}
}

// unknownKey tells of a key that the mapping at the path may not hold. The key
// that was meant counts as told of: it is not missing as well.
func (d *decoder) unknownKey(e entry, path string, known []string) {
	near, hint := suggest(e.key.Value, known)
	if d.lenient {
		d.warn(e.key, e.path, "unknown key%s", hint)
		return
	}
	d.fail(e.key, e.path, "unknown key%s", hint)
	if near != "" {
		d.bad[keyPath(path, near)] = true
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	entries := d.entries(n, path)
	if v.IsNil() {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	}
	for _, e := range entries {
		key := reflect.New(v.Type().Key()).Elem()
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(e.key, key, e.path)
		d.value(e.value, value, e.path)
		v.SetMapIndex(key, value)
	}
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, path, "a list")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, out.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(out)
}

// An entry is one key of a mapping with its value.
type entry struct {
	key, value *yaml.Node
	path       string
}

// entries returns what a mapping holds, merge keys resolved
// (https://yaml.org/type/merge.html): what it says itself comes before what it
// merges, and of that the first counts.
func (d *decoder) entries(n *yaml.Node, path string) []entry {
	n = resolved(n)
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, path, "a mapping, key: value")
		return nil
	}
	var out []entry
	var merges []*yaml.Node
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolved(n.Content[i]), n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.fail(key, path, "a key is %s; write text", kindOf(key))
			continue
		}
		if key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		e := entry{key: key, value: value, path: keyPath(path, key.Value)}
		if same := first[key.Value]; same != nil {
			d.fail(key, e.path, "is written twice%s; keep one", alsoAt(same))
			continue
		}
		first[key.Value] = key
		out = append(out, e)
	}
	for _, merge := range merges {
		for _, e := range d.merged(merge, path) {
			if first[e.key.Value] == nil {
				first[e.key.Value] = e.key
				out = append(out, e)
			}
		}
	}
	return out
}

// merged returns the entries of the mapping, or the list of mappings, that a
// merge key names.
func (d *decoder) merged(n *yaml.Node, path string) []entry {
	n = resolved(n)
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var out []entry
	for _, item := range items {
		if resolved(item).Kind != yaml.MappingNode {
			d.fail(item, keyPath(path, "<<"), "is %s; write an alias of a mapping, such as *defaults", kindOf(item))
			continue
		}
		out = append(out, d.entries(item, path)...)
	}
	return out
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// keyPath returns the path of key below path.
func keyPath(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// fail tells what is wrong with n, which is written at the key path.
func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	d.add(&ConfigError{File: d.file, Line: n.Line, Column: n.Column, Key: path, Msg: fmt.Sprintf(format, args...)})
}

// failAt is fail for a path whose node is not at hand. Where nothing is written
// at the path, the position is that of what it would be part of.
func (d *decoder) failAt(path, format string, args ...any) {
	d.fail(d.nearest(path), path, format, args...)
}

// warnAt is failAt for what does not keep the rest from being used.
func (d *decoder) warnAt(path, format string, args ...any) {
	d.warn(d.nearest(path), path, format, args...)
}

func (d *decoder) warn(n *yaml.Node, path, format string, args ...any) {
	d.warns = append(d.warns, &ConfigError{File: d.file, Line: n.Line, Column: n.Column, Key: path, Msg: fmt.Sprintf(format, args...)})
}

// nearest returns what is written at the path, or around it.
func (d *decoder) nearest(path string) *yaml.Node {
	n := d.at[path]
	for above := path; n == nil && above != ""; {
		above = above[:max(0, strings.LastIndexAny(above, ".["))]
		n = d.at[above]
	}
	if n == nil {
		n = &yaml.Node{}
	}
	return n
}

func (d *decoder) add(e *ConfigError) {
	d.bad[e.Key] = true
	d.errs = append(d.errs, e)
}

// alsoAt says in which line n is, where lines are known.
func alsoAt(n *yaml.Node) string {
	if n == nil || n.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", n.Line)
}

// resolved returns what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
