//go:build unix

package schedule_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/schedule"
)

// BenchmarkSchedule measures the CPU time, kernel included, that one start costs,
// at the same pace for any number of targets, and its ratio to a bare timer loop
// at that pace in the same run. It takes the time that the starts are paced to:
//
//	go test -bench Schedule -benchtime 4000x -count 5 ./probe/schedule
func BenchmarkSchedule(b *testing.B) {
	const perSecond, rounds = 2000, 4
	for _, n := range []int{100, 1000, 5000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			interval := time.Duration(n) * time.Second / perSecond
			starts := b.N/rounds + 1
			var bare, ours time.Duration
			for range rounds {
				run := scheduled(starts, targets(0, n, interval))
				bare += cpuTime(func() { timerLoop(starts, time.Second/perSecond) })
				ours += cpuTime(run)
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(starts*rounds), "cpu-ns/start")
			b.ReportMetric(float64(ours)/float64(bare), "ratio-to-timer-loop")
			b.ReportMetric(float64(bytesPerTarget(n)), "B/target")
			b.ReportMetric(0, "ns/op") // the wall time is the pace
		})
	}
}

// timerLoop is the control: one goroutine and one timer.
func timerLoop(starts int, every time.Duration) {
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for range starts {
		<-timer.C
		due = due.Add(every)
		timer.Reset(time.Until(due))
	}
}

// scheduled returns a function that lets a scheduler of list make so many starts,
// of runs that do nothing.
func scheduled(starts int, list []*probe.Target) func() {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	s := schedule.New(schedule.Config{Concurrency: 16, Run: func(context.Context, *probe.Target) {
		mu.Lock()
		defer mu.Unlock()
		if starts--; starts == 0 {
			cancel()
		}
	}})
	s.Set(list)
	return func() { s.Run(ctx) }
}

// cpuTime returns the user and system time of this process during do.
func cpuTime(do func()) time.Duration {
	before := usage()
	do()
	return usage() - before
}

func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
