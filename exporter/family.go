package exporter

import (
	"bytes"
	"io"
	"runtime"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// familyPart is how many series are built before they are encoded, in formats
// that can be written in parts.
const familyPart = 512

// A family builds metric families one after another and encodes them, in objects
// that it uses again: a scrape holds a few hundred series, however many it
// writes. In protobuf a family is one message and has to be held whole.
type family struct {
	encoder expfmt.Encoder
	head    *headDropper // nil: the format cannot be written in parts
	err     error        // the first of the encoder's

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

// writeTo makes f write to w in this format.
func (f *family) writeTo(w io.Writer, format expfmt.Format) {
	f.err, f.head = nil, nil
	if t := format.FormatType(); t == expfmt.TypeTextPlain || t == expfmt.TypeOpenMetrics {
		f.head = &headDropper{w: w}
		w = f.head
	}
	f.encoder = expfmt.NewEncoder(w, format)
}

// begin starts the family of m.
func (f *family) begin(m metric) {
	f.metric, f.used = m, 0
	f.dto.Name, f.dto.Help, f.dto.Type = &f.metric.name, &f.metric.help, &f.metric.kind
	f.dto.Metric = f.dto.Metric[:0]
}

// end writes what is left of the family. One without series is not written.
func (f *family) end() {
	f.flush()
	if f.head != nil {
		f.head.dropping = false
	}
}

func (f *family) flush() {
	if f.used == 0 || f.err != nil {
		return
	}
	f.err = f.encoder.Encode(&f.dto)
	f.used, f.dto.Metric = 0, f.dto.Metric[:0]
	if f.head != nil {
		f.head.dropping = true
	}
	runtime.Gosched() // the agent has one processor, and probes under way measure time
}

// write writes a family that was built elsewhere.
func (f *family) write(whole *dto.MetricFamily) {
	if f.err == nil {
		f.err = f.encoder.Encode(whole)
	}
}

// close ends the answer and returns the first error there was.
func (f *family) close() error {
	if f.err != nil {
		return f.err
	}
	return f.encoder.(expfmt.Closer).Close()
}

// add adds a series with the labels that the table names.
func (f *family) add(value float64, labelValues ...string) {
	f.addLabelled(value, f.metric.labels, labelValues)
}

// addLabelled adds a series with labels of its own.
func (f *family) addLabelled(value float64, names, values []string) {
	if f.used == familyPart && f.head != nil {
		f.flush()
	}
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

// A headDropper passes on what is written, but while it is dropping not the HELP
// and TYPE lines in front: the encoder begins each part of a family with them.
type headDropper struct {
	w        io.Writer
	dropping bool // at the beginning of a line that may be of the head
	within   bool // in a line of the head that goes on in the next Write
}

// Write implements [io.Writer].
func (d *headDropper) Write(b []byte) (int, error) {
	all := len(b)
	for d.dropping && len(b) > 0 {
		if !d.within && b[0] != '#' {
			d.dropping = false
			break
		}
		end := bytes.IndexByte(b, '\n')
		d.within = end < 0
		if d.within {
			return all, nil
		}
		b = b[end+1:]
	}
	if len(b) > 0 {
		if _, err := d.w.Write(b); err != nil {
			return 0, err
		}
	}
	return all, nil
}
