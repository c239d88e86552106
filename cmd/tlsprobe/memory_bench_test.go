//go:build linux

package main

import (
	"testing"
	"time"
)

// BenchmarkAgentMemory is the resident memory of agents that probe HTTPS targets,
// each of which has a certificate of its own, and are scraped meanwhile: with
// 1,000 targets after as many probes and after ten times as many, and for each
// target more with 5,000. Each is the median of a few seconds, as it goes up and
// down with the garbage collector.
func BenchmarkAgentMemory(b *testing.B) {
	program := buildAgent(b)
	for b.Loop() {
		t := startTarget(b)
		few := startAgent(program, t, agentLoad{group: "few", prober: "http", targets: 1000, interval: 5 * time.Second})
		many := startAgent(program, t, agentLoad{group: "many", prober: "http", targets: 5000, interval: 50 * time.Second})
		var early float64
		for lap := range 10 {
			time.Sleep(few.interval)
			few.scrape()
			many.scrape()
			if lap == 0 {
				early, _ = settled(few, many)
			}
		}
		late, large := settled(few, many)
		b.ReportMetric(early/1024, "MiB/1000-targets")
		b.ReportMetric(late/early, "late/early")
		b.ReportMetric((large-late)/float64(many.targets-few.targets), "KiB/more-target")
		few.checkHealth()
		many.checkHealth()
	}
	b.ReportMetric(0, "ns/op")
}

// settled returns the resident memory of two agents over one interval of the
// first, in KiB.
func settled(one, other *agentProcess) (float64, float64) {
	var sizes, otherSizes []float64
	for range 25 {
		time.Sleep(one.interval / 25)
		sizes, otherSizes = append(sizes, one.resident()), append(otherSizes, other.resident())
	}
	return median(sizes), median(otherSizes)
}
