package schedule

import (
	"reflect"
	"time"

	"tlsprobe/probe"
)

// Set replaces the whole list of targets. Each needs a name of its own (of two
// with one name the first counts), an Interval, and a Timeout below it; they are
// read-only from now on.
//
// A target equal to the one of its name in the last list goes on as it was, a run
// of it included. A changed one has its run cancelled and goes on at its phase;
// so does a new one, within its interval. One that is not in the list any more has
// its run cancelled and is not started again.
func (s *Scheduler) Set(targets []*probe.Target) {
	s.sets.Lock()
	defer s.sets.Unlock()
	for _, name := range s.apply(s.compare(targets)) {
		s.config.Gone(name)
	}
}

// A diff is what a list changes.
type diff struct {
	started []*probe.Target // new or changed
	adopted []*probe.Target // equal to what they replace: the old list can be freed
	gone    []*entry
}

// compare finds what targets change. It reads only what changes under sets, so
// that a long comparison delays no start.
func (s *Scheduler) compare(targets []*probe.Target) diff {
	var d diff
	s.generation++
	for _, t := range targets {
		e := s.entries[t.Name]
		if e == nil {
			e = &entry{target: t, gone: true}
			s.entries[t.Name] = e
		}
		switch {
		case e.seen == s.generation:
			continue
		case e.gone:
			d.started = append(d.started, t)
		case e.target == t:
		case reflect.DeepEqual(e.target, t):
			d.adopted = append(d.adopted, t)
		default:
			d.started = append(d.started, t)
		}
		e.seen = s.generation
	}
	for _, e := range s.entries {
		if e.seen != s.generation && !e.gone {
			d.gone = append(d.gone, e)
		}
	}
	return d
}

// apply carries out d and returns the names of those gone that are not running:
// for the others, their worker calls Gone.
func (s *Scheduler) apply(d diff) (left []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	for _, e := range d.gone {
		if s.remove(e) {
			left = append(left, e.target.Name)
		}
	}
	for _, t := range d.adopted {
		s.entries[t.Name].target = t
	}
	for _, t := range d.started {
		s.start(s.entries[t.Name], t, now)
	}
	s.settle(now)
	return left
}

// remove takes e out of the schedule, and reports whether it was not running.
func (s *Scheduler) remove(e *entry) bool {
	s.slots[e.target.Interval].release(e)
	e.gone = true
	if e.cancel != nil {
		e.cancel()
		return false
	}
	e.in.remove(e)
	delete(s.entries, e.target.Name)
	return true
}

// start makes e the entry of t, whatever it was before.
func (s *Scheduler) start(e *entry, t *probe.Target, now int64) {
	if e.cancel != nil {
		e.cancel()
	}
	if e.gone || e.target.Interval != t.Interval {
		if !e.gone {
			s.slots[e.target.Interval].release(e)
		}
		s.slotsOf(t.Interval).take(e)
	}
	e.target, e.gone, e.quick = t, false, false
	s.reschedule(e, now)
}

func (s *Scheduler) slotsOf(interval time.Duration) *slots {
	if s.slots[interval] == nil {
		s.slots[interval] = newSlots(s.config.Node, interval)
	}
	return s.slots[interval]
}

// settle evens out what the gone left behind.
func (s *Scheduler) settle(now int64) {
	for interval, places := range s.slots {
		for _, e := range places.settle() {
			s.reschedule(e, now)
		}
		if len(places.entries) == 0 {
			delete(s.slots, interval)
		}
	}
}

// reschedule makes e due at its next phase. If it runs, its worker arms it.
func (s *Scheduler) reschedule(e *entry, now int64) {
	e.due = e.next(now)
	if e.cancel != nil {
		return
	}
	if e.in != nil {
		e.in.remove(e)
	}
	s.arm(e, now)
}
