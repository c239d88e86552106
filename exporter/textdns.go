package exporter

import (
	"fmt"
	"strings"

	"tlsprobe/probe"
)

// dnsDetail says what was asked and what the answer is, in one line.
func dnsDetail(d *probe.DNS) string {
	if d == nil {
		return ""
	}
	said := fmt.Sprintf("%s %s over %s: ", d.Type, d.Name, d.Transport)
	if !d.Answered {
		return said + "no answer"
	}
	said += d.RCode + ", " + counted(d.Answers, "record")
	if d.Retried {
		said += ", asked again over tcp"
	}
	if d.Serial != 0 {
		said += fmt.Sprintf(", serial %d", d.Serial)
	}
	return said
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// dns writes what a DNS server answered: the question where the steps do not tell
// it, as one failed, and the records.
func (t *textWriter) dns(a *probe.Attempt) {
	const shown = 8
	if a.DNS == nil || len(a.Problems)+len(a.DNS.Records) == 0 {
		return
	}
	t.blank()
	if len(a.Problems) > 0 {
		t.line("asked   " + dnsDetail(a.DNS))
	}
	for i, record := range a.DNS.Records {
		label := ""
		if i == 0 {
			label = "answer"
		}
		if i == shown {
			t.line(fmt.Sprintf("%-6s  ... and %d more", label, a.DNS.Answers-shown))
			return
		}
		t.line(fmt.Sprintf("%-6s  %s", label, strings.Join(strings.Fields(record), " ")))
	}
}
