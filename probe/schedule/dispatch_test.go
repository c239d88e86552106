package schedule

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tlsprobe/probe"
)

// start runs a scheduler until the test ends.
func start(t *testing.T, config Config) *Scheduler {
	s := New(config)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

func untilCancelled(ctx context.Context, _ *probe.Target) { <-ctx.Done() }

func newTargets(n int, interval time.Duration) []*probe.Target {
	var out []*probe.Target
	for i := range n {
		out = append(out, &probe.Target{
			Name:     fmt.Sprintf("t%d", i),
			Schedule: probe.Schedule{Interval: interval, Timeout: interval / 2},
		})
	}
	return out
}

// A process that stood still, with its machine or for lack of CPU, must not start
// everything at once when it goes on.
func TestPauseOfTheProcess(t *testing.T) {
	for _, tt := range []struct {
		name            string
		pause           time.Duration
		atLeast, atMost int // starts at once
	}{
		{"a tenth of the interval", time.Second, 95, 105},
		{"many intervals", time.Hour, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := 0
				s := New(Config{Node: "node-1", Concurrency: 1, Run: func(context.Context, *probe.Target) { started++ }})
				s.Set(newTargets(1000, 10*time.Second))
				ctx, cancel := context.WithCancel(t.Context())
				s.begin(ctx)
				time.Sleep(tt.pause)
				s.dispatch()
				synctest.Wait()
				if started < tt.atLeast || started > tt.atMost {
					t.Errorf("%d starts at once, want %d to %d", started, tt.atLeast, tt.atMost)
				}
				if s.waiting.first().at < s.clock.now() || len(s.waiting.entries) != 1000 {
					t.Errorf("%d of 1000 wait for a phase to come", len(s.waiting.entries))
				}
				cancel()
				s.end()
			})
		})
	}
}

func TestNothingIsLeftOfTheGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Concurrency: 3, Run: untilCancelled})
		s.Set(newTargets(50, time.Second))
		time.Sleep(time.Second) // some run, the others wait for a worker
		s.Set(newTargets(30, 2*time.Second))
		time.Sleep(time.Second)
		s.Set(nil)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		queued := len(s.waiting.entries) + len(s.quick.entries) + len(s.slow.entries)
		if len(s.entries)+len(s.slots)+queued+s.workers.busy+s.workers.slow != 0 {
			t.Errorf("left: %d entries, %d intervals, %d queued, %d busy, %d of them slow",
				len(s.entries), len(s.slots), queued, s.workers.busy, s.workers.slow)
		}
	})
}

func TestWorkersAreKeptThenRetired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Concurrency: 1000, Run: func(ctx context.Context, t *probe.Target) {
			if t.Name != "t0" {
				<-ctx.Done()
			}
		}})
		count := func() int {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.workers.busy + len(s.workers.idle)
		}
		s.Set(newTargets(500, time.Second))
		time.Sleep(time.Second)
		s.Set(newTargets(1, time.Second)) // t0 goes on and needs one
		time.Sleep(retireAfter / 2)
		if n := count(); n < 499 {
			t.Errorf("%d workers left soon after 499 were needed", n)
		}
		time.Sleep(2 * retireAfter)
		if n := count(); n != 1 {
			t.Errorf("%d workers left, want the one that is needed", n)
		}
	})
}

// What a target was says nothing of what it changed to.
func TestChangedTargetIsNotQuick(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   time.Duration // of the change, after a start; a run takes 100 ms
	}{
		{"running", 50 * time.Millisecond},
		{"waiting", 500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, Config{Run: func(ctx context.Context, t *probe.Target) {
					select {
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond):
					}
				}})
				s.Set(newTargets(1, time.Second))
				e := s.entries["t0"]
				at, _ := s.look(e)
				time.Sleep(time.Duration(at-s.clock.now()) + time.Second + tt.at)
				if _, quick := s.look(e); !quick {
					t.Fatal("the target was not quick before it changed")
				}
				changed := newTargets(1, time.Second)
				changed[0].Address = "127.0.0.2:443"
				s.Set(changed)
				synctest.Wait()
				if _, quick := s.look(e); quick {
					t.Error("the changed target counts as quick")
				}
			})
		})
	}
}

func (s *Scheduler) look(e *entry) (at int64, quick bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.at, e.quick
}

// A worker that finds its target gone may be slower than the Set that takes it
// back or ends it.
func TestLeaveComesTooLate(t *testing.T) {
	list := newTargets(1, time.Second)
	for _, tt := range []struct {
		name string
		sets [][]*probe.Target // after the first
	}{
		{"taken back", [][]*probe.Target{list}},
		{"ended, and another came", [][]*probe.Target{nil, list}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gone := 0
			s := New(Config{Gone: func(string) { gone++ }})
			s.Set(list)
			e := s.entries["t0"]
			for _, set := range tt.sets {
				s.Set(set)
			}
			want := gone
			s.leave(e)
			if gone != want || s.entries["t0"] == nil {
				t.Error("the target that is in the list was said to be gone")
			}
		})
	}
}
