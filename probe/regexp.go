package probe

import (
	"fmt"
	"regexp"
)

// Regexp is a regular expression (RE2) as a setting. It is not anchored. The zero
// value is none.
type Regexp struct{ *regexp.Regexp }

// UnmarshalText compiles text.
func (r *Regexp) UnmarshalText(text []byte) error {
	compiled, err := regexp.Compile(string(text))
	if err != nil {
		return fmt.Errorf("%q is no regular expression: %w", text, err)
	}
	r.Regexp = compiled
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (r Regexp) MarshalText() ([]byte, error) {
	if r.Regexp == nil {
		return nil, nil
	}
	return []byte(r.String()), nil
}
