package discover

import (
	"slices"
	"strings"
)

// fewEnough is how many valid words an error lists when none is near.
const fewEnough = 12

// suggest ends an error about an unknown word with what to write instead: the
// nearest valid word, or all of them if none is near and they are few.
func suggest(word string, valid []string) string {
	if near := nearest(word, valid); near != "" {
		return "; did you mean " + quote(near) + "?"
	}
	if len(valid) == 0 || len(valid) > fewEnough {
		return ""
	}
	sorted := slices.Sorted(slices.Values(valid))
	return "; write one of " + strings.Join(sorted, ", ")
}

// nearest returns the valid word with the smallest edit distance to word, "" if
// none is near: a third of the word may differ.
func nearest(word string, valid []string) string {
	best, bestDistance := "", max(1, len(word)/3)+1
	for _, candidate := range slices.Sorted(slices.Values(valid)) {
		if abs(len(candidate)-len(word)) >= bestDistance {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is how many bytes to insert, delete, replace or swap with their
// neighbour make b of a (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

func abs(n int) int { return max(n, -n) }
