package exporter

import (
	"strings"
	"testing"
)

// TestHeadDropper cuts what an encoder writes at every place.
func TestHeadDropper(t *testing.T) {
	const head, series = "# HELP a # not a sample\n# TYPE a gauge\n", "a{b=\"#\"} 1\na 2\n"
	for at := range len(head + series) {
		for _, dropping := range []bool{false, true} {
			var got strings.Builder
			d := headDropper{w: &got, dropping: dropping}
			d.Write([]byte((head + series)[:at]))
			d.Write([]byte((head + series)[at:]))
			want := series
			if !dropping {
				want = head + series
			}
			if got.String() != want {
				t.Fatalf("cut at %d, dropping %t: %q", at, dropping, got.String())
			}
		}
	}
}
