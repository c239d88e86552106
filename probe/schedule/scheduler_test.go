package schedule_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/schedule"
)

// tick is the lateness of a start that nothing but the machine delays.
const tick = time.Millisecond

// dead makes each target whose index is a multiple of n run into its timeout, and
// the others take 50 ms.
func dead(list []*probe.Target, n int) func(context.Context, *probe.Target) {
	isDead := map[string]bool{}
	for i := 0; i < len(list); i += n {
		isDead[list[i].Name] = true
	}
	return func(ctx context.Context, t *probe.Target) {
		took := 50 * time.Millisecond
		if isDead[t.Name] {
			took = t.Timeout
		}
		sleep(ctx, took)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func TestDeadTargetsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 30 * time.Second
		list := targets(0, 10_000, interval)
		r := &recorder{t: t, node: "node-1", busy: dead(list, 5)}
		s, _ := r.schedule(1000)
		s.Set(list)
		starts, late := r.during(4 * interval)
		if len(starts) != 40_000 {
			t.Errorf("%d starts in 4 intervals of 10,000 targets", len(starts))
		}
		if worst := slices.Max(late); worst > tick {
			t.Errorf("a start was late by %v", worst)
		}
		last := map[string]time.Time{}
		for _, s := range starts {
			if before, ok := last[s.target.Name]; ok && s.at.Sub(before) != interval {
				t.Fatalf("%s started %v after its last start", s.target.Name, s.at.Sub(before))
			}
			last[s.target.Name] = s.at
		}
	})
}

// With every worker that may be taken by dead targets taken, the live ones still
// start in time; the dead share what is left.
func TestDeadTargetsBeyondConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 30 * time.Second
		list := targets(0, 1000, interval)
		r := &recorder{t: t, node: "node-1", busy: dead(list, 5)}
		s, _ := r.schedule(16) // 200 dead targets would need 67
		s.Set(list)
		time.Sleep(5 * time.Minute) // until every target was tried once
		starts, _ := r.during(10 * interval)
		count := map[string]int{}
		for _, s := range starts {
			count[s.target.Name]++
		}
		for i, target := range list {
			switch n := count[target.Name]; {
			case i%5 != 0 && n != 10:
				t.Errorf("%s is alive and started %d times in 10 intervals", target.Name, n)
			case i%5 == 0 && n == 0:
				t.Errorf("%s is dead and was never tried", target.Name)
			}
		}
		if r.highest != 16 {
			t.Errorf("%d runs at once, want 16", r.highest)
		}
	})
}

func TestConcurrency(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 50} {
		synctest.Test(t, func(t *testing.T) {
			list := targets(0, 200, 10*time.Second)
			r := &recorder{t: t, busy: dead(list, 1)}
			s, _ := r.schedule(limit)
			s.Set(list)
			r.during(time.Minute)
			// All are dead, and leave one in eight workers to targets that are not.
			if least := max(1, limit*7/8-1); r.highest > limit || r.highest < least {
				t.Errorf("%d runs at once, want at most %d and at least %d", r.highest, limit, least)
			}
		})
	}
}

func TestFirstStartIsWithinTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 30 * time.Second
		r := &recorder{t: t, active: map[string]bool{}}
		s := schedule.New(schedule.Config{Node: "node-1", Concurrency: 10, Run: r.run, Late: r.noteLate})
		s.Set(targets(0, 100, interval))
		time.Sleep(time.Hour) // the list must not be due all at once after that
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		checkEven(t, "at first", r, 100, interval)
		if worst := slices.Max(r.late); worst > tick {
			t.Errorf("a first start was late by %v", worst)
		}
		s.Set(targets(0, 150, interval))
		if n := len(r.phases(interval)); n != 150 {
			t.Errorf("%d of 150 targets started in the interval after 50 of them were added", n)
		}
		cancel()
	})
}

func TestPhasesStay(t *testing.T) {
	const interval = 20 * time.Second
	first := map[string]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t, node: "node-1"}
		s, _ := r.schedule(10)
		list := targets(0, 400, interval)
		s.Set(list)
		first = r.phases(interval)
		s.Set(list[20:])
		r.phases(interval)
		few := r.phases(interval)
		for _, target := range list[20:] {
			if name := target.Name; first[name] != few[name] {
				t.Fatalf("%s moved from %v to %v when one in 20 left", name, first[name], few[name])
			}
		}

		s.Set(slices.Concat(copies(list[20:]), targets(1000, 1100, interval)))
		later := r.phases(interval)
		for _, target := range list[20:] {
			if name := target.Name; first[name] != later[name] {
				t.Fatalf("%s moved from %v to %v when others came and went", name, first[name], later[name])
			}
		}
		changed := copies(list)
		for _, target := range changed {
			target.Address = "127.0.0.2:443"
		}
		s.Set(list)
		before := r.phases(interval)
		s.Set(changed)
		if diff := cmp.Diff(before, r.phases(interval)); diff != "" {
			t.Errorf("a change moved phases (-before +after):\n%s", diff)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12345678 * time.Microsecond)
		r := &recorder{t: t, node: "node-1"}
		s, _ := r.schedule(10)
		s.Set(targets(0, 400, interval))
		if diff := cmp.Diff(first, r.phases(interval)); diff != "" {
			t.Errorf("a restart moved phases (-before +after):\n%s", diff)
		}
	})
}

