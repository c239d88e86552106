package schedule

import (
	"container/heap"
	"context"

	"tlsprobe/probe"
)

// An entry is a target in the schedule. Times are those of [clock]. Thousands of
// them exist, so it stays small.
type entry struct {
	target *probe.Target
	in     *queue             // nil while it runs
	cancel context.CancelFunc // of its run; nil unless it runs
	phase  int64              // within its interval
	due    int64              // the first phase since its last start: what lateness is measured from
	at     int64              // the phase it waits for: due, or later if that was missed
	slot   int32
	index  int32  // in the queue
	seen   uint32 // the generation of the last list it was in
	quick  bool   // its last run returned within half its timeout
	gone   bool   // it left the list, and Gone was not called yet
}

// next returns the first time of e's phase that is not before t.
func (e *entry) next(t int64) int64 {
	interval := int64(e.target.Interval)
	wait := (e.phase - t) % interval
	if wait < 0 {
		wait += interval
	}
	return t + wait
}

// A queue holds entries, the one with the earliest time first. Each entry is in
// one queue at most and knows its place, so any can be removed.
type queue struct{ entries byTime }

func (q *queue) first() *entry {
	if len(q.entries) == 0 {
		return nil
	}
	return q.entries[0]
}

func (q *queue) add(e *entry) {
	e.in = q
	heap.Push(&q.entries, e)
}

func (q *queue) remove(e *entry) {
	e.in = nil
	heap.Remove(&q.entries, int(e.index))
}

// byTime is a heap for container/heap.
type byTime []*entry

func (b byTime) Len() int           { return len(b) }
func (b byTime) Less(i, j int) bool { return b[i].at < b[j].at }

func (b byTime) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = int32(i), int32(j)
}

func (b *byTime) Push(x any) {
	e := x.(*entry)
	e.index = int32(len(*b))
	*b = append(*b, e)
}

func (b *byTime) Pop() any {
	last := len(*b) - 1
	e := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return e
}
