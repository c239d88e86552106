package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// golden is 2^64 over the golden ratio. The fractions of its multiples fill a
// circle evenly whatever their number (the three-gap theorem: the arcs between n
// of them have at most three lengths), where spacing by 1/n would move every
// phase whenever n changes.
const golden = 0x9E3779B97F4A7C15

// Holes in the sequence are what can make it uneven. With this share of the slots
// empty at random, no 100 ms has more than 1.2 times the mean and one. Below the
// number the phases are too far apart to crowd a tenth of a second.
const (
	emptyShare  = 16 // one in so many
	emptyNumber = 8
)

// slots are the places of the targets with one interval; a slot's number says its
// phase.
type slots struct {
	interval time.Duration
	shift    uint64
	entries  []*entry // by slot; nil: empty; the last is not
	empty    int
	lowest   int // no slot below this is empty
}

// newSlots shifts the phases by a hash of both the node and the interval: slots
// of equal number in different intervals shall not coincide either. The hash has
// to spread names that differ in their last letter only, which FNV does not.
func newSlots(node string, interval time.Duration) *slots {
	sum := sha256.Sum256([]byte(node + "\x00" + interval.String()))
	return &slots{interval: interval, shift: binary.BigEndian.Uint64(sum[:])}
}

// phase returns the time of a slot within the interval, in nanoseconds.
func (s *slots) phase(slot int32) int64 {
	fraction := s.shift + uint64(slot)*golden
	phase, _ := bits.Mul64(fraction, uint64(s.interval))
	return int64(phase)
}

// take gives e the lowest empty slot.
func (s *slots) take(e *entry) {
	for s.lowest < len(s.entries) && s.entries[s.lowest] != nil {
		s.lowest++
	}
	if s.lowest == len(s.entries) {
		s.entries = append(s.entries, nil)
		s.empty++
	}
	s.entries[s.lowest] = e
	s.empty--
	e.slot = int32(s.lowest)
	e.phase = s.phase(e.slot)
}

// release empties the slot of e.
func (s *slots) release(e *entry) {
	s.entries[e.slot] = nil
	s.empty++
	s.lowest = min(s.lowest, int(e.slot))
	s.trim()
}

func (s *slots) trim() {
	for last := len(s.entries) - 1; last >= 0 && s.entries[last] == nil; last-- {
		s.entries = s.entries[:last]
		s.empty--
	}
}

// settle moves the entries of the highest slots to the lowest empty ones until
// few enough are empty, and returns the moved.
func (s *slots) settle() []*entry {
	var moved []*entry
	for s.empty > max(emptyNumber, len(s.entries)/emptyShare) {
		e := s.entries[len(s.entries)-1]
		s.release(e)
		s.take(e)
		moved = append(moved, e)
	}
	return moved
}
