// Package schedule decides when targets are probed: phase, pace and limits. It
// knows nothing of probes, results or metrics; it calls a function for each start.
//
// # Phases
//
// A target is due once per interval, always at the same phase of it. Phases are
// counted from the Unix epoch, so neither a reload nor a restart of the process
// moves them. They follow a golden-ratio sequence over slots, shifted by the name
// of the node (see slots.go), so starts are even for any number of targets and
// any interval, and two nodes do not probe in step. A target keeps its slot while
// others come and go; only when more than one slot in sixteen is empty do the
// targets of the highest slots move down, as many as it takes and no more.
//
// # Limits
//
// A target never overlaps itself: a run that is not over at its target's next
// phase makes it miss that one, and the start after it is late by as much. At
// most Config.Concurrency runs go on at once, by workers that are started on
// demand, kept, and retired when they have been idle for long. Below that limit
// no target waits for another.
//
// At the limit, targets wait in two lanes. In the quick lane are those whose last
// run returned within half their timeout; the slow lane, of all others and of
// those never run, may hold at most seven in eight of the workers. So however many
// targets are dead, the live ones keep an eighth to themselves, and what is short
// is missed by the dead. Nothing waits at all while runs end within their timeouts
// and 7/8 of Config.Concurrency is a little more than the sum of timeout/interval
// over all targets that may be dead at once. Workers that are not needed are never
// started, so the limit may be generous.
package schedule

import (
	"context"
	"math"
	"sync"
	"time"

	"tlsprobe/probe"
)

// A Config says what a [Scheduler] does at each start.
type Config struct {
	Node        string // the name of this node, which shifts the phases
	Concurrency int    // at most this many runs at once; below 1 counts as 1

	// Run probes t once. It must return soon after ctx is done.
	//
	// If ctx is done when Run has its result, then t has changed or gone, or the
	// scheduler ends, and the result must not be recorded. To leave no moment in
	// between, whoever records should learn of a new list before [Scheduler.Set]
	// does, and drop what is not of a target in it.
	Run func(ctx context.Context, t *probe.Target)

	// Gone, if not nil, is called once for each target that left, when its last
	// Run has returned. It is not called for a target that was back by then. It
	// must not call Set.
	Gone func(name string)

	// Late, if not nil, is called before each Run with the time since the target
	// was due. It is an interval or more if a run took so long that phases were
	// missed.
	Late func(time.Duration)
}

// A Scheduler starts the runs of a list of targets. Its methods are safe for
// concurrent use.
type Scheduler struct {
	config Config
	clock  clock

	sets       sync.Mutex // one change of the list at a time, calls of Gone included; taken before mu
	entries    map[string]*entry
	slots      map[time.Duration]*slots // by interval
	generation uint32                   // of the list; marks the entries that are in it

	mu      sync.Mutex // all below, and the entries' own fields
	ctx     context.Context
	waiting queue // for their phase
	quick   queue // due, and waiting for a worker
	slow    queue // the same, for those that might keep it for long
	workers workers
	wakeAt  int64         // when Run looks next
	wake    chan struct{} // makes it look at once
}

// New returns a Scheduler without targets.
func New(config Config) *Scheduler {
	config.Concurrency = max(1, config.Concurrency)
	if config.Gone == nil {
		config.Gone = func(string) {}
	}
	if config.Late == nil {
		config.Late = func(time.Duration) {}
	}
	return &Scheduler{
		config:  config,
		clock:   newClock(),
		entries: map[string]*entry{},
		slots:   map[time.Duration]*slots{},
		workers: workers{limit: config.Concurrency},
		wake:    make(chan struct{}, 1),
	}
}

// Run starts the targets' runs until ctx is done; then it cancels those under way
// and returns when they have returned. It may be called once.
func (s *Scheduler) Run(ctx context.Context) {
	s.begin(ctx)
	defer s.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		timer.Reset(s.dispatch())
	}
}

// begin gives every target a phase that is still to come: the list may have been
// set long before.
func (s *Scheduler) begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	now := s.clock.now()
	entries := s.waiting.entries
	s.waiting = queue{}
	for _, e := range entries {
		e.due = e.next(now)
		s.arm(e, now)
	}
}

// dispatch starts what is due and returns how long nothing else will be.
func (s *Scheduler) dispatch() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	s.collect(now)
	for s.workers.busy < s.workers.limit {
		j, ok := s.nextJob(now)
		if !ok {
			break
		}
		s.engage(j)
	}
	s.workers.retire(now)
	s.wakeAt = now + int64(retireAfter)
	if e := s.waiting.first(); e != nil {
		s.wakeAt = min(s.wakeAt, e.at)
	}
	return time.Duration(s.wakeAt - now)
}

// collect moves the due entries to their lanes. What is a whole interval late can
// only be so because this process or its machine stood still; then everything
// else is due as well, and waiting for the next phase keeps the starts even.
func (s *Scheduler) collect(now int64) {
	for e := s.waiting.first(); e != nil && e.at <= now; e = s.waiting.first() {
		s.waiting.remove(e)
		switch {
		case now-e.at >= int64(e.target.Interval):
			e.at = e.next(now + 1)
			s.waiting.add(e)
		case e.quick:
			s.quick.add(e)
		default:
			s.slow.add(e)
		}
	}
}

// arm lets e, which is in no queue, wait until it is due, or for its next phase
// if that has passed.
func (s *Scheduler) arm(e *entry, now int64) {
	e.at = max(e.due, e.next(now))
	s.waiting.add(e)
	if e.at < s.wakeAt {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Pace returns the interval at which each of nodes probes a target so that all of
// them together start at most perSecond probes of it per second: base if that is
// enough, else the next whole second, so that a node more or less seldom changes
// it. A perSecond that is not positive sets no limit.
func Pace(base time.Duration, nodes int, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return base
	}
	seconds := math.Ceil(float64(nodes) / perSecond)
	if seconds <= base.Seconds() {
		return base
	}
	const longest = math.MaxInt64 / int64(time.Second)
	return time.Duration(min(seconds, float64(longest))) * time.Second
}
