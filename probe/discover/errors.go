package discover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A ConfigError is one thing that is wrong with a configuration.
type ConfigError struct {
	File   string
	Line   int    // from 1; 0: the file as a whole
	Column int    // from 1; 0: not known
	Key    string // dotted path: "targets[2].interval"; "" for the whole
	Msg    string // what is wrong and what to write instead
}

func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Errors are all things that are wrong with a configuration, in the order of
// their position.
type Errors []*ConfigError

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// err returns e as an error, nil if there is none.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *ConfigError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
