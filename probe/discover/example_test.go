package discover

import (
	"encoding"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

const example = "../../config.example.yaml"

// The example is the reference: it loads, and every key that the types know
// stands in it and has a comment where it stands first.
func TestExample(t *testing.T) {
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(example, data); err != nil {
		t.Error(err)
	}
	root, syntax := parseYAML(example, data)
	if syntax != nil {
		t.Fatal(syntax)
	}
	commented := map[string]bool{}
	writtenKeys(root, "", commented)
	known := grammarKeys(reflect.TypeFor[grammar](), "")
	if len(known) < 40 {
		t.Fatalf("only %d keys known: %q", len(known), known)
	}
	for _, key := range known {
		switch comment, written := commented[key]; {
		case !written:
			t.Errorf("%s is not in the example", key)
		case !comment:
			t.Errorf("%s has no comment where it stands first", key)
		}
	}
}

// grammarKeys returns the key paths that a type can hold. The keys of a map are
// written *, the items of a list [].
func grammarKeys(t reflect.Type, path string) []string {
	switch {
	case t == reflect.TypeFor[moduleEntry]():
		keys := []string{path + ".prober", path + ".timeout", path + ".ssl_metrics"}
		for _, kind := range probe.Kinds() {
			prober := reflect.TypeOf(probe.NewProber(kind)).Elem()
			keys = append(keys, path+"."+kind)
			keys = append(keys, grammarKeys(prober, path+"."+kind)...)
		}
		return keys
	case t == reflect.TypeFor[allowEntry]():
		return grammarKeys(reflect.TypeFor[[]allowRuleEntry](), path)
	case t == reflect.TypeFor[probe.TLSConfig]():
		path = "tls_config" // explained once for all probers
	case strings.HasPrefix(t.PkgPath(), "github.com/prometheus/common/"):
		return nil // Prometheus explains its own
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return grammarKeys(t.Elem(), path)
	case reflect.Slice:
		return grammarKeys(t.Elem(), path+"[]")
	case reflect.Map:
		return grammarKeys(t.Elem(), path+".*")
	case reflect.Struct:
		var keys []string
		fields := map[string][]int{}
		fieldsOf(t, nil, fields)
		for name, index := range fields {
			key := strings.TrimPrefix(path+"."+name, ".")
			keys = append(keys, key)
			keys = append(keys, grammarKeys(t.FieldByIndex(index).Type, key)...)
		}
		slices.Sort(keys)
		return keys
	}
	return nil
}

// writtenKeys collects the key paths of a tree, and whether the first key at
// each has a comment. The names of modules are written *.
func writtenKeys(n *yaml.Node, path string, into map[string]bool) {
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			writtenKeys(child, path+"[]", into)
		case i%2 == 1:
			key := n.Content[i-1]
			name := key.Value
			if path == "modules" {
				name = "*"
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			if strings.HasSuffix(path, ".tls_config") {
				at = "tls_config." + name
			}
			if _, seen := into[at]; !seen {
				into[at] = key.HeadComment+key.LineComment+child.LineComment+n.HeadComment != ""
			}
			writtenKeys(child, at, into)
		}
	}
}
