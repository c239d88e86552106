package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// A scrapeCase is a request that is made to both.
type scrapeCase struct {
	name    string
	module  string // "": none is named
	target  string
	query   string // further parameters: "&debug=true"
	timeout string // of the scrape, in seconds; "": 5
	accept  string // "": text
	any     string // method; "": GET
}

func (c *scrapeCase) request(t *testing.T, base string) *http.Request {
	values := url.Values{}
	if c.module != "" {
		values.Set("module", c.module)
	}
	if c.target != "" {
		values.Set("target", c.target)
	}
	r, err := http.NewRequestWithContext(t.Context(), c.any, base+"/probe?"+values.Encode()+c.query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "5")
	if c.timeout != "" {
		r.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", c.timeout)
	}
	r.Header.Set("Accept", "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
	if c.accept != "" {
		r.Header.Set("Accept", c.accept)
	}
	return r
}

// A scraped is what a request got: its status, its media type, and either series
// or, where there are none, the text.
type scraped struct {
	status      int
	contentType string
	text        string
	series      map[string]series // by name and labels
}

type series struct {
	metric string
	kind   string
	value  float64
}

// longestScrape is more than the timeout of any request.
const longestScrape = 8 * time.Second

func (c *scrapeCase) scrape(t *testing.T, base string) scraped {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}, Timeout: longestScrape}
	answer, err := client.Do(c.request(t, base))
	if os.IsTimeout(err) {
		return scraped{text: "no answer"}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	s := scraped{status: answer.StatusCode, contentType: answer.Header.Get("Content-Type"), series: map[string]series{}}
	format := expfmt.ResponseFormat(answer.Header)
	if kind := format.FormatType(); kind == expfmt.TypeUnknown || kind == expfmt.TypeTextPlain && !strings.Contains(s.contentType, "version=") {
		s.text = string(body)
		return s
	}
	decoder := expfmt.NewDecoder(bytes.NewReader(body), format)
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			return s
		} else if err != nil {
			t.Fatalf("%s: %v\n%s", base, err, body)
		}
		s.add(&f)
	}
}

func (s *scraped) add(f *dto.MetricFamily) {
	for _, m := range f.Metric {
		labels := model.LabelSet{}
		for _, l := range m.Label {
			labels[model.LabelName(l.GetName())] = model.LabelValue(l.GetValue())
		}
		value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
		s.series[f.GetName()+labels.String()] = series{f.GetName(), f.GetType().String(), value}
	}
}

// A difference between the two answers to a request.
type difference struct {
	what string // a metric's name, or "status", "text", "content type"
	how  how
	text string // in full
}

// how two answers differ.
type how string

const (
	onlyHere    how = "only tlsprobe has it"
	onlyThere   how = "only blackbox_exporter has it"
	otherValue  how = "another value"
	otherLabels how = "other labels"
)

// differences compares what blackbox_exporter answered with what tlsprobe did.
func differences(there, here scraped) (found []difference) {
	note := func(what string, how how, format string, args ...any) {
		found = append(found, difference{what, how, fmt.Sprintf(format, args...)})
	}
	if there.status != here.status {
		note("status", otherValue, "status %d there, %d here: %s", there.status, here.status, here.text)
	}
	if there.contentType != here.contentType {
		note("content type", otherValue, "content type %q there, %q here", there.contentType, here.contentType)
	}
	if outline(there.text) != outline(here.text) {
		note("text", otherValue, "text %q there, %q here", there.text, here.text)
	}
	names := map[string]int{} // 1: there, 2: here, 3: both
	for _, s := range there.series {
		names[s.metric] |= 1
	}
	for _, s := range here.series {
		names[s.metric] |= 2
	}
	for _, id := range slices.Sorted(maps.Keys(there.series)) {
		compareSeries(note, id, there.series[id], here.series, names)
	}
	for _, id := range slices.Sorted(maps.Keys(here.series)) {
		s := here.series[id]
		if _, both := there.series[id]; both {
			continue
		}
		if names[s.metric] == 2 {
			note(s.metric, onlyHere, "only here: %s %v", id, s.value)
		} else {
			note(s.metric, otherLabels, "only here: %s %v", id, s.value)
		}
	}
	return found
}

// compareSeries holds a series of blackbox_exporter's against ours.
func compareSeries(note func(string, how, string, ...any), id string, there series, all map[string]series, names map[string]int) {
	here, both := all[id]
	switch {
	case !both && names[there.metric] == 1:
		note(there.metric, onlyThere, "only there: %s %v", id, there.value)
	case !both:
		note(there.metric, otherLabels, "only there: %s %v", id, there.value)
	case there.kind != here.kind:
		note(there.metric, otherValue, "%s is a %s there, a %s here", id, there.kind, here.kind)
	case there.value != here.value && !isTiming(there.metric):
		note(there.metric, otherValue, "%s is %v there, %v here", id, there.value, here.value)
	}
}

// isTiming reports whether a metric is how long something took, which no two runs
// agree on.
func isTiming(metric string) bool {
	return strings.HasSuffix(metric, "_duration_seconds") || metric == "probe_dns_lookup_time_seconds"
}

// outline is what two texts must have in common: of debug=true's blocks the
// headings.
func outline(text string) string {
	if !strings.HasPrefix(text, "Logs for the probe:") {
		return text
	}
	var headings []string
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, ":\n") && strings.Contains(line, " ") && !strings.HasPrefix(line, " ") {
			headings = append(headings, line)
		}
	}
	return strings.Join(headings, "")
}
