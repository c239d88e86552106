package probe_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tlsprobe/probe"
)

// labelled is a line of the world's logs and what a person said of it. The file
// holds lines of public issues and lines that the programs named in stack wrote
// when they were made to fail.
type labelled struct {
	Line   string `json:"line"`
	Reason string `json:"reason"` // "none": no failure of TLS or of what it needs
	Side   string `json:"side"`
	Stack  string `json:"stack"`
}

func readLabelled(t testing.TB) []labelled {
	t.Helper()
	f, err := os.Open("testdata/log-lines.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l labelled
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

func TestMatchLogLabelled(t *testing.T) {
	for _, l := range readLabelled(t) {
		checkLine(t, l.Line, l.Reason, l.Side)
	}
}

// checkLine reports a line whose best match is not want, or that another side
// wrote. want "none" allows no match at all.
func checkLine(t *testing.T, line, want, side string) {
	t.Helper()
	found := probe.MatchLog(line)
	switch {
	case want == "none" && len(found) > 0:
		t.Errorf("matches %s, want nothing: %s", describe(found), line)
	case want == "none":
	case len(found) == 0:
		t.Errorf("matches nothing, want %s: %s", want, line)
	case found[0].Reason.ID != want:
		t.Errorf("matches %s, want %s: %s", describe(found), want, line)
	case found[0].Side.String() != side:
		t.Errorf("%s: written by %s, want %s: %s", want, found[0].Side, side, line)
	}
}

func describe(found []probe.LogMatch) string {
	var ids []string
	for _, m := range found {
		ids = append(ids, m.Reason.ID)
	}
	return strings.Join(ids, ", ")
}

func FuzzMatchLog(f *testing.F) {
	for _, l := range readLabelled(f) {
		f.Add(l.Line)
	}
	f.Add("\x1b[31m\\u0016\\u0003\\")
	f.Add(strings.Repeat("tls: \\x15\\x03", 10_000))
	f.Fuzz(func(t *testing.T, line string) {
		seen := map[*probe.Reason]bool{}
		for _, m := range probe.MatchLog(line) {
			if m.Reason == nil || seen[m.Reason] || m.Side == probe.EitherSide {
				t.Errorf("bad or repeated match %+v of %q", m, line)
			}
			seen[m.Reason] = true
		}
	})
}
