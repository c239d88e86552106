package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/collectors/version"
)

// meters are the agent's metrics about itself, and those that a registry keeps
// better than the store: few series, counted as things happen.
type meters struct {
	lateness       prometheus.Histogram
	registry       *prometheus.Registry
	phaseDurations *prometheus.HistogramVec
}

// newMeters registers all in reg, or in a registry of its own.
func newMeters(reg *prometheus.Registry, phases *prometheus.HistogramVec, sources func() []Source, loaded reloads) *meters {
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	m := &meters{
		lateness:       prometheus.NewHistogram(nativeHistogram("tlsprobe_scheduler_lateness_seconds", .001, .01, .1, 1)),
		registry:       reg,
		phaseDurations: phases,
	}
	reg.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		version.NewCollector("tlsprobe"),
		m.lateness, loaded.good, loaded.time, m.phaseDurations,
		newSourceCollector(sources),
	)
	return m
}

// nativeHistogram gives a histogram of the table both forms: native buckets 10%
// apart for those who scrape protobuf, and a few classic ones for the rest.
func nativeHistogram(name string, classic ...float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name:                            name,
		Help:                            described(name).help,
		Buckets:                         classic,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: time.Hour,
	}
}

func gaugeOpts(name string) prometheus.GaugeOpts {
	return prometheus.GaugeOpts{Name: name, Help: described(name).help}
}

func newPhaseHistogram() *prometheus.HistogramVec {
	const name = "tlsprobe_phase_duration_seconds"
	return prometheus.NewHistogramVec(nativeHistogram(name, .005, .05, .5, 5), described(name).labels)
}

// ObserveLateness notes how long after its time a scheduled run started.
func (h *Handler) ObserveLateness(late time.Duration) { h.meters.lateness.Observe(late.Seconds()) }
