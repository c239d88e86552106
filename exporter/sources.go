package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// A Source is how a source of targets fares.
type Source struct {
	Name    string
	Updated time.Time // when its list was last known to be the newest; zero: there is none yet
	Targets int       // in the list in use
	Err     error     // why there is no newer list, or what is wrong with this one

	Watches     []Watch       // of a source that watches; the rest is zero for others
	Rebuilds    uint64        // how often it has made a list
	RebuildTook time.Duration // the last time
}

// A Watch is how the watch of one kind of object fares.
type Watch struct {
	Resource  string // "ingresses.networking.k8s.io"
	State     string // "synced", "absent", "forbidden"
	Err       error  // why it is not synced, nil if that is normal
	Objects   int
	Events    uint64
	LastEvent time.Time // zero: none yet
}

// A sourceCollector collects what [Source] tells, as it is when it is asked.
type sourceCollector struct {
	sources func() []Source
	descs   map[string]*prometheus.Desc // by name
}

func newSourceCollector(sources func() []Source) *sourceCollector {
	c := &sourceCollector{sources, map[string]*prometheus.Desc{}}
	for _, m := range sourceMetrics {
		c.descs[m.name] = prometheus.NewDesc(m.name, m.help, m.labels, nil)
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *sourceCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		descs <- desc
	}
}

// Collect implements [prometheus.Collector]. Of two sources of one name it tells
// of the first.
func (c *sourceCollector) Collect(metrics chan<- prometheus.Metric) {
	told := map[string]bool{}
	for _, s := range c.sources() {
		if told[s.Name] {
			continue
		}
		told[s.Name] = true
		add := func(name string, value float64, labels ...string) {
			kind := prometheus.GaugeValue
			if described(name).kind == dto.MetricType_COUNTER {
				kind = prometheus.CounterValue
			}
			metrics <- prometheus.MustNewConstMetric(c.descs[name], kind, value, append([]string{s.Name}, labels...)...)
		}
		s.collect(add)
	}
}

func (s *Source) collect(add func(name string, value float64, labels ...string)) {
	if !s.Updated.IsZero() {
		add("tlsprobe_source_last_update_timestamp_seconds", unix(s.Updated))
		add("tlsprobe_source_targets", float64(s.Targets))
	}
	for _, w := range s.Watches {
		add("tlsprobe_watch_state", 1, w.Resource, w.State)
		add("tlsprobe_watch_objects", float64(w.Objects), w.Resource)
		add("tlsprobe_watch_events_total", float64(w.Events), w.Resource)
		if !w.LastEvent.IsZero() {
			add("tlsprobe_watch_last_event_timestamp_seconds", unix(w.LastEvent), w.Resource)
		}
	}
	if len(s.Watches) > 0 {
		add("tlsprobe_source_rebuilds_total", float64(s.Rebuilds))
		add("tlsprobe_source_rebuild_duration_seconds", s.RebuildTook.Seconds())
	}
}

// sourceMetrics are the metrics of sources, which agents and hubs have.
var sourceMetrics = []metric{
	{"tlsprobe_source_last_update_timestamp_seconds", gauge, []string{"source"},
		"When the list of targets in use was last known to be the newest that the source has: how old it is shows here while a hub is away.", nil},
	{"tlsprobe_source_rebuild_duration_seconds", gauge, []string{"source"},
		"How long it took to make the list of targets the last time; of sources that watch.", nil},
	{"tlsprobe_source_rebuilds_total", counter, []string{"source"},
		"How often a list of targets was made because something had changed; of sources that watch.", nil},
	{"tlsprobe_source_targets", gauge, []string{"source"},
		"How many targets the list in use has.", nil},
	{"tlsprobe_watch_events_total", counter, []string{"source", "resource"},
		"Events about objects that were received.", nil},
	{"tlsprobe_watch_last_event_timestamp_seconds", gauge, []string{"source", "resource"},
		"When the last event was received; the API server sends one a minute even if nothing happens.", nil},
	{"tlsprobe_watch_objects", gauge, []string{"source", "resource"},
		"How many objects are known.", nil},
	{"tlsprobe_watch_state", gauge, []string{"source", "resource", "state"},
		"1 for the state that the watch of a resource is in: starting, synced, absent (the cluster has no such kind), forbidden or failing.", nil},
}
