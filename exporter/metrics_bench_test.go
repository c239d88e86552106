package exporter_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

const benchTargets = 5000

// filled is a store with n targets and a result of each. As with real ones, the
// chain's facts are shared and the rest is each result's own.
func filled(n int) (*exporter.Store, []*probe.Target) {
	var targets []*probe.Target
	for i := range n {
		targets = append(targets, target(fmt.Sprintf("service-%05d", i), fmt.Sprintf("service-%05d.ns.svc:443", i), "tls"))
	}
	store := exporter.NewStore(nil)
	store.SetTargets(targets)
	return store, targets
}

func record(store *exporter.Store, targets []*probe.Target) {
	chain := certificates()
	for _, t := range targets {
		a := attempt("10.0.0.1:443")
		a.TLS.Chain = chain
		store.Record(result(t, a))
	}
}

// sink answers an [http.ResponseWriter]'s calls and counts bytes.
type sink struct {
	header http.Header
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Write(b []byte) (int, error) {
	s.bytes += len(b)
	return len(b), nil
}

// constMetrics is what /metrics would be by client_golang's usual way: the same
// series as const metrics, through a Registry.
type constMetrics struct {
	store                                                          *exporter.Store
	success, duration, lastRun, runs, failures, after, before, tls *prometheus.Desc
}

func newConstMetrics(store *exporter.Store) *constMetrics {
	d := func(name string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, "help", append([]string{"target"}, labels...), nil)
	}
	return &constMetrics{
		store:    store,
		success:  d("tlsprobe_success"),
		duration: d("tlsprobe_duration_seconds"),
		lastRun:  d("tlsprobe_last_run_timestamp_seconds"),
		runs:     d("tlsprobe_runs_total"),
		failures: d("tlsprobe_failures_total"),
		after:    d("tlsprobe_certificate_not_after_timestamp_seconds", "position"),
		before:   d("tlsprobe_certificate_not_before_timestamp_seconds", "position"),
		tls:      d("tlsprobe_tls_info", "version", "cipher", "group"),
	}
}

func (c *constMetrics) Describe(chan<- *prometheus.Desc) {}

func (c *constMetrics) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	seconds := func(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
	for _, v := range c.store.Views() {
		name := v.Target.Name
		send(c.success, prometheus.GaugeValue, 1, name)
		send(c.duration, prometheus.GaugeValue, v.Result.Duration.Seconds(), name)
		send(c.lastRun, prometheus.GaugeValue, seconds(v.Result.Start), name)
		send(c.runs, prometheus.CounterValue, 1, name)
		send(c.failures, prometheus.CounterValue, 0, name)
		send(c.tls, prometheus.GaugeValue, 1, name, "TLS 1.3", "TLS_AES_128_GCM_SHA256", "X25519MLKEM768")
		info := prometheus.NewDesc("tlsprobe_target_info", "help", []string{"target", "module", "address", "team"}, nil)
		send(info, prometheus.GaugeValue, 1, name, v.Target.Module.Name, v.Target.Address, v.Target.Labels.Get("team"))
		for i, cert := range v.Result.Attempts[0].TLS.Chain {
			send(c.after, prometheus.GaugeValue, seconds(cert.NotAfter), name, strconv.Itoa(i))
			send(c.before, prometheus.GaugeValue, seconds(cert.NotBefore), name, strconv.Itoa(i))
		}
	}
}

// BenchmarkMetrics serves /metrics of 5,000 targets and, in turns, the same
// series through a Registry. The ratio is of their times in this run.
func BenchmarkMetrics(b *testing.B) {
	store, targets := filled(benchTargets)
	record(store, targets)
	ours := newHandler(store)
	registry := prometheus.NewRegistry()
	registry.MustRegister(newConstMetrics(store))
	control := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	for _, coding := range []string{"identity", "gzip"} {
		b.Run(coding, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Accept-Encoding", coding)
			var spent, controlSpent time.Duration
			var before, after runtime.MemStats
			var allocs uint64
			var w *sink
			for b.Loop() {
				w = &sink{header: http.Header{}}
				runtime.ReadMemStats(&before)
				began := time.Now()
				ours.ServeHTTP(w, r)
				spent += time.Since(began)
				runtime.ReadMemStats(&after)
				allocs += after.Mallocs - before.Mallocs
				began = time.Now()
				control.ServeHTTP(&sink{header: http.Header{}}, r)
				controlSpent += time.Since(began)
			}
			b.ReportMetric(float64(spent)/float64(controlSpent), "ratio")
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "ms/scrape")
			b.ReportMetric(float64(allocs)/float64(b.N), "allocs/scrape")
			b.ReportMetric(float64(w.bytes)/1e6, "MB/scrape")
		})
	}
}

// TestControlServesTheSame keeps the benchmark's control honest.
func TestControlServesTheSame(t *testing.T) {
	store, targets := filled(10)
	record(store, targets)
	registry := prometheus.NewRegistry()
	registry.MustRegister(newConstMetrics(store))
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	ours := body(t, get(t, newHandler(store), "/metrics"))
	perTarget := []byte(`target="service-0000`)
	if a, b := bytes.Count([]byte(ours), perTarget), bytes.Count(w.Body.Bytes(), perTarget); a != b {
		t.Errorf("%d series of ours, %d of the control", a, b)
	}
}

// TestMemoryPerTarget bounds what a target costs once it has a result, without
// the Target itself, which the schedule keeps anyhow.
func TestMemoryPerTarget(t *testing.T) {
	const limit = 1500
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	_, targets := filled(benchTargets)
	before := heap()
	store := exporter.NewStore(nil)
	store.SetTargets(targets)
	record(store, targets)
	per := (heap() - before) / benchTargets
	runtime.KeepAlive(store)
	runtime.KeepAlive(targets)
	t.Logf("%d bytes a target", per)
	if per > limit {
		t.Errorf("%d bytes a target, more than %d", per, limit)
	}
}

// BenchmarkRecord is what keeping a result costs.
func BenchmarkRecord(b *testing.B) {
	store, targets := filled(1)
	results := []*probe.Result{result(targets[0], attempt("10.0.0.1:443")), result(targets[0], attempt("10.0.0.1:443"))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		store.Record(results[i%2])
	}
}
