package main

import (
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDropIn makes the same requests to blackbox_exporter and to an agent with the
// same configuration: status codes, media types, names, types, labels and values
// must agree but for what intendedDifferences lists, and each of those must be
// seen. UPDATE_DOCS=1 writes the list to exporter/BLACKBOX.md.
func TestDropIn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds blackbox_exporter")
	}
	peers := startDropInPeers(t)
	config := peers.config(t)
	there := startBlackbox(t, config)
	here := startDropIn(t, config)
	cases := peers.cases()
	if len(cases) < 60 {
		t.Errorf("only %d requests are compared", len(cases))
	}

	var mu sync.Mutex
	seen := map[int]bool{}
	t.Run("requests", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				theirs, ours := c.scrape(t, there), c.scrape(t, here)
				for _, d := range differences(theirs, ours) {
					i := slices.IndexFunc(intendedDifferences, func(known intendedDifference) bool { return known.covers(c, ours, d) })
					if i < 0 {
						t.Errorf("%s: %s", d.what, d.text)
						continue
					}
					mu.Lock()
					seen[i] = true
					mu.Unlock()
				}
			})
		}
	})
	for i, known := range intendedDifferences {
		if !seen[i] {
			t.Errorf("no request shows the intended difference %q (%s)", known.what, known.when)
		}
	}
	checkDropInDocument(t)
}

// checkDropInDocument holds BLACKBOX.md against the list.
func checkDropInDocument(t *testing.T) {
	t.Helper()
	const file = "../../exporter/BLACKBOX.md"
	want := dropInDocument()
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("BLACKBOX.md (-want +got; UPDATE_DOCS=1 writes it):\n%s", diff)
	}
}

// covers reports whether d, seen in the answers to c, is this difference.
func (i *intendedDifference) covers(c scrapeCase, ours scraped, d difference) bool {
	whats := strings.Fields(i.what)
	if !slices.Contains(whats, "*") && (d.how != i.how || !slices.Contains(whats, strings.ReplaceAll(d.what, " ", "_"))) {
		return false
	}
	if i.failed && ours.series["probe_success{}"].value != 0 {
		return false
	}
	return len(i.cases) == 0 || slices.ContainsFunc(i.cases, func(pattern string) bool {
		matched, err := path.Match(pattern, c.name)
		return matched && err == nil
	})
}
