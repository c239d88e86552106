package kubernetes

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// A ring has its items around a circle of 2^64 positions, each at the hash of its
// name: who comes or goes changes what its few neighbours see and nothing else,
// however the names are ordered.
type ring[T any] []ringItem[T]

type ringItem[T any] struct {
	position uint64
	name     string // decides between equal positions
	item     T
}

func newRing[T any](items []T, name func(T) string) ring[T] {
	r := make(ring[T], len(items))
	for i, item := range items {
		r[i] = ringItem[T]{positionOf(name(item)), name(item), item}
	}
	slices.SortFunc(r, func(a, b ringItem[T]) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.name, b.name))
	})
	return r
}

func positionOf(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:])
}

// find returns the index of the item of this name, or else of where it would be.
func (r ring[T]) find(name string) (i int, found bool) {
	return slices.BinarySearchFunc(r, positionOf(name), func(item ringItem[T], position uint64) int {
		return cmp.Or(cmp.Compare(item.position, position), cmp.Compare(item.name, name))
	})
}

// take returns n items from index i on around the ring, none of them twice.
func (r ring[T]) take(i, n int) []T {
	n = min(n, len(r))
	out := make([]T, 0, n)
	for k := range n {
		out = append(out, r[(i+k)%len(r)].item)
	}
	return out
}

// arc returns where the items from one position up to another begin, and how many
// they are. From a position to itself is all the way round.
func (r ring[T]) arc(from, to uint64) (i, n int) {
	i, j := r.at(from), r.at(to)
	if from < to {
		return i, j - i
	}
	return i, len(r) - i + j
}

// at returns the index of the first item that is not before the position.
func (r ring[T]) at(position uint64) int {
	i, _ := slices.BinarySearchFunc(r, position, func(item ringItem[T], position uint64) int {
		return cmp.Compare(item.position, position)
	})
	return i
}
