package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// The line of a change names the routes that fail.
func TestChangeNamesRoutes(t *testing.T) {
	refused := []probe.Problem{{Reason: probe.Lookup("tcp_refused")}}
	for want, ways := range map[string]string{
		"":                                      "",
		`via="pod a"`:                           "a",
		`via="pod a, pod c"`:                    "acAC",
		`via="pod a, pod b, pod c, and 2 more"`: "abcde",
	} {
		r := &probe.Result{Target: &probe.Target{}, Attempts: []probe.Attempt{{Via: "pod z"}, {Problems: refused}}}
		for _, way := range ways {
			r.Attempts = append(r.Attempts, probe.Attempt{Via: "pod " + strings.ToLower(string(way)), Problems: refused})
		}
		var log bytes.Buffer
		a := newAgent(agentConfig{log: slog.New(slog.NewTextHandler(&log, nil)), node: "n", concurrency: 1})
		a.logChange(exporter.Transition{Result: r})
		if line := log.String(); !strings.Contains(line, want) || want == "" && strings.Contains(line, "via=") {
			t.Errorf("want %s in %s", want, line)
		}
	}
}
