package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// errUnknownLine is the answer to a log line that tells of no failure we know.
var errUnknownLine = &exit{exitProblem, errors.New("no reason is known for this line: if it is about TLS, try the part of it that names the error")}

// maxLogLine is how long a line on standard input may be, in bytes.
const maxLogLine = 1 << 20

// explainLines explains a whole log: one line as if it were an argument, several
// as a table of the reasons found in them.
func explainLines(w io.Writer, r io.Reader) error {
	var lines []string
	tally := logTally{}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLogLine)
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if line == "" {
			continue
		}
		if len(lines) < 2 {
			lines = append(lines, line)
		}
		tally.add(line)
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	switch len(lines) {
	case 0:
		return errors.New("standard input holds no line: pipe a log into it, as in kubectl logs POD | tlsprobe explain -")
	case 1:
		return explain(w, nil, lines[0])
	}
	return tally.write(w)
}

// A logTally counts the reasons of the lines of a log.
type logTally struct {
	lines int
	found []*logCount // in order of first occurrence
}

type logCount struct {
	probe.LogMatch
	lines int
	first string
}

func (t *logTally) add(line string) {
	t.lines++
	matches := probe.MatchLog(line)
	if len(matches) == 0 {
		return
	}
	i := slices.IndexFunc(t.found, func(c *logCount) bool { return c.LogMatch == matches[0] })
	if i < 0 {
		i = len(t.found)
		t.found = append(t.found, &logCount{LogMatch: matches[0], first: line})
	}
	t.found[i].lines++
}

func (t *logTally) write(w io.Writer) error {
	if len(t.found) == 0 {
		return &exit{exitProblem, fmt.Errorf("no reason is known for any of these %d lines", t.lines)}
	}
	slices.SortStableFunc(t.found, func(a, b *logCount) int { return b.lines - a.lines })
	matched := 0
	for _, c := range t.found {
		matched += c.lines
		fmt.Fprintf(w, "%s  %s, %s\n", c.Reason.ID, plural(c.lines, "line"), writtenBy(c.Side))
		writeWrapped(w, "  ", c.Reason.Title)
		writeWhole(w, "  e.g. ", printable(c.first))
	}
	fmt.Fprintf(w, "\n%d of %s have a known reason. More on one of them: tlsprobe explain %s\n",
		matched, plural(t.lines, "line"), t.found[0].Reason.ID)
	return nil
}

// writeMatches says which reasons a log line may stand for, what follows from who
// wrote it, and what is known of the likeliest reason.
func writeMatches(w io.Writer, matches []probe.LogMatch) {
	best := matches[0]
	writeWrapped(w, "", fmt.Sprintf("This line means %s, and was %s.", best.Reason.ID, writer(best)))
	writeWrapped(w, "", implication(best.Side))
	if best.Unsure {
		writeWrapped(w, "", implication(probe.ServerSide))
	}
	for _, m := range matches[1:] {
		writeWrapped(w, "or: ", fmt.Sprintf("%s, %s (%s)", m.Reason.ID, writer(m), m.Reason.Title))
	}
	fmt.Fprintln(w)
	writeReason(w, best.Reason)
}

// writer says who wrote a line that is read on its own.
func writer(m probe.LogMatch) string {
	if m.Unsure {
		return "written by either side: nothing in it shows which"
	}
	return writtenBy(m.Side)
}

func writtenBy(s probe.Side) string {
	if s == probe.ProxySide {
		return "written by a proxy between the two"
	}
	return "written by the " + s.String()
}

// implication says where to look, given who wrote a log line: most wrong
// diagnoses swap the sides.
func implication(s probe.Side) string {
	switch s {
	case probe.ServerSide:
		return "A server speaks of whoever connected to it: an address in the line is the client's. Find out who" +
			" that is (kubectl get pods -A -o wide | grep IP), then look at what that client expects. A received" +
			" alert is the client's opinion of this server."
	case probe.ProxySide:
		return "A proxy speaks of one of its two connections, mostly the one to the server behind it: probe that" +
			" server from the proxy's node: tlsprobe probe HOST:PORT"
	}
	return "A client speaks of the peer that it dialled: look at the address and name in the line, and probe them" +
		" from the node where the line was written: tlsprobe probe HOST:PORT. A received alert is the peer's" +
		" opinion of this client."
}
