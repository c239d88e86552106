package probe

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A LogMatch is one reading of a log line.
type LogMatch struct {
	Reason *Reason
	Side   Side // who wrote the line; never [EitherSide]
	Unsure bool // the line does not show its writer, and the other side may be it
}

// MatchLog reads one line of any program's log and returns the reasons it
// shows, best first. It is empty for a line that tells of no failure. Wrappers
// (time stamps, ANSI colours, JSON) do not matter, and of a very long line only
// the beginning and the end are read.
//
// Words that mean one thing come first, then numbers and alerts, decoded, then
// words that also stand beside better ones. Lines whose words both sides print
// count as the client's unless they show otherwise.
func MatchLog(line string) []LogMatch {
	text := plainLine(line)
	folded := strings.ToLower(text)
	patterns := logPatterns()
	found := matches{text: text}
	for _, p := range patterns {
		if !p.vague && p.matches(folded) {
			found.add(p.reason, p.side)
		}
	}
	for _, decode := range logDecoders {
		found.add(decode(text))
	}
	for _, p := range patterns {
		if p.vague && p.matches(folded) {
			found.add(p.reason, p.side)
		}
	}
	return found.list
}

// logDecoders read what a line holds in numbers or names of alerts. Each returns
// nil where it finds nothing.
var logDecoders = []func(text string) (*Reason, Side){decodeBytes, decodeCode, decodeAlert, decodeVerifyError}

// matches collects the readings of one line.
type matches struct {
	text string
	list []LogMatch
}

func (m *matches) add(r *Reason, side Side) {
	if r == nil || slices.ContainsFunc(m.list, func(l LogMatch) bool { return l.Reason == r }) {
		return
	}
	side, unsure := writtenBy(m.text, side)
	m.list = append(m.list, LogMatch{r, side, unsure && !slices.Contains(serversAlone, r)})
}

// logPattern is a LogPattern, compiled: any one of its alternatives matches.
type logPattern struct {
	reason *Reason
	side   Side
	vague  bool
	any    []*regexp.Regexp
}

func (p *logPattern) matches(folded string) bool {
	return slices.ContainsFunc(p.any, func(re *regexp.Regexp) bool { return re.MatchString(folded) })
}

// logPatterns compiles the catalogue's patterns, at the first call: an agent
// never makes it.
var logPatterns = sync.OnceValue(func() []logPattern {
	var all []logPattern
	for _, r := range catalogue {
		for _, p := range r.Logs {
			all = append(all, logPattern{r, p.Side, p.Vague, alternatives(p.Pattern)})
		}
	}
	slices.SortStableFunc(all, func(a, b logPattern) int {
		return logOrder[a.reason.Phase] - logOrder[b.reason.Phase]
	})
	return all
})

// alternatives compiles a pattern for text in lower case, one expression for
// each alternative: those begin with words that a plain search finds, and take a
// tenth of the time that the whole would take without regard to case.
func alternatives(pattern string) []*regexp.Regexp {
	whole, err := syntax.Parse(lowerPattern(pattern), syntax.Perl)
	if err != nil {
		panic("probe: log pattern: " + err.Error())
	}
	parts := []*syntax.Regexp{whole}
	if whole.Op == syntax.OpAlternate {
		parts = whole.Sub
	}
	all := make([]*regexp.Regexp, len(parts))
	for i, part := range parts {
		all[i] = regexp.MustCompile(part.String())
	}
	return all
}

// lowerPattern puts the letters of an expression in lower case, but not those of
// escapes: \S and \s differ.
func lowerPattern(pattern string) string {
	b := []byte(pattern)
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case 'A' <= b[i] && b[i] <= 'Z':
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// logOrder says which phase's words go first where a line holds those of
// several. What tells the whole story goes before what ended one connection of
// it: a failed lookup may say "connection refused", and a failed request may say
// "unexpected eof while reading".
var logOrder = [numPhases]int{
	PhaseConfig:  0,
	PhaseRequest: 1,
	PhaseResolve: 2,
	PhaseConnect: 3,
	PhaseVerify:  4,
	PhaseTLS:     5,
}
