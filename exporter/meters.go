package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// nativeHistogram gives a histogram both forms: native buckets 10% apart for
// those who scrape protobuf, and a few classic ones for the rest.
func nativeHistogram(m metric, classic []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name:                            m.name,
		Help:                            m.help,
		Buckets:                         classic,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: time.Hour,
	}
}

func newPhaseHistogram() *prometheus.HistogramVec {
	m := described("tlsprobe_phase_duration_seconds")
	return prometheus.NewHistogramVec(nativeHistogram(m, []float64{.005, .05, .5, 5}), m.labels)
}
