package discover

import (
	"errors"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// everything has a field of each kind that a prober's settings may have.
type everything struct {
	Text     string
	Renamed  string         `yaml:"other_name,omitempty"`
	Duration *time.Duration `yaml:"duration"`
	Whole    int8           `yaml:"whole"`
	Unsigned uint           `yaml:"unsigned"`
	Fraction float64        `yaml:"fraction"`
	Flag     bool           `yaml:"flag"`
	Address  netip.Addr     `yaml:"address"` // reads text
	Any      any            `yaml:"any"`
	Steps    []step         `yaml:"steps"`
	ByName   map[string]step
	ByNumber map[int][]string `yaml:"by_number"`
	Lenient  lenient          `yaml:"lenient"`
	OneOrAll oneOrAll         `yaml:"one_or_all"`
	Word     word             `yaml:"word"`
	KeyFile  string           `yaml:"key_file"`
	Hidden   string           `yaml:"-"`
	Inlined  step             `yaml:",inline"`
}

type step struct {
	Send string `yaml:"send"`
}

// lenient has the Unmarshaler of yaml.v2, as prometheus/common's types do: it
// sets defaults, decodes, then checks.
type lenient struct {
	Method string `yaml:"method"`
}

func (l *lenient) UnmarshalYAML(unmarshal func(any) error) error {
	type plain lenient
	*l = lenient{Method: "GET"}
	if err := unmarshal((*plain)(l)); err != nil {
		return err
	}
	if l.Method == "BREW" {
		return errors.New("is a teapot's method")
	}
	return nil
}

// oneOrAll tries one form and then another.
type oneOrAll []string

func (o *oneOrAll) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*o = oneOrAll{one}
		return nil
	}
	return unmarshal((*[]string)(o))
}

// word has the Unmarshaler of yaml.v3.
type word string

func (w *word) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "bad" {
		return errors.New("yaml: is a bad word")
	}
	*w = word(n.Value)
	return nil
}

func decodeEverything(t *testing.T, text string) (everything, *decoder) {
	t.Helper()
	root, syntax := parseYAML("c.yaml", []byte(text))
	if syntax != nil {
		t.Fatal(syntax)
	}
	d := newDecoder("c.yaml", "/etc")
	v := everything{Text: "default", Steps: []step{{"default"}}}
	d.value(root, reflect.ValueOf(&v).Elem(), "")
	d.errs.sort()
	return v, d
}

func TestDecode(t *testing.T) {
	got, d := decodeEverything(t, `
other_name: 5
duration: 1m30s
whole: -0x10
unsigned: 7
fraction: 2.5e1
flag: On
address: 10.0.0.1
any: {a: [1, two]}
steps: [{send: a}, {send: !!binary AAEi}]
byname: {x: {send: c}}
by_number: {1: [one], 2: ~}
lenient: {}
one_or_all: one
word: good
key_file: tls.key
send: inlined
`)
	if err := d.errs.err(); err != nil {
		t.Fatal(err)
	}
	duration := 90 * time.Second
	want := everything{
		Text: "default", Renamed: "5", Duration: &duration, Whole: -16, Unsigned: 7, Fraction: 25, Flag: true,
		Address:  netip.MustParseAddr("10.0.0.1"),
		Any:      map[string]any{"a": []any{1, "two"}},
		Steps:    []step{{"a"}, {"\x00\x01\""}},
		ByName:   map[string]step{"x": {"c"}},
		ByNumber: map[int][]string{1: {"one"}, 2: nil},
		Lenient:  lenient{Method: "GET"}, OneOrAll: oneOrAll{"one"}, Word: "good",
		KeyFile: filepath.FromSlash("/etc/tls.key"), Inlined: step{"inlined"},
	}
	sameAddr := cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
	if diff := cmp.Diff(want, got, sameAddr); diff != "" {
		t.Errorf("values differ (-want +got):\n%s", diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct{ name, yaml, want string }{
		{"number too large for its type", `whole: 128`, `c.yaml:1:8: whole: 128 is out of range`},
		{"number below zero", `unsigned: -1`, `c.yaml:1:11: unsigned: "-1" is not a whole number above or equal to 0`},
		{"no number", `fraction: half`, `c.yaml:1:11: fraction: "half" is not a number`},
		{"text that is no base64", `other_name: !!binary x?`, `c.yaml:1:13: other_name: "x?" is not base64, as !!binary wants it`},
		{"list for text that is parsed", `address: [a]`, `c.yaml:1:10: address: is a list; write text`},
		{"text that does not parse", `address: 10.0.0`, `c.yaml:1:10: address: ParseAddr("10.0.0"): IPv4 address too short`},
		{"key of a list's item", `steps: [{sned: x}]`, `c.yaml:1:10: steps[0].sned: unknown key; did you mean "send"?`},
		{"key of a map's value", `byname: {"a b": {sned: x}}`, `c.yaml:1:18: byname["a b"].sned: unknown key; did you mean "send"?`},
		{"key of a map", `by_number: {x: []}`, `c.yaml:1:13: by_number.x: "x" is not a whole number`},
		{"key behind an Unmarshaler", "lenient:\n  metod: GET", `c.yaml:2:3: lenient.metod: unknown key; did you mean "method"?`},
		{"the Unmarshaler's own error", `lenient: {method: BREW}`, `c.yaml:1:10: lenient: is a teapot's method`},
		{"the last of two forms", `one_or_all: [{a: b}]`, `c.yaml:1:14: one_or_all[0]: is a mapping; write text`},
		{"yaml.v3's Unmarshaler", `word: bad`, `c.yaml:1:7: word: is a bad word`},
		{"field that is left out", `hidden: x`, `c.yaml:1:1: hidden: unknown key`},
		{"long value", `duration: ` + strings.Repeat("x", 100), `c.yaml:1:11: duration: "` + strings.Repeat("x", 40) + `..." is no duration; write one such as 30s or 1m30s`},
		{"pointer to a wrong type", `duration: []`, `c.yaml:1:11: duration: is a list; write a duration such as 30s or 1m30s`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, d := decodeEverything(t, test.yaml)
			if diff := cmp.Diff(test.want, d.errs.Error()); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}
