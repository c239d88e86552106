package exporter

import (
	"strconv"
	"strings"

	"tlsprobe/probe"
)

// labels writes what a target's labels say beyond its name and address: of a
// webhook, which requests fail with it and whether they then pass.
func (t *textWriter) labels(target *probe.Target) {
	const most = 3
	text := labelsText(target)
	if text == "" {
		return
	}
	lines := wrap(text, columns-headIndent)
	for _, line := range lines[:min(most, len(lines))] {
		t.line(strings.Repeat(" ", headIndent) + line)
	}
}

// headIndent is where what stands below the verdict begins.
const headIndent = 6

func labelsText(target *probe.Target) string {
	var said []string
	for _, l := range target.Labels {
		value := printable(l.Value)
		if strings.Contains(target.Name, l.Value) || strings.Contains(target.Address, l.Value) {
			continue
		}
		if strings.Contains(value, " ") {
			value = strconv.Quote(value)
		}
		said = append(said, l.Name+"="+value)
	}
	return strings.Join(said, " ")
}
