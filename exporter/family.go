package exporter

import (
	dto "github.com/prometheus/client_model/go"
)

// A family builds one metric family after another in objects that it uses again,
// so that a scrape holds at most one family and allocates for its largest only.
type family struct {
	dto    dto.MetricFamily
	metric metric
	all    []*series
	used   int
}

// series is one metric of a family with all that it points to.
type series struct {
	dto     dto.Metric
	gauge   dto.Gauge
	counter dto.Counter
	value   float64
	labels  []label
	pairs   []*dto.LabelPair
}

type label struct {
	pair        dto.LabelPair
	name, value string
}

// begin empties f for the series of m.
func (f *family) begin(m metric) {
	f.metric, f.used = m, 0
	f.dto.Name, f.dto.Help, f.dto.Type = &f.metric.name, &f.metric.help, &f.metric.kind
	f.dto.Metric = f.dto.Metric[:0]
}

// add adds a series with the labels that m names.
func (f *family) add(value float64, labelValues ...string) {
	f.addLabelled(value, f.metric.labels, labelValues)
}

// addLabelled adds a series with labels of its own.
func (f *family) addLabelled(value float64, names, values []string) {
	if f.used == len(f.all) {
		f.all = append(f.all, &series{})
	}
	s := f.all[f.used]
	f.used++
	s.value = value
	s.dto.Gauge, s.dto.Counter = nil, nil
	if f.metric.kind == counter {
		s.counter.Value = &s.value
		s.dto.Counter = &s.counter
	} else {
		s.gauge.Value = &s.value
		s.dto.Gauge = &s.gauge
	}
	s.setLabels(names, values)
	f.dto.Metric = append(f.dto.Metric, &s.dto)
}

func (s *series) setLabels(names, values []string) {
	if len(names) > len(s.labels) {
		s.labels = make([]label, len(names))
		s.pairs = make([]*dto.LabelPair, len(names))
		for i := range s.labels {
			l := &s.labels[i]
			l.pair.Name, l.pair.Value = &l.name, &l.value
			s.pairs[i] = &l.pair
		}
	}
	for i := range names {
		s.labels[i].name, s.labels[i].value = names[i], values[i]
	}
	s.dto.Label = s.pairs[:len(names)]
}
