package exporter

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// metricsFormats are what /metrics speaks.
var metricsFormats = []expfmt.Format{
	expfmt.FmtProtoDelim, expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtText,
}

// A metricsPage serves /metrics: the families of the store, each built in the
// same memory and encoded before the next, merged with those of the registry. A
// prometheus.Registry would hold and sort every series of every scrape.
type metricsPage struct {
	store  *Store
	meters *meters
	node   string
	log    *slog.Logger

	scrapes sync.Pool // of *scrape
}

// A scrape is the memory of one scrape.
type scrape struct {
	snap   snapshot
	family family
}

// ServeHTTP implements [http.Handler].
func (p *metricsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	own, err := p.meters.registry.Gather()
	if err != nil {
		p.log.Error("some of the agent's own metrics cannot be gathered", "err", err)
	}
	format := expfmt.NegotiateAccept(r.Header, metricsFormats...)
	w.Header().Set("Content-Type", string(format))
	w.Header().Set("Vary", "Accept, Accept-Encoding")
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(compressed)
		compressed.Reset(w)
		err = p.write(compressed, format, own)
		if err == nil {
			err = compressed.Close()
		}
	} else {
		err = p.write(w, format, own)
	}
	if err != nil && r.Context().Err() == nil {
		p.log.Warn("a scrape was not answered in full", "err", err)
	}
}

// write encodes the store's families and own, both in order of their names.
func (p *metricsPage) write(w io.Writer, format expfmt.Format, own []*dto.MetricFamily) error {
	s, _ := p.scrapes.Get().(*scrape)
	if s == nil {
		s = &scrape{}
	}
	defer p.scrapes.Put(s)
	p.store.snapshot(&s.snap)
	s.snap.node = p.node
	f := &s.family
	f.writeTo(w, format)
	for _, m := range metricTable {
		if m.fill == nil {
			continue
		}
		for len(own) > 0 && own[0].GetName() < m.name {
			f.write(own[0])
			own = own[1:]
		}
		f.begin(m)
		m.fill(f, &s.snap)
		f.end()
	}
	for _, whole := range own {
		f.write(whole)
	}
	return f.close()
}

// gzipWriters compress at level 1: the higher ones cost twice the time, for an
// answer that crosses a cluster's network.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// acceptsGzip reports whether the request's Accept-Encoding asks for gzip (RFC
// 9110, Section 12.5.3).
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, weighted := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if name == "gzip" {
			q, err := strconv.ParseFloat(weight, 64)
			return !weighted || err == nil && q > 0
		}
	}
	return false
}
