package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// writeLab writes what was found at each scenario and what to do about it, and
// returns an error if a verdict is not the expected one.
func writeLab(w io.Writer, scenarios []lab.Scenario, results map[string]*probe.Result, color bool) error {
	var unexpected error
	width, chapter := 0, ""
	for _, s := range scenarios {
		width = max(width, len(s.Name))
	}
	for _, s := range scenarios {
		if title := cmp.Or(s.Incident, "every reason that a probe can find, a server each"); title != chapter {
			fmt.Fprintf(w, "\n%s\n", title)
			chapter = title
		}
		r := results[s.Name]
		fmt.Fprintf(w, "%s  %-*s  %s\n", verdictMark(r, color), width, s.Name, verdictText(reasonIDs(r)))
		if s.Incident != "" {
			writeWhole(w, "      the server ", s.Summary)
		}
		if fix := firstFix(r); fix != "" {
			writeWhole(w, "      to do: ", fix)
		}
		if !asExpected(s, r) {
			fmt.Fprintf(w, "      UNEXPECTED: it should be %s\n", verdictText(s.Reasons))
			unexpected = errors.Join(unexpected, fmt.Errorf("%s: found is %s, not %s", s.Name, verdictText(reasonIDs(r)), verdictText(s.Reasons)))
		}
	}
	if unexpected != nil {
		return &exit{exitProblem, unexpected}
	}
	return nil
}

// asExpected reports whether r is what s should give: the verdict, and beside it
// the other reasons in any order.
func asExpected(s lab.Scenario, r *probe.Result) bool {
	found, want := reasonIDs(r), s.Reasons
	if len(found) == 0 || len(want) == 0 {
		return len(found) == len(want)
	}
	return found[0] == want[0] && slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(want)))
}

// verdictText names reasons, that of the verdict first.
func verdictText(ids []string) string { return cmp.Or(strings.Join(ids, ", "), "ok") }

// firstFix returns the first thing to do about r, "" if there is nothing.
func firstFix(r *probe.Result) string {
	worst := r.Worst()
	if worst == nil || len(worst.Reason.Fixes) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(worst.Reason.Fixes[0], "\n")
	return line
}

func verdictMark(r *probe.Result, color bool) string {
	switch {
	case !r.OK():
		return paint("FAIL", red, color)
	case r.Worst() != nil:
		return paint("warn", yellow, color)
	}
	return paint("ok  ", green, color)
}

// The colours of verdicts, as parameters of SGR (ECMA-48, Section 8.3.117).
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func paint(s, color string, on bool) string {
	if !on {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
