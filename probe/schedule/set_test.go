package schedule_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/schedule"
)

// long runs until it is cancelled, and then needs a second to return; it counts
// what was cancelled.
func (r *recorder) long(cancelled map[string]int) func(context.Context, *probe.Target) {
	return func(ctx context.Context, t *probe.Target) {
		<-ctx.Done()
		time.Sleep(time.Second)
		r.mu.Lock()
		defer r.mu.Unlock()
		cancelled[t.Name]++
	}
}

func TestSetCancelsWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 10 * time.Second
		cancelled := map[string]int{}
		r := &recorder{t: t}
		r.busy = r.long(cancelled)
		s, _ := r.schedule(100)
		list := targets(0, 4, interval)
		s.Set(list)
		if starts, _ := r.during(interval); len(starts) != 4 {
			t.Fatalf("%d starts of 4", len(starts))
		}
		next := copies(list)[:3] // t0 as it was, t1 and t2 changed, t3 gone
		next[1].ServerName = "other.test"
		next[2].Interval = interval / 2
		s.Set(next)
		starts, late := r.during(interval)
		if diff := cmp.Diff(map[string]int{"t1": 1, "t2": 1, "t3": 1}, cancelled); diff != "" {
			t.Errorf("cancelled (-want +got):\n%s", diff)
		}
		var restarted []*probe.Target
		for _, s := range starts {
			restarted = append(restarted, s.target)
		}
		slices.SortFunc(restarted, func(a, b *probe.Target) int { return int(a.Interval - b.Interval) })
		if !slices.Equal(restarted, []*probe.Target{next[2], next[1]}) {
			t.Errorf("restarted %v, want the changed targets as they are now", restarted)
		}
		if len(late) == 0 || slices.Max(late) > interval/2 {
			t.Errorf("late by %v, although the old runs ended in a second", late)
		}
		if diff := cmp.Diff([]string{"t3"}, r.left()); diff != "" {
			t.Errorf("gone (-want +got):\n%s", diff)
		}
	})
}

func TestGoneAfterTheLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t} // it fails the test if a target is gone while it runs
		r.busy = r.long(map[string]int{})
		s, _ := r.schedule(100)
		s.Set(targets(0, 2, 10*time.Second))
		time.Sleep(10 * time.Second)
		s.Set(targets(0, 3, 10*time.Second))
		s.Set(nil)
		if diff := cmp.Diff([]string{"t2"}, r.left()); diff != "" {
			t.Errorf("gone at once, with the others still running (-want +got):\n%s", diff)
		}
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"t0", "t1"}, r.left()); diff != "" {
			t.Errorf("gone (-want +got):\n%s", diff)
		}
	})
}

func TestTargetThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 10 * time.Second
		r := &recorder{t: t}
		r.busy = r.long(map[string]int{})
		s, _ := r.schedule(100)
		list := targets(0, 1, interval)
		s.Set(list)
		time.Sleep(interval)
		s.Set(nil)
		s.Set(list) // its first run needs another second to return
		if starts, _ := r.during(2 * interval); len(starts) != 1 {
			t.Errorf("%d starts of a target that left and came back, want 1", len(starts))
		}
		if gone := r.left(); len(gone) != 0 {
			t.Errorf("gone: %v; it was back", gone)
		}
	})
}

// The old list can be freed.
func TestEqualTargetsAreAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t}
		s, _ := r.schedule(2)
		list := targets(0, 1, time.Second)
		s.Set(list)
		list = copies(list)
		s.Set(list)
		starts, _ := r.during(time.Second)
		if len(starts) != 1 || starts[0].target != list[0] {
			t.Errorf("started %v, want the target of the new list", starts)
		}
	})
}

func TestDuplicateNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t}
		s, _ := r.schedule(2)
		first, second := targets(0, 1, time.Second), targets(0, 1, time.Second)
		second[0].Address = "127.0.0.2:443"
		for range 3 {
			s.Set(slices.Concat(first, second))
		}
		starts, _ := r.during(time.Second)
		if len(starts) != 1 || starts[0].target != first[0] {
			t.Errorf("started %v, want the first of the name, once", starts)
		}
	})
}

// Lists that change at any moment, with runs of any length that need time to
// return, leave nothing behind.
func TestRandomLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		r := &recorder{t: t, busy: func(ctx context.Context, t *probe.Target) {
			sleep(ctx, time.Duration(len(t.ServerName))*t.Interval/4)
			time.Sleep(time.Duration(len(t.Name)) * 37 * time.Millisecond)
		}}
		s, _ := r.schedule(20)
		for range 2000 {
			list := targets(0, 60, time.Duration(1+random.IntN(2))*time.Second)
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			list = list[:random.IntN(len(list))]
			for _, target := range list {
				target.ServerName = "......"[:random.IntN(7)]
			}
			s.Set(list)
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		}
		final := targets(0, 60, time.Second)
		s.Set(final)
		time.Sleep(3 * time.Second)
		if n := len(r.phases(time.Second)); n != 60 {
			t.Errorf("%d of 60 targets start once in an interval in the end", n)
		}
		r.left()
		s.Set(nil)
		time.Sleep(time.Second)
		if n := len(r.left()); n != 60 {
			t.Errorf("%d of 60 targets gone in the end", n)
		}
		if starts, _ := r.during(10 * time.Second); len(starts) != 0 {
			t.Errorf("%d starts without targets", len(starts))
		}
	})
}

func TestMemoryPerTarget(t *testing.T) {
	if got := bytesPerTarget(10_000); got > 180 {
		t.Errorf("the schedule takes %d bytes a target", got)
	}
}

// bytesPerTarget measures the heap that n targets take in a schedule, without
// themselves.
func bytesPerTarget(n int) int {
	list := targets(0, n, 30*time.Second)
	s := schedule.New(schedule.Config{Run: func(context.Context, *probe.Target) {}})
	before := heap()
	s.Set(list)
	after := heap()
	runtime.KeepAlive(list)
	runtime.KeepAlive(s)
	return int(after-before) / n
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
