package exporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"tlsprobe/probe"
)

const (
	// freshFor is how old an answer may be that is served instead of a new run.
	freshFor = 5 * time.Second
	// maxLive is how many probes may run at once for people who ask, so that
	// asking cannot starve the schedule.
	maxLive = 8
	// maxScraped is how many may run at once for scrapes, which come in crowds: as
	// many as the schedule's own, by default.
	maxScraped = 1000
)

// errBusy says that as many probes run as may.
var errBusy = errors.New("as many probes as allowed run already")

// live runs probes for those who ask. Equal ones that are asked for at the same
// time share one run, which ends early when nobody waits for it any more. A target
// may change its routes or faults and keep its name: then the runs are not equal.
type live struct {
	now func() time.Time
	max int // runs at once

	mu      sync.Mutex
	running int
	flights map[string]*flight       // those that a request may join
	recent  map[string]*probe.Result // of runs that may be served again
}

// A flight is one run under way.
type flight struct {
	target  *probe.Target
	waiting int // who wants the result; guarded by live.mu
	cancel  context.CancelFunc
	done    chan struct{}
	result  *probe.Result // set before done is closed
}

func newLive(now func() time.Time, most int) *live {
	return &live{now: now, max: most, flights: map[string]*flight{}, recent: map[string]*probe.Result{}}
}

// run returns what a run of t found, its own or that of another with the same key.
// It returns errBusy, or the error of ctx.
func (l *live) run(ctx context.Context, key string, t *probe.Target, run func(context.Context) *probe.Result) (*probe.Result, error) {
	f, err := l.join(ctx, key, t, run)
	if err != nil {
		return nil, err
	}
	defer l.leave(key, f)
	select {
	case <-f.done:
		return f.result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *live) join(ctx context.Context, key string, t *probe.Target, run func(context.Context) *probe.Result) (*flight, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.flights[key]; f != nil && asksSame(f.target, t) {
		f.waiting++
		return f, nil
	}
	if l.running >= l.max {
		return nil, errBusy
	}
	// The run outlives the request that began it if others wait for it too.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{target: t, waiting: 1, cancel: cancel, done: make(chan struct{})}
	l.flights[key] = f
	l.running++
	go func() {
		f.result = run(ctx)
		l.mu.Lock()
		l.running--
		l.land(key, f)
		l.mu.Unlock()
		close(f.done)
	}()
	return f, nil
}

// leave is called by whoever stops waiting for f.
func (l *live) leave(key string, f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.cancel()
		l.land(key, f)
	}
}

// land makes f one that no request can join. l.mu is held.
func (l *live) land(key string, f *flight) {
	if l.flights[key] == f {
		delete(l.flights, key)
	}
}

// keep makes r what fresh returns for key, for as long as it is fresh.
func (l *live) keep(key string, r *probe.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, old := range l.recent {
		if l.age(old) >= freshFor {
			delete(l.recent, k)
		}
	}
	l.recent[key] = r
}

// fresh returns what was kept for key, or nil if it is too old or not about t as it
// is now.
func (l *live) fresh(key string, t *probe.Target) *probe.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.recent[key]; r != nil && l.age(r) < freshFor && asksSame(r.Target, t) {
		return r
	}
	return nil
}

// age is how long ago r's run ended.
func (l *live) age(r *probe.Result) time.Duration {
	return max(0, l.now().Sub(r.Start.Add(r.Duration)))
}
