//go:build linux

package main

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkAgentPace tells how evenly probes arrive at the target: the most in
// any 100 ms over the mean, divided by the same of the control, which is paced by
// a clock and spaced evenly. Each lap is one interval of the targets; the figure
// is the median of the laps. After a reload means the laps that begin with one,
// which takes a fifth of the targets away and adds as many.
func BenchmarkAgentPace(b *testing.B) {
	program := buildAgent(b)
	for _, list := range []struct {
		targets  int
		interval time.Duration
	}{{1000, 5 * time.Second}, {300, 10 * time.Second}, {77, 3 * time.Second}} {
		b.Run(fmt.Sprintf("%d@%s", list.targets, list.interval), func(b *testing.B) {
			for b.Loop() {
				t := startTarget(b)
				load := agentLoad{group: "agent", prober: "tls", targets: list.targets, interval: list.interval}
				a := startAgent(program, t, load)
				load.group = "control"
				startControl(t, load)
				time.Sleep(load.interval)
				b.ReportMetric(median(laps(a, t, func() {})), "peak/control")
				b.ReportMetric(median(laps(a, t, func() { a.reload(t) })), "reload-peak/control")
				time.Sleep(time.Second) // the last new target may be due an interval after the reload
				a.checkHealth()
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// laps returns the peak of the agent's arrivals over that of the control's, for
// each of some laps that begin with what begin does.
func laps(a *agentProcess, t *targetProcess, begin func()) []float64 {
	var ratios []float64
	for range 3 {
		begin()
		t.arrivals()
		time.Sleep(a.interval)
		arrived := t.arrivals()
		ours, control := of(arrived, a.group), of(arrived, "control")
		if len(ours) < a.targets*9/10 || len(ours) > a.targets*11/10 {
			t.b.Fatalf("%d probes of %d targets in an interval", len(ours), a.targets)
		}
		ratios = append(ratios, peak(ours)/peak(control))
	}
	return ratios
}

// peak returns the most arrivals in any 100 ms over the mean of all 100 ms.
func peak(list []arrival) float64 {
	const span = 100 * time.Millisecond
	most, first := 0, 0
	for i := range list {
		for list[i].At.Sub(list[first].At) >= span {
			first++
		}
		most = max(most, i-first+1)
	}
	return float64(most) / (float64(len(list)) * span.Seconds() / list[len(list)-1].At.Sub(list[0].At).Seconds())
}

// reload takes a fifth of the targets away and adds as many.
func (a *agentProcess) reload(t *targetProcess) {
	a.b.Helper()
	a.first += a.targets / 5
	a.config(t, a.file)
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		a.b.Fatal(err)
	}
}

// BenchmarkAgentDeadTargets tells what dead targets do to the others: how far the
// gaps between the probes of a healthy target are from its interval, as the 99th
// percentile, over the same of an agent without dead targets in the same minute.
// A dead target accepts and stays silent until the timeout.
func BenchmarkAgentDeadTargets(b *testing.B) {
	const healthy, interval, observed = 250, 5 * time.Second, 6
	program := buildAgent(b)
	for _, percent := range []int{20, 50} {
		b.Run(fmt.Sprintf("%d%%", percent), func(b *testing.B) {
			for b.Loop() {
				t := startTarget(b)
				load := agentLoad{group: "none", prober: "tls", targets: healthy, interval: interval}
				none := startAgent(program, t, load)
				load.group, load.dead = "some", healthy*percent/(100-percent)
				some := startAgent(program, t, load)
				time.Sleep(2 * interval)
				t.arrivals()
				time.Sleep(observed * interval)
				arrived := t.arrivals()
				p99 := deviation(of(arrived, some.group), interval)
				clean := deviation(of(arrived, none.group), interval)
				b.ReportMetric(p99/clean, "p99/none")
				b.ReportMetric(p99*1000, "p99-ms")
				b.ReportMetric(clean*1000, "none-p99-ms")
				some.checkHealth()
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// deviation returns the 99th percentile of |gap - interval| in seconds.
func deviation(list []arrival, interval time.Duration) float64 {
	last := map[string]time.Time{}
	var off []float64
	for _, a := range list {
		if before, seen := last[a.Name]; seen {
			off = append(off, (a.At.Sub(before) - interval).Abs().Seconds())
		}
		last[a.Name] = a.At
	}
	slices.Sort(off)
	return off[len(off)*99/100]
}
