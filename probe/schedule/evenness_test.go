package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tlsprobe/probe"
)

func TestStartsAreEven(t *testing.T) {
	for _, tt := range []struct {
		n        int
		interval time.Duration
	}{
		{1, 5 * time.Second},
		{7, 5 * time.Second},
		{100, 5 * time.Second},
		{300, 30 * time.Second},
		{1000, 5 * time.Second},
		{1000, 10 * time.Second},
		{2000, 7 * time.Second},
		{5000, 5 * time.Second},
		{5000, 30 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d every %v", tt.n, tt.interval), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testEven(t, tt.n, tt.interval) })
		})
	}
}

// testEven goes through what happens to a list in a long life.
func testEven(t *testing.T, n int, interval time.Duration) {
	random := rand.New(rand.NewPCG(uint64(n), uint64(interval)))
	shuffle := func(list []*probe.Target) []*probe.Target {
		list = slices.Clone(list)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	r := &recorder{t: t, node: "node-1"}
	s, _ := r.schedule(10)
	list := targets(0, n, interval)
	half := shuffle(list)[:(n+1)/2]
	refilled := slices.Concat(half, targets(n, n+n/2, interval))
	few := shuffle(refilled)[:(len(refilled)+9)/10]
	reloaded := copies(refilled)
	for i := 0; i < len(reloaded); i += 5 {
		reloaded[i].ServerName = "changed.test"
	}
	for _, step := range []struct {
		name string
		list []*probe.Target
	}{
		{"at first", list},
		{"after removing half", half},
		{"after adding others", refilled},
		{"after removing nine in ten", few},
		{"after adding them again", refilled},
		{"after a reload with changes", reloaded},
		{"after removing one in 20", shuffle(reloaded)[len(reloaded)/20:]},
	} {
		s.Set(step.list)
		checkEven(t, step.name+", at once", r, len(step.list), interval)
		checkEven(t, step.name, r, len(step.list), interval)
	}
}

// checkEven allows any 100 ms 1.2 times the mean number of starts, and one more;
// two in any case.
func checkEven(t *testing.T, when string, r *recorder, n int, interval time.Duration) {
	t.Helper()
	const window = 100 * time.Millisecond
	starts, _ := r.during(interval)
	if len(starts) != n {
		t.Errorf("%s: %d starts of %d targets in one interval", when, len(starts), n)
	}
	most, first := 0, 0
	for i := range starts {
		for starts[i].at.Sub(starts[first].at) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	mean := float64(n) * window.Seconds() / interval.Seconds()
	if float64(most) > max(2, 1.2*mean+1) {
		t.Errorf("%s: %d of %d starts within %v; the mean is %.2f", when, most, n, window, mean)
	}
}

func TestIntervalsTogetherAreEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t, node: "node-1"}
		s, _ := r.schedule(10)
		s.Set(slices.Concat(targets(0, 600, 15*time.Second), targets(600, 1800, 30*time.Second)))
		starts, _ := r.during(30 * time.Second)
		if len(starts) != 2*600+1200 {
			t.Fatalf("%d starts in 30 s, want 2400", len(starts))
		}
		perWindow := map[time.Time]int{}
		for _, s := range starts {
			perWindow[s.at.Truncate(100*time.Millisecond)]++
		}
		for at, n := range perWindow {
			if n > 8*12/10+2 { // one more for each interval
				t.Errorf("%d starts in the 100 ms of %v; the mean is 8", n, at)
			}
		}
	})
}

// Slots of equal number in different intervals must not start together.
func TestLonelyIntervalsDoNotCoincide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t, node: "node-1"}
		s, _ := r.schedule(10)
		var list []*probe.Target
		for i := range 60 {
			list = append(list, targets(i, i+1, time.Minute+time.Duration(i)*time.Nanosecond)...)
		}
		s.Set(list)
		starts, _ := r.during(time.Minute)
		perSecond := map[time.Time]int{}
		for _, s := range starts {
			perSecond[s.at.Truncate(time.Second)]++
		}
		if len(perSecond) < 30 {
			t.Errorf("%d starts of 60 intervals fall in only %d seconds of 60", len(starts), len(perSecond))
		}
	})
}

func TestNodesAreNotInStep(t *testing.T) {
	const interval = 10 * time.Second
	inTenth := map[time.Duration]int{}
	for i := range 200 {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{t: t, node: fmt.Sprintf("node-%d", i)}
			s, _ := r.schedule(1)
			s.Set(targets(0, 1, interval))
			inTenth[r.phases(interval)["t0"]/(interval/10)]++
		})
	}
	for tenth := range time.Duration(10) {
		if n := inTenth[tenth]; n < 5 || n > 40 {
			t.Errorf("%d of 200 nodes probe in tenth %d of the interval, want about 20", n, tenth)
		}
	}
}
