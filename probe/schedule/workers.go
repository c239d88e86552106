package schedule

import (
	"context"
	"slices"
	"sync"
	"time"

	"tlsprobe/probe"
)

// retireAfter is how long a worker has not been needed before it ends.
const retireAfter = time.Minute

// A worker is a goroutine that runs one job after another. That it is kept keeps
// the stack that a handshake has grown: a goroutine per run costs a tenth more.
// Its channel has room for one job, and is closed to end it.
type worker chan job

// workers counts the workers and holds the idle ones.
type workers struct {
	limit    int
	busy     int
	slow     int      // busy with an entry that was not quick
	idle     []worker // the last has been idle for the shortest time and is used first
	unneeded int      // the fewest that were idle since retireAt was set
	retireAt int64
	done     sync.WaitGroup
}

// slowLimit is how many may be busy with entries that are not quick.
func (w *workers) slowLimit() int { return max(1, w.limit-(w.limit+7)/8) }

// retire ends the workers that were idle all the time since it last did.
func (w *workers) retire(now int64) {
	if now < w.retireAt {
		return
	}
	for _, idle := range w.idle[:w.unneeded] {
		close(idle)
	}
	w.idle = slices.Delete(w.idle, 0, w.unneeded)
	w.unneeded = len(w.idle)
	w.retireAt = now + int64(retireAfter)
}

// A job is one run of one entry.
type job struct {
	entry   *entry
	target  *probe.Target
	ctx     context.Context
	due     int64
	started int64
	slow    bool // counted in workers.slow
}

// nextJob takes the entry that has been due for the longest time, of the lanes
// that have a worker left.
func (s *Scheduler) nextJob(now int64) (job, bool) {
	e := s.quick.first()
	if s.workers.slow < s.workers.slowLimit() {
		if other := s.slow.first(); e == nil || other != nil && other.at < e.at {
			e = other
		}
	}
	if e == nil || s.ctx.Err() != nil {
		return job{}, false
	}
	e.in.remove(e)
	j := job{entry: e, target: e.target, due: e.due, started: now, slow: !e.quick}
	j.ctx, e.cancel = context.WithCancel(s.ctx)
	e.due = e.next(now + 1)
	if j.slow {
		s.workers.slow++
	}
	return j, true
}

// engage gives j to an idle worker, or to a new one.
func (s *Scheduler) engage(j job) {
	w := &s.workers
	w.busy++
	if last := len(w.idle) - 1; last >= 0 {
		w.idle[last] <- j
		w.idle = w.idle[:last]
		w.unneeded = min(w.unneeded, last)
		return
	}
	w.done.Go(func() { s.work(j) })
}

// work is the life of a worker, from its first job on.
func (s *Scheduler) work(j job) {
	self := make(worker, 1)
	for ok := true; ok; {
		s.config.Late(time.Duration(s.clock.now() - j.due))
		s.config.Run(j.ctx, j.target)
		if s.finish(j) {
			s.leave(j.entry)
		}
		if j, ok = s.follow(self); !ok {
			j, ok = <-self
		}
	}
}

// finish ends a run, and reports whether its target has gone meanwhile.
func (s *Scheduler) finish(j job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, now := j.entry, s.clock.now()
	if j.slow {
		s.workers.slow--
	}
	e.quick = j.ctx.Err() == nil && now-j.started <= int64(j.target.Timeout/2)
	e.cancel()
	e.cancel = nil
	if !e.gone {
		s.arm(e, now)
	}
	return e.gone
}

// leave ends e, whose last run has returned, unless Set was faster: it may have
// taken e back.
func (s *Scheduler) leave(e *entry) {
	s.sets.Lock()
	defer s.sets.Unlock()
	s.mu.Lock()
	gone := e.gone && e.cancel == nil && s.entries[e.target.Name] == e
	s.mu.Unlock()
	if gone {
		delete(s.entries, e.target.Name)
		s.config.Gone(e.target.Name)
	}
}

// follow returns a worker's next job, or lets it be idle if there is none.
func (s *Scheduler) follow(self worker) (job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, ok := s.nextJob(s.clock.now()); ok {
		return j, true
	}
	s.workers.busy--
	if s.ctx.Err() != nil {
		close(self)
	} else {
		s.workers.idle = append(s.workers.idle, self)
	}
	return job{}, false
}

// end ends the idle workers, and waits for the busy ones, whose runs are
// cancelled.
func (s *Scheduler) end() {
	s.mu.Lock()
	for _, idle := range s.workers.idle {
		close(idle)
	}
	s.workers.idle = nil
	s.mu.Unlock()
	s.workers.done.Wait()
}
