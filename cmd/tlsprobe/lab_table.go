package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// writeLab writes what was found at each scenario and what to do about it, and
// returns an error if a verdict is not the expected one.
func writeLab(w io.Writer, scenarios []lab.Scenario, results map[string]*probe.Result, color bool) error {
	var unexpected error
	width := 0
	for _, s := range scenarios {
		width = max(width, len(s.Name))
	}
	for i, s := range scenarios {
		if s.Incident != "" && (i == 0 || scenarios[i-1].Incident != s.Incident) {
			fmt.Fprintf(w, "%s\n", s.Incident)
		}
		if i > 0 && s.Incident == "" && scenarios[i-1].Incident != "" {
			fmt.Fprintln(w, "\nevery reason of the catalogue, one server each")
		}
		r := results[s.Name]
		writeFinding(w, fmt.Sprintf("%-*s", width, s.Name), r, color)
		if got, want := verdictOf(r), expected(s); got != want {
			fmt.Fprintf(w, "      UNEXPECTED: the verdict should be %s\n", want)
			unexpected = errors.Join(unexpected, fmt.Errorf("%s: the verdict is %s, not %s", s.Name, got, want))
		}
	}
	if unexpected != nil {
		return &exit{exitProblem, unexpected}
	}
	return nil
}

// expected returns the verdict that s should get, in verdictOf's words.
func expected(s lab.Scenario) string {
	if len(s.Reasons) == 0 {
		return "ok"
	}
	return s.Reasons[0]
}

// writeFinding writes one target's verdict and reasons, and below it the first
// thing to do.
func writeFinding(w io.Writer, name string, r *probe.Result, color bool) {
	worst := r.Worst()
	if worst == nil {
		fmt.Fprintf(w, "%s  %s  ok\n", paint("ok  ", green, color), name)
		return
	}
	verdict := paint("FAIL", red, color)
	if r.OK() {
		verdict = paint("warn", yellow, color)
	}
	fmt.Fprintf(w, "%s  %s  %s\n", verdict, name, strings.Join(reasonIDs(r), ", "))
	if fixes := worst.Reason.Fixes; len(fixes) > 0 {
		fmt.Fprintf(w, "      %s\n", cut(fixes[0], textWidth-len("      ")))
	}
}

// cut returns the first line of s, at most width bytes of it.
func cut(s string, width int) string {
	const more = " ..."
	line, _, _ := strings.Cut(s, "\n")
	if len(line) <= width {
		return line
	}
	line = line[:width-len(more)]
	if space := strings.LastIndexByte(line, ' '); space > width/2 {
		line = line[:space]
	}
	return strings.ToValidUTF8(line, "") + more
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
