package exporter

import (
	"fmt"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// describeWays says how the target was dialled, and which of several ways fail; ""
// if there is but one, which needs no word.
func describeWays(r *probe.Result) string {
	all, failing := len(r.Attempts), r.Failing()
	noun := "addresses"
	if len(r.Target.Routes) > 0 {
		noun = "ways"
	}
	switch {
	case r.Target.Undialled:
		return "nothing was dialled"
	case all == 1 && r.Attempts[0].Via != "":
		return "dialled: " + r.Attempts[0].Via
	case all == 1 || len(failing) == 0:
		return ""
	case len(failing) == all:
		return fmt.Sprintf("all %d %s fail", all, noun)
	}
	var names []string
	for _, a := range failing {
		if name := wayOf(a); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	verb := "fail"
	if len(failing) == 1 {
		verb = "fails"
	}
	return fmt.Sprintf("%d of %d %s %s: %s", len(failing), all, noun, verb, strings.Join(names, ", "))
}

// wayOf names the way of an attempt.
func wayOf(a *probe.Attempt) string {
	switch {
	case a.Via != "":
		return a.Via
	case a.Peer.IsValid():
		return a.Peer.String()
	}
	return "no address"
}

// found writes what is wrong with the target whatever way is taken, and then what
// each attempt found: those that fail first.
func (t *textWriter) found(r *probe.Result) {
	explained := map[*probe.Reason]bool{}
	first := &r.Attempts[0]
	for i := range len(first.Problems) - len(r.Found(0)) {
		t.problem(&first.Problems[i], r, first, explained)
	}
	if r.Target.Undialled {
		return
	}
	var shown *probe.TLS // whose chain was written last
	brief := false       // the attempt before
	for _, i := range failingFirst(r) {
		a := r.Attempts[i]
		a.Problems = r.Found(i)
		if len(r.Attempts) > 1 {
			if !brief || !isBrief(r, i) {
				t.blank()
			}
			t.line(attemptLine(r, i))
		}
		if brief = isBrief(r, i); brief {
			continue
		}
		for j := range a.Problems {
			t.problem(&a.Problems[j], r, &a, explained)
		}
		t.steps(r, &a)
		t.hops(&a)
		t.dns(&a)
		if a.TLS != nil && (shown == nil || !sameChain(shown, a.TLS)) {
			t.chain(a.TLS, r.Start)
			shown = a.TLS
		}
	}
}

// failingFirst returns the indexes of the attempts, those that fail before others.
func failingFirst(r *probe.Result) []int {
	failing := r.Failing()
	var first, rest []int
	for i := range r.Attempts {
		if slices.Contains(failing, &r.Attempts[i]) {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// isBrief reports whether an attempt is worth one line: one that is well says
// nothing of those that fail, and where there are many, what another has said.
func isBrief(r *probe.Result, i int) bool {
	const few = 3
	return len(r.Found(i)) == 0 && (len(r.Failing()) > 0 || i > 0 && len(r.Attempts) > few)
}

// attemptLine is the heading of one of several attempts.
func attemptLine(r *probe.Result, i int) string {
	a := &r.Attempts[i]
	where := "no address"
	if a.Peer.IsValid() {
		where = a.Peer.String()
	}
	line := fmt.Sprintf("attempt %d of %d  %s", i+1, len(r.Attempts), where)
	if a.Via != "" && a.Via != where {
		line += "  " + a.Via
	}
	if isBrief(r, i) {
		line += "  ok"
	}
	return line
}
