package exporter

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// columns is how wide a line of text may be.
const columns = 100

// A textWriter writes lines for a person. What it is given may hold anything a
// peer chose; what it writes is printable ASCII in lines of at most [columns]
// characters. Only its own colours are escape sequences.
type textWriter struct {
	b     bytes.Buffer
	color bool
	gap   bool // an empty line is due before the next one
}

// A mark colours the characters from..to of a line by an SGR parameter.
type mark struct {
	from, to int
	sgr      string
}

const (
	red    = "31;1"
	green  = "32;1"
	yellow = "33;1"
)

// line writes one line, cut with "..." where it is too long.
func (t *textWriter) line(s string, marks ...mark) {
	s = cut(printable(s), columns)
	if t.gap && t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	t.gap = false
	if t.color {
		for i := len(marks) - 1; i >= 0; i-- {
			m := marks[i]
			if m.to <= len(s) {
				s = s[:m.from] + "\x1b[" + m.sgr + "m" + s[m.from:m.to] + "\x1b[0m" + s[m.to:]
			}
		}
	}
	t.b.WriteString(s)
	t.b.WriteByte('\n')
}

// blank sets off what follows by one empty line.
func (t *textWriter) blank() { t.gap = true }

const (
	fieldIndent   = 12 // where the text of a field begins
	maxFieldLines = 6  // of one field
)

// field writes "  name      text", wrapped below text's start. It writes nothing
// for an empty text.
func (t *textWriter) field(name, text string) {
	if text != "" {
		t.fieldLines(name, wrap(printable(text), columns-fieldIndent))
	}
}

// fieldLines writes a field's lines, or as many of them as make sense.
func (t *textWriter) fieldLines(name string, lines []string) {
	if len(lines) > maxFieldLines {
		lines = lines[:maxFieldLines]
		lines[maxFieldLines-1] = cut(lines[maxFieldLines-1]+" ...", columns-fieldIndent)
	}
	for i, l := range lines {
		if i > 0 {
			name = ""
		}
		t.line(fmt.Sprintf("  %-*s%s", fieldIndent-2, name, l))
	}
}

// printable escapes every byte that is not printable ASCII as \xNN.
func printable(s string) string {
	clean := func(c byte) bool { return c >= ' ' && c <= '~' }
	i := 0
	for i < len(s) && clean(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if clean(s[i]) {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		}
	}
	return b.String()
}

// cut shortens ASCII to width characters, the last three being "...".
func cut(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return s[:width-3] + "..."
}

// wrap breaks ASCII at spaces into lines of at most width characters, and within
// a word only where the word alone is wider.
func wrap(s string, width int) []string {
	var lines []string
	for len(s) > width {
		at := strings.LastIndexByte(s[:width+1], ' ')
		if at <= 0 {
			at = width
		}
		lines = append(lines, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
	return append(lines, s)
}

// milliseconds shows how long something took, with two or three digits that
// matter.
func milliseconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1000)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// rough shows a span as a person would say it.
func rough(d time.Duration) string {
	const (
		day  = 24 * time.Hour
		year = 365 * day
	)
	switch d = d.Abs(); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 2*day:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d < 3*year:
		return fmt.Sprintf("%d d", d/day)
	}
	return fmt.Sprintf("%d years", d/year)
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
