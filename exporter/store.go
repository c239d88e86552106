// Package exporter is what people and machines read: the last results, as
// metrics, text, JSON and pages.
//
// Results go in at [Store.Record]; everything that is shown comes out of a
// [Store] or of a probe that /probe runs by itself. The package decides neither
// what is probed nor when: it gets targets and results, and never dials.
//
// Start reading at [Store], then [New] for what is served, then [View] for what
// one answer is made of.
package exporter

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tlsprobe/probe"
)

// A Store keeps the known targets and what is known of each: the last result,
// since when its verdict holds, the last outcomes, the last failure. It is safe
// for concurrent use; readers hold its lock only while they copy pointers.
type Store struct {
	now    func() time.Time
	phases *prometheus.HistogramVec // of module and phase

	mu       sync.Mutex
	byName   map[string]*entry
	sorted   []*entry // by the target's name
	modules  []string // those that a known target uses, sorted
	byReason map[moduleReason]uint64
}

// moduleReason is what failures are counted by.
type moduleReason struct {
	module string
	reason *probe.Reason
}

// An entry is what the store keeps of one target.
type entry struct {
	target      *probe.Target
	last        *probe.Result // nil: pending, no result yet
	lastFailure *probe.Result // nil: it never failed
	since       time.Time     // start of the first run with the verdict of last
	runs        uint64
	failures    uint64
	history     history
}

// NewStore returns a store without targets. now is the clock, nil for
// [time.Now].
func NewStore(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{
		now:      now,
		phases:   newPhaseHistogram(),
		byName:   map[string]*entry{},
		byReason: map[moduleReason]uint64{},
	}
}

// SetTargets makes these the known targets. One that is new is pending until its
// first result; one that is gone loses its series and its history, and so does
// one that now asks something else. A change of labels, pace, routes or faults
// keeps both: pods come and go, and what they serve fails on.
func (s *Store) SetTargets(targets []*probe.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byName := make(map[string]*entry, len(targets))
	sorted := make([]*entry, 0, len(targets))
	for _, t := range targets {
		e := s.byName[t.Name]
		if e == nil || !isAbout(e.target, t) {
			e = &entry{}
		}
		e.target = t
		byName[t.Name] = e
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b *entry) int { return strings.Compare(a.target.Name, b.target.Name) })
	s.byName, s.sorted = byName, sorted
	s.setModules()
}

// setModules finds the modules in use and drops what was counted for others.
func (s *Store) setModules() {
	var used []string
	for _, e := range s.sorted {
		if name := e.target.Module.Name; !slices.Contains(used, name) {
			used = append(used, name)
		}
	}
	slices.Sort(used)
	for _, old := range s.modules {
		if !slices.Contains(used, old) {
			s.phases.DeletePartialMatch(prometheus.Labels{"module": old})
		}
	}
	for key := range s.byReason {
		if !slices.Contains(used, key.module) {
			delete(s.byReason, key)
		}
	}
	s.modules = used
}

// isAbout reports whether a and b are about the same: what must be true, and of
// whom.
func isAbout(a, b *probe.Target) bool {
	return a == b || a.Name == b.Name && a.Address == b.Address && a.ServerName == b.ServerName &&
		a.Trust == b.Trust && (a.Module == b.Module || reflect.DeepEqual(a.Module, b.Module))
}

// asksSame reports whether results of a are results of b too: only what the
// probe looks at counts.
func asksSame(a, b *probe.Target) bool {
	return a == b || isAbout(a, b) && slices.Equal(a.Routes, b.Routes) &&
		a.Undialled == b.Undialled && reflect.DeepEqual(a.Faults, b.Faults)
}

// A Transition is a change of what is known of a target: of its verdict or of
// its reasons.
type Transition struct {
	Result   *probe.Result // what was found now
	Previous *probe.Result // what was found before; nil: this is the first result
	Since    time.Time     // since when the verdict of Previous held; zero without one
}

// Record keeps a result. It reports true with the change if the verdict or the
// reasons are not those of the result before, as with the first result. Results
// that say nothing of a known target are dropped: those marked Invalid, and
// those of a target that is gone or has changed since.
func (s *Store) Record(r *probe.Result) (Transition, bool) {
	if r.Invalid != "" {
		return Transition{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byName[r.Target.Name]
	if e == nil || !asksSame(e.target, r.Target) {
		return Transition{}, false
	}
	change := Transition{Result: r, Previous: e.last, Since: e.since}
	s.count(e, r)
	s.observePhases(e.target.Module.Name, r)
	if e.last == nil || e.last.OK() != r.OK() {
		e.since = r.Start
	}
	e.last = r
	if !r.OK() {
		e.lastFailure = r
	}
	e.history.add(outcomeOf(r))
	changed := change.Previous == nil || change.Previous.OK() != r.OK() || !slices.Equal(change.Previous.Reasons(), r.Reasons())
	return change, changed
}

func (s *Store) count(e *entry, r *probe.Result) {
	e.runs++
	if r.OK() {
		return
	}
	e.failures++
	for _, reason := range r.Reasons() {
		if reason.Severity == probe.Error {
			s.byReason[moduleReason{e.target.Module.Name, reason}]++
		}
	}
}

func (s *Store) observePhases(module string, r *probe.Result) {
	for i := range r.Attempts {
		for phase, took := range r.Attempts[i].Phases {
			if took > 0 {
				s.phases.WithLabelValues(module, probe.Phase(phase).String()).Observe(took.Seconds())
			}
		}
	}
}

// Target returns the known target of this name, or nil.
func (s *Store) Target(name string) *probe.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byName[name]; e != nil {
		return e.target
	}
	return nil
}

// View returns what is known of the target of this name, and false if there is
// no such target. While the target is pending, the view has no Result.
func (s *Store) View(name string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byName[name]
	if e == nil {
		return View{}, false
	}
	return e.view(s.now()), true
}

// Views returns what is known of every target, in order of their names.
func (s *Store) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	views := make([]View, len(s.sorted))
	for i, e := range s.sorted {
		views[i] = e.view(now)
	}
	return views
}

func (e *entry) view(now time.Time) View {
	v := View{Target: e.target, Result: e.last, LastFailure: e.lastFailure, Since: e.since, History: e.history.outcomes()}
	if e.last != nil {
		v.Age = max(0, now.Sub(e.last.Start.Add(e.last.Duration)))
		v.Next = max(0, e.last.Start.Add(e.target.Interval).Sub(now))
	}
	return v
}

// Near returns the names of known targets that somebody who typed name may have
// meant, the likeliest first.
func (s *Store) Near(name string) []string {
	const maxTyped = 200 // beyond it no target is meant, and comparing costs too much
	if len(name) > maxTyped {
		return nil
	}
	s.mu.Lock()
	names := make([]string, len(s.sorted))
	for i, e := range s.sorted {
		names[i] = e.target.Name
	}
	s.mu.Unlock()
	return probe.Nearest(name, names)
}
