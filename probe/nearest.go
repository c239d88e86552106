package probe

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns those of known that someone who typed word may have meant, at
// most three, the likeliest first: names, ids and keys are all suggested by this
// one measure.
func Nearest(word string, known []string) []string {
	const most = 3
	type candidate struct {
		name  string
		edits int
	}
	var near []candidate
	for _, name := range known {
		edits := editDistance(strings.ToLower(word), strings.ToLower(name))
		if edits <= max(2, len(word)/3) && edits < len(word) { // something of it must be left
			near = append(near, candidate{name, edits})
		} else if len(word) >= most && strings.Contains(strings.ToLower(name), strings.ToLower(word)) {
			near = append(near, candidate{name, len(word)}) // a part of the name, behind what is merely misspelt
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range near[:min(most, len(near))] {
		out = append(out, c.name)
	}
	return out
}

// editDistance is Levenshtein's, with neighbours that changed places: how many
// bytes must be put in, taken out, replaced or swapped to make b of a.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			edits := last[j]
			if a[i] != b[j] {
				edits++
			}
			edits = min(edits, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				edits = min(edits, before[j-1]+1)
			}
			row[j+1] = edits
		}
	}
	return row[len(b)]
}
