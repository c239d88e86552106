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

// suggest returns the nearest valid word, "" if none is near, and the end of an
// error about the unknown one: what to write instead. That is all valid words if
// none is near and they are few.
func suggest(word string, valid []string) (near, hint string) {
	if len(word) <= longestNew {
		if found := probe.Nearest(word, valid); len(found) > 0 {
			return found[0], "; did you mean " + quote(found[0]) + "?"
		}
	}
	if len(valid) > fewEnough {
		return "", ""
	}
	return "", "; write " + oneOf(valid)
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(slices.Sorted(slices.Values(words)), ", ")
}
