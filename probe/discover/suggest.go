package discover

import (
	"slices"
	"strings"

	"tlsprobe/probe"
)

const (
	fewEnough  = 12  // valid words are listed when none is near
	longestNew = 100 // bytes of an unknown word that are worth comparing
)

// suggest ends an error about an unknown word with what to write instead: the
// nearest valid word, or all of them if none is near and they are few.
func suggest(word string, valid []string) string {
	if len(word) <= longestNew {
		if near := probe.Nearest(word, valid); len(near) > 0 {
			return "; did you mean " + quote(near[0]) + "?"
		}
	}
	if len(valid) > fewEnough {
		return ""
	}
	return "; write one of " + strings.Join(slices.Sorted(slices.Values(valid)), ", ")
}
