package discover

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var durationType = reflect.TypeFor[time.Duration]()

// scalar decodes a single value.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case v.Type() == durationType:
		d.duration(n, v, path)
	case v.Kind() == reflect.String:
		if d.isScalar(n, path, "text") {
			d.text(n, v, path)
		}
	case v.Kind() == reflect.Bool:
		if d.isScalar(n, path, "true or false") {
			d.boolean(n, v, path)
		}
	case v.CanInt():
		if d.isScalar(n, path, "a whole number") {
			i, err := strconv.ParseInt(n.Value, 0, v.Type().Bits())
			d.number(n, path, "a whole number", err)
			v.SetInt(i)
		}
	case v.CanUint():
		if d.isScalar(n, path, "a whole number") {
			u, err := strconv.ParseUint(n.Value, 0, v.Type().Bits())
			d.number(n, path, "a whole number above or equal to 0", err)
			v.SetUint(u)
		}
	case v.CanFloat():
		if d.isScalar(n, path, "a number") {
			f, err := strconv.ParseFloat(n.Value, v.Type().Bits())
			d.number(n, path, "a number", err)
			v.SetFloat(f)
		}
	default:
		panic("discover: no YAML form for " + v.Type().String())
	}
}

// isScalar reports whether n is a single value, and tells if it is not.
func (d *decoder) isScalar(n *yaml.Node, path, want string) bool {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return true
	}
	d.wrongType(n, path, want)
	return false
}

// text decodes text, or the bytes that a value of !!binary holds in base64.
func (d *decoder) text(n *yaml.Node, v reflect.Value, path string) {
	if n.ShortTag() != "!!binary" {
		v.SetString(n.Value)
		return
	}
	bytes, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
	if err != nil {
		d.fail(n, path, "%s is not base64, as !!binary wants it", quote(n.Value))
		return
	}
	v.SetString(string(bytes))
}

func (d *decoder) duration(n *yaml.Node, v reflect.Value, path string) {
	const want = "a duration such as 30s or 1m30s"
	if !d.isScalar(n, path, want) {
		return
	}
	value, err := time.ParseDuration(n.Value)
	if err == nil {
		v.SetInt(int64(value))
		return
	}
	if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
		d.fail(n, path, "%s has no unit; write %ss for seconds", n.Value, n.Value)
		return
	}
	d.fail(n, path, "%s is no duration; write one such as 30s or 1m30s", quote(n.Value))
}

// yamlBool holds the words for a boolean, those of YAML 1.1 included: existing
// files use them.
var yamlBool = map[string]bool{
	"true": true, "yes": true, "on": true, "y": true,
	"false": false, "no": false, "off": false, "n": false,
}

func (d *decoder) boolean(n *yaml.Node, v reflect.Value, path string) {
	value, ok := yamlBool[strings.ToLower(n.Value)]
	switch {
	case !ok:
		d.fail(n, path, "%s is neither true nor false", quote(n.Value))
	case isQuoted(n):
		d.fail(n, path, "%q is text; write %t without quotes", n.Value, value)
	default:
		v.SetBool(value)
	}
}

// number tells what parsing n as a number gave.
func (d *decoder) number(n *yaml.Node, path, want string, err error) {
	switch {
	case err == nil && isQuoted(n):
		d.fail(n, path, "%q is text; write %s without quotes", n.Value, n.Value)
	case err != nil && strings.Contains(err.Error(), strconv.ErrRange.Error()):
		d.fail(n, path, "%s is out of range", n.Value)
	case err != nil:
		d.fail(n, path, "%s is not %s", quote(n.Value), want)
	}
}

func isQuoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
}

// wrongType tells that n is not of the kind that is wanted.
func (d *decoder) wrongType(n *yaml.Node, path, want string) {
	if isNull(n) {
		d.fail(n, path, "has no value; write %s, or remove the key", want)
		return
	}
	d.fail(n, path, "is %s; write %s", kindOf(n), want)
}

// kindOf says in words what n is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return kindOf(n.Alias)
	}
	return fmt.Sprintf("one value (%s)", quote(n.Value))
}

// shownValue is how much of a value an error shows.
const shownValue = 40

// quote quotes s, shortened to what fits a line.
func quote(s string) string {
	if len(s) > shownValue {
		s = strings.ToValidUTF8(s[:shownValue], "") + "..."
	}
	return strconv.Quote(s)
}
