//go:build linux

package main

import (
	"slices"
	"testing"
	"time"
)

const (
	window  = 4 * time.Second
	windows = 9
)

// BenchmarkAgentTLS is the CPU time of a scheduled TLS probe, with all that the
// agent does for it, over that of the control's, at the same pace in the same
// windows.
func BenchmarkAgentTLS(b *testing.B) { costOfProbe(b, "tls") }

// BenchmarkAgentHTTPS is the same for a GET over TLS.
func BenchmarkAgentHTTPS(b *testing.B) { costOfProbe(b, "http") }

func costOfProbe(b *testing.B, prober string) {
	program := buildAgent(b)
	for b.Loop() {
		t := startTarget(b)
		load := agentLoad{group: "agent", prober: prober, targets: 1000, interval: 10 * time.Second}
		a := startAgent(program, t, load)
		load.group = "control"
		control := startControl(t, load)
		time.Sleep(load.interval + time.Second) // after it nothing is new to the agent
		compare(t, contender{"agent", a.process}, contender{"control", control})
		a.checkHealth()
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAgentGrowth is the CPU time of a probe with 5,000 targets over that
// with 100, at the same pace in the same windows.
func BenchmarkAgentGrowth(b *testing.B) {
	program := buildAgent(b)
	for b.Loop() {
		t := startTarget(b)
		few := startAgent(program, t, agentLoad{group: "few", prober: "http", targets: 100, interval: 800 * time.Millisecond})
		many := startAgent(program, t, agentLoad{group: "many", prober: "http", targets: 5000, interval: 40 * time.Second})
		time.Sleep(many.interval + time.Second)
		compare(t, contender{"many", many.process}, contender{"few", few.process})
		many.checkHealth()
	}
	b.ReportMetric(0, "ns/op")
}

// A contender is a process whose probes the target knows by their group.
type contender struct {
	group string
	*process
}

// compare reports the CPU time of a probe of one over that of the other: the
// median of the windows.
func compare(t *targetProcess, one, other contender) {
	var ratios, costs, otherCosts []float64
	t.arrivals()
	for range windows {
		before, otherBefore := one.cpu(), other.cpu()
		time.Sleep(window)
		spent, otherSpent := one.cpu()-before, other.cpu()-otherBefore
		arrived := t.arrivals()
		cost := perProbe(t.b, spent, of(arrived, one.group))
		otherCost := perProbe(t.b, otherSpent, of(arrived, other.group))
		ratios = append(ratios, cost/otherCost)
		costs, otherCosts = append(costs, cost), append(otherCosts, otherCost)
	}
	t.b.ReportMetric(median(ratios), "cpu/"+other.group)
	t.b.ReportMetric(slices.Min(ratios), "min")
	t.b.ReportMetric(slices.Max(ratios), "max")
	t.b.ReportMetric(median(costs), one.group+"-us/probe")
	t.b.ReportMetric(median(otherCosts), other.group+"-us/probe")
}

func perProbe(b *testing.B, spent time.Duration, arrived []arrival) float64 {
	if len(arrived) == 0 {
		b.Fatal("no probe in a window")
	}
	return float64(spent.Nanoseconds()) / 1000 / float64(len(arrived))
}
