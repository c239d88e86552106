package schedule_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/schedule"
)

// A recorder is what a scheduler calls. It notes each start, and fails the test
// when a target overlaps itself, or runs when it is gone.
type recorder struct {
	t    *testing.T
	node string
	// busy is what a run of a target does with its time; nil: nothing.
	busy func(ctx context.Context, t *probe.Target)

	mu      sync.Mutex
	starts  []start
	late    []time.Duration
	gone    []string
	active  map[string]bool
	highest int // runs at once
}

type start struct {
	target *probe.Target
	at     time.Time
}

// schedule runs a scheduler until the test ends, or until stop returns.
func (r *recorder) schedule(concurrency int) (s *schedule.Scheduler, stop func()) {
	r.active = map[string]bool{}
	s = schedule.New(schedule.Config{
		Node: r.node, Concurrency: concurrency, Run: r.run,
		Gone: r.noteGone, Late: r.noteLate,
	})
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	r.t.Cleanup(stop)
	return s, stop
}

func (r *recorder) run(ctx context.Context, t *probe.Target) {
	r.enter(t)
	if r.busy != nil {
		r.busy(ctx, t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, t.Name)
}

func (r *recorder) enter(t *probe.Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[t.Name] {
		r.t.Errorf("%s overlaps itself", t.Name)
	}
	r.active[t.Name] = true
	r.highest = max(r.highest, len(r.active))
	r.starts = append(r.starts, start{t, time.Now()})
}

func (r *recorder) noteGone(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[name] {
		r.t.Errorf("%s runs, and is said to be gone", name)
	}
	r.gone = append(r.gone, name)
}

// left returns the sorted names of those gone since it was called last.
func (r *recorder) left() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := r.gone
	r.gone = nil
	slices.Sort(gone)
	return gone
}

func (r *recorder) noteLate(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = append(r.late, d)
}

// during returns what started within the next d, and how late each was.
func (r *recorder) during(d time.Duration) ([]start, []time.Duration) {
	r.mu.Lock()
	r.starts, r.late = nil, nil
	r.mu.Unlock()
	time.Sleep(d)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts, r.late
}

// phases returns when in its interval each target started during the next
// interval, and fails unless each did once.
func (r *recorder) phases(interval time.Duration) map[string]time.Duration {
	r.t.Helper()
	starts, _ := r.during(interval)
	phases := map[string]time.Duration{}
	for _, s := range starts {
		if _, twice := phases[s.target.Name]; twice {
			r.t.Errorf("%s started twice in %v", s.target.Name, interval)
		}
		phases[s.target.Name] = time.Duration(s.at.UnixNano() % int64(interval))
	}
	return phases
}

// targets returns targets named by the numbers of [from, to).
func targets(from, to int, interval time.Duration) []*probe.Target {
	module := &probe.Module{Name: "tls", Kind: "tls"}
	var out []*probe.Target
	for i := from; i < to; i++ {
		out = append(out, &probe.Target{
			Name: fmt.Sprintf("t%d", i), Address: fmt.Sprintf("127.0.0.1:%d", i), Module: module,
			Schedule: probe.Schedule{Interval: interval, Timeout: interval / 3},
		})
	}
	return out
}

// copies returns equal targets at other addresses in memory.
func copies(list []*probe.Target) []*probe.Target {
	out := make([]*probe.Target, len(list))
	for i, t := range list {
		clone, module := *t, *t.Module
		clone.Module = &module
		out[i] = &clone
	}
	return out
}
