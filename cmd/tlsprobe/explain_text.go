package main

import (
	"fmt"
	"io"
	"strings"

	"tlsprobe/probe"
)

// writeReasons lists reasons by phase.
func writeReasons(w io.Writer, reasons []*probe.Reason) {
	for _, phase := range probe.AllPhases() {
		fmt.Fprintln(w, phase)
		for _, r := range reasons {
			if r.Phase != phase {
				continue
			}
			severity := r.Severity.String()
			if r.LogOnly {
				severity = "log only"
			}
			fmt.Fprintf(w, "  %-25s %-8s %s\n", r.ID, severity, r.Title)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, `More on one of them: tlsprobe explain REASON. "log only" marks what only a log line can show.`)
}

// writeReason writes a catalogue entry.
func writeReason(w io.Writer, r *probe.Reason) {
	fmt.Fprintf(w, "%s (%s, phase %s)\n%s\n", r.ID, r.Severity, r.Phase, r.Title)
	writeSection(w, "What happened", r.Meaning)
	writeSection(w, "What it breaks", r.Breaks)
	writeSection(w, "What the other side logs", r.OtherSide)
	writeList(w, "Causes, the likeliest first", r.Causes, writeWrapped)
	writeList(w, "What to do", r.Fixes, writeWhole)
	if len(r.Logs) > 0 {
		fmt.Fprintln(w, "\nLog lines that mean this")
		for _, l := range r.Logs {
			writeWhole(w, fmt.Sprintf("  %-8s", l.Side), l.Sample)
		}
	}
	writeSection(w, "Source", r.Cite)
}

func writeSection(w io.Writer, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for line := range strings.Lines(text) {
		writeWrapped(w, "  ", line)
	}
}

func writeList(w io.Writer, title string, items []string, write func(w io.Writer, prefix, item string)) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for i, item := range items {
		write(w, fmt.Sprintf("  %d. ", i+1), item)
	}
}
