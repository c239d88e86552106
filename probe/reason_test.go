package probe_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
)

func TestCatalogueEntriesAreComplete(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	title := regexp.MustCompile(`^([a-z]|TLS ).*[^.]$`)
	seen := map[string]bool{}
	for _, r := range probe.Catalogue() {
		if !snake.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("id %q is not in snake case or not unique", r.ID)
		}
		seen[r.ID] = true
		if probe.Lookup(r.ID) != r {
			t.Errorf("Lookup(%q) finds another entry", r.ID)
		}
		if !title.MatchString(r.Title) {
			t.Errorf("%s: title %q is not a phrase in lower case", r.ID, r.Title)
		}
		for name, text := range texts(r) {
			checkText(t, r.ID+" "+name, text)
		}
		if len(r.Causes) < 2 || len(r.Fixes) < 2 {
			t.Errorf("%s has %d causes and %d fixes, want two of each at least", r.ID, len(r.Causes), len(r.Fixes))
		}
		if len(r.Logs) == 0 {
			t.Errorf("%s has no log pattern", r.ID)
		}
	}
}

// texts are the parts of an entry that people read, by name.
func texts(r *probe.Reason) map[string]string {
	all := map[string]string{
		"Title": r.Title, "Meaning": r.Meaning, "Breaks": r.Breaks, "OtherSide": r.OtherSide, "Cite": r.Cite,
	}
	for i, cause := range r.Causes {
		all["Causes "+string(rune('0'+i))] = cause
	}
	for i, fix := range r.Fixes {
		all["Fixes "+string(rune('0'+i))] = fix
	}
	return all
}

// checkText wants one line of ASCII that a terminal can show. Commands may be
// longer than sentences.
func checkText(t *testing.T, name, text string) {
	t.Helper()
	const longest = 450
	switch {
	case strings.TrimSpace(text) == "":
		t.Errorf("%s is empty", name)
	case len(text) > longest:
		t.Errorf("%s has %d characters, want at most %d", name, len(text), longest)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		t.Errorf("%s is not printable ASCII: %q", name, text)
	}
}

func TestCatalogueIsInOrderOfPhases(t *testing.T) {
	all := probe.Catalogue()
	if !slices.IsSortedFunc(all, func(a, b *probe.Reason) int { return int(a.Phase) - int(b.Phase) }) {
		t.Error("the catalogue is not in the order of phases")
	}
}

// Each sample is matched by its own pattern and read as its own reason first, so
// that no sample of one reason reads as another.
func TestCatalogueSamplesReadAsTheirReason(t *testing.T) {
	for _, r := range probe.Catalogue() {
		for _, p := range r.Logs {
			if !regexp.MustCompile("(?i)" + p.Pattern).MatchString(strings.ReplaceAll(p.Sample, `\"`, `"`)) {
				t.Errorf("%s: the pattern does not match its sample %q", r.ID, p.Sample)
			}
			found := probe.MatchLog(p.Sample)
			if len(found) == 0 || found[0].Reason != r {
				t.Errorf("%s: sample reads as [%s]: %s", r.ID, describe(found), p.Sample)
			}
		}
	}
}