// Only as many targets move as it takes, when so many left that the rest is
// uneven.
func TestFewPhasesMoveWhenManyLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 20 * time.Second
		r := &recorder{t: t, node: "node-1"}
		s, _ := r.schedule(10)
		list := targets(0, 1000, interval)
		s.Set(list)
		before := r.phases(interval)
		s.Set(list[300:])
		moved := 0
		for name, phase := range r.phases(interval) {
			if phase != before[name] {
				moved++
			}
		}
		if moved < 200 || moved > 300 {
			t.Errorf("%d targets moved when 300 of 1000 left, want 200 to 300", moved)
		}
	})
}

func TestOverrun(t *testing.T) {
	const interval = 10 * time.Second
	for _, tt := range []struct {
		took   time.Duration
		missed time.Duration // phases
	}{
		{9 * time.Second, 0},
		{12 * time.Second, 1},
		{25 * time.Second, 2},
	} {
		t.Run(tt.took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{t: t, busy: func(ctx context.Context, _ *probe.Target) { sleep(ctx, tt.took) }}
				s, _ := r.schedule(4)
				s.Set(targets(0, 1, interval))
				starts, late := r.during(65 * time.Second)
				if len(starts) < 2 {
					t.Fatalf("%d starts", len(starts))
				}
				for i := 1; i < len(starts); i++ {
					if gap := starts[i].at.Sub(starts[i-1].at); gap != (1+tt.missed)*interval {
						t.Errorf("start %d is %v after the last one, want %v", i, gap, (1+tt.missed)*interval)
					}
					if late[i] != tt.missed*interval {
						t.Errorf("start %d is late by %v, want %v", i, late[i], tt.missed*interval)
					}
				}
			})
		})
	}
}

// With more to do than the workers can, each target has its turn, one that came
// last included.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := targets(0, 41, time.Second)
		r := &recorder{t: t, busy: func(ctx context.Context, _ *probe.Target) { sleep(ctx, 50*time.Millisecond) }}
		s, _ := r.schedule(1)
		s.Set(list[:40])
		time.Sleep(10 * time.Second)
		s.Set(list)
		starts, _ := r.during(30 * time.Second)
		count := map[string]int{}
		for _, s := range starts {
			count[s.target.Name]++
		}
		for _, target := range list {
			if n := count[target.Name]; n < 10 || n > 20 {
				t.Errorf("%s had %d of %d starts of 41 targets", target.Name, n, len(starts))
			}
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := 0
		r := &recorder{t: t}
		r.busy = func(ctx context.Context, _ *probe.Target) {
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond)
			r.mu.Lock()
			cancelled++
			r.mu.Unlock()
		}
		s, stop := r.schedule(8)
		s.Set(targets(0, 20, time.Second))
		r.during(time.Second) // seven run, the others wait for a worker
		began := time.Now()
		stop()
		if took := time.Since(began); took != 100*time.Millisecond || cancelled != 7 || len(r.starts) != 7 {
			t.Errorf("it stopped after %v with %d runs over and %d started, want 7", took, cancelled, len(r.starts))
		}
		if starts, _ := r.during(time.Minute); len(starts) != 0 {
			t.Errorf("%d starts after the stop", len(starts))
		}
	})
}

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name      string
		base      time.Duration
		nodes     int
		perSecond float64
		want      time.Duration
	}{
		{"few nodes", 30 * time.Second, 600, 20, 30 * time.Second},
		{"many nodes", 30 * time.Second, 1000, 20, 50 * time.Second},
		{"one more", 30 * time.Second, 1001, 20, 51 * time.Second},
		{"a base of part of a second", 1500 * time.Millisecond, 30, 20, 2 * time.Second},
		{"less than one a second", 30 * time.Second, 100, 0.5, 200 * time.Second},
		{"unknown number of nodes", 30 * time.Second, 0, 20, 30 * time.Second},
		{"no limit", 30 * time.Second, 15000, 0, 30 * time.Second},
		{"hardly anything allowed", time.Second, 15000, 1e-300, 9223372036 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := schedule.Pace(tt.base, tt.nodes, tt.perSecond); got != tt.want {
				t.Errorf("Pace(%v, %d, %v) = %v, want %v", tt.base, tt.nodes, tt.perSecond, got, tt.want)
			}
		})
	}
}
