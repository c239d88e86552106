package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// textWidth is how wide prose is, in columns.
const textWidth = 100

// writeWrapped writes text broken between words into lines of at most textWidth;
// the first begins with prefix, the others are indented as far. A word that is
// longer than a line stays whole, so that it can be copied.
func writeWrapped(w io.Writer, prefix, text string) {
	line, empty := prefix, true
	for _, word := range strings.Fields(text) {
		switch {
		case empty:
			line += word
		case len(line)+1+len(word) > textWidth:
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", len(prefix)) + word
		default:
			line += " " + word
		}
		empty = false
	}
	fmt.Fprintln(w, line)
}

// writeWhole writes what may be copied, a command or a log line, on one line,
// however wide.
func writeWhole(w io.Writer, prefix, text string) { fmt.Fprintln(w, prefix+text) }

// printable returns s without what could steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '.'
	}, s)
}

// plural returns "1 line", "2 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
