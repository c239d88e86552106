package discover

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// encoder is the inverse of [decoder]: it writes Go values by their yaml tags, as
// JSON in which everything is left out that says what is so anyway.
type encoder struct {
	bytes.Buffer
}

// structure writes the fields of v that differ from those of defaults, as a JSON
// object with the keys in the order of the fields.
func (e *encoder) structure(v, defaults reflect.Value) error {
	e.WriteByte('{')
	err := e.fields(v, defaults)
	e.WriteByte('}')
	return err
}

func (e *encoder) fields(v, defaults reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			if err := e.fields(v.Field(i), defaults.Field(i)); err != nil {
				return err
			}
			continue
		}
		if name == "-" || !field.IsExported() || same(v.Field(i), defaults.Field(i)) {
			continue
		}
		e.key(cmp.Or(name, strings.ToLower(field.Name)))
		if err := e.value(v.Field(i), defaults.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// same reports whether a decoder that starts from b needs to be told a.
func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice || a.Kind() == reflect.Map {
		if a.Len() == 0 && b.Len() == 0 {
			return true
		}
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// key begins a member of the object that is being written.
func (e *encoder) key(name string) {
	e.separate('{')
	e.text(name)
	e.WriteByte(':')
}

// separate writes the comma before all but the first item after the bracket.
func (e *encoder) separate(bracket byte) {
	if written := e.Bytes(); written[len(written)-1] != bracket {
		e.WriteByte(',')
	}
}

// value writes v. A struct is written against defaults, which is of its type.
func (e *encoder) value(v, defaults reflect.Value) error {
	if strings.HasPrefix(v.Type().PkgPath(), "github.com/prometheus/common/") {
		return fmt.Errorf("a %s may hold a secret, and stays where it is", v.Type())
	}
	switch of := v.Interface().(type) {
	case time.Duration:
		e.text(of.String())
		return nil
	case encoding.TextMarshaler:
		text, err := of.MarshalText()
		e.text(string(text))
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			e.WriteString("null")
			return nil
		}
		return e.value(v.Elem(), reflect.Zero(v.Type().Elem()))
	case reflect.Struct:
		return e.structure(v, defaults)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Slice:
		return e.list(v)
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		fmt.Fprint(e, v.Bool())
	default:
		if !v.CanInt() && !v.CanUint() && !v.CanFloat() {
			return fmt.Errorf("a %s has no form in a list", v.Type())
		}
		fmt.Fprint(e, v.Interface())
	}
	return nil
}

func (e *encoder) mapping(v reflect.Value) error {
	e.WriteByte('{')
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		e.key(key.String())
		if err := e.value(v.MapIndex(key), reflect.Zero(v.Type().Elem())); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	e.WriteByte('}')
	return nil
}

func (e *encoder) list(v reflect.Value) error {
	e.WriteByte('[')
	for i := range v.Len() {
		e.separate('[')
		if err := e.value(v.Index(i), reflect.Zero(v.Type().Elem())); err != nil {
			return err
		}
	}
	e.WriteByte(']')
	return nil
}

// text writes s as a JSON string, with <, > and & as they are: they are in names
// of nothing, and in PEM and URLs.
func (e *encoder) text(s string) {
	encoder := json.NewEncoder(e)
	encoder.SetEscapeHTML(false)
	encoder.Encode(s) // a string has a form, and a buffer takes all
	e.Truncate(e.Len() - 1)
}
