package probe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// How much of a line is read: the error's words stand at its beginning, or,
// where errors wrap each other, at its end.
const (
	maxLogHead = 3 << 10
	maxLogTail = 1 << 10
)

// plainLine takes a line out of its wrappers: colours are dropped, quotes of JSON
// and of %q are unescaped once, white space is made single spaces, and bytes that
// are no text are written as \xNN, as most programs write them themselves.
func plainLine(line string) string {
	if len(line) > maxLogHead+maxLogTail {
		line = line[:maxLogHead] + " " + line[len(line)-maxLogTail:]
	}
	line = ansiColour().ReplaceAllString(line, "")
	var b strings.Builder
	for i := 0; i < len(line); {
		text, n := plainPiece(line[i:])
		if text != " " || !strings.HasSuffix(b.String(), " ") {
			b.WriteString(text)
		}
		i += n
	}
	return requestTarget().ReplaceAllString(strings.TrimSpace(b.String()), "$1 /")
}

// requestTarget is the path in an access log's line: it may hold any word and
// says nothing about how the request went.
var requestTarget = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS) /[^ "]*`)
})

var ansiColour = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
})

// plainPiece returns how the first piece of s reads, and its length in bytes.
func plainPiece(s string) (text string, n int) {
	switch c := s[0]; {
	case c == '\\' && len(s) > 1:
		return plainEscape(s)
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		return " ", 1
	case c < ' ' || c == 0x7f:
		return fmt.Sprintf(`\x%02x`, c), 1
	case strings.HasPrefix(s, "\u2018"), strings.HasPrefix(s, "\u2019"):
		return "'", len("\u2018")
	case strings.HasPrefix(s, "\u201c"), strings.HasPrefix(s, "\u201d"):
		return `"`, len("\u201c")
	case strings.HasPrefix(s, "&quot;"), strings.HasPrefix(s, "&#34;"):
		return `"`, strings.IndexByte(s, ';') + 1
	}
	return s[:1], 1
}

// plainEscape reads the escape sequence at the beginning of s. \x is left as it
// is: it shows bytes of a peer, not of the wrapper.
func plainEscape(s string) (text string, n int) {
	switch s[1] {
	case '"', '\\', '/', '\'':
		return s[1:2], 2
	case 'n', 't', 'r':
		return " ", 2
	case 'u':
		if len(s) < 6 {
			break
		}
		code, err := strconv.ParseUint(s[2:6], 16, 16)
		switch {
		case err != nil:
		case code < ' ' || code == 0x7f:
			return fmt.Sprintf(`\x%02x`, code), 6
		default:
			return string(rune(code)), 6
		}
	}
	return s[:1], 1
}
