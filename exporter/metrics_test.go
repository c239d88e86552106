package exporter_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// get returns the answer of h to a GET with these headers.
func get(t *testing.T, h http.Handler, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scrape returns the series of /metrics whose names begin with prefix, by what
// stands before their value.
func scrape(t *testing.T, h http.Handler, prefix string) map[string]string {
	t.Helper()
	series := map[string]string{}
	for line := range strings.SplitSeq(body(t, get(t, h, "/metrics")), "\n") {
		if strings.HasPrefix(line, prefix) {
			i := strings.LastIndexByte(line, ' ')
			series[line[:i]] = line[i+1:]
		}
	}
	return series
}

func newHandler(store *exporter.Store) *exporter.Handler {
	return exporter.New(exporter.Config{Store: store, Runner: probe.NewRunner("node-a"), Node: "node-a", Version: "0.1.0"})
}

// withReasons makes r fail for reasons of the catalogue.
func withReasons(r *probe.Result, ids ...string) *probe.Result {
	for _, id := range ids {
		a := &r.Attempts[len(r.Attempts)-1]
		a.Problems = append(a.Problems, probe.Problem{Reason: probe.Lookup(id)})
	}
	return r
}

func TestMetricsFollowTheTarget(t *testing.T) {
	store := exporter.NewStore(nil)
	h := newHandler(store)
	problem := func(reason, phase, severity string) string {
		return `tlsprobe_problem{target="kong-validation",reason="` + reason + `",phase="` + phase + `",severity="` + severity + `"}`
	}
	expect := func(step, prefix string, want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, scrape(t, h, prefix)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}

	store.SetTargets([]*probe.Target{kong})
	expect("pending", "tlsprobe_success", map[string]string{})
	expect("pending", "tlsprobe_target_info", map[string]string{
		`tlsprobe_target_info{target="kong-validation",module="tls",address="kong-validation.kong.svc:443",team="edge"}`: "1"})

	store.Record(withReasons(resultTwoAddresses(), "cert_expired", "weak_crypto", "cert_expired"))
	expect("failing", "tlsprobe_success", map[string]string{`tlsprobe_success{target="kong-validation"}`: "0"})
	expect("failing", "tlsprobe_problem", map[string]string{
		problem("tcp_refused", "connect", "error"):  "1",
		problem("cert_expired", "verify", "error"):  "1",
		problem("weak_crypto", "verify", "warning"): "1",
	})

	store.Record(withReasons(resultOK(), "weak_crypto"))
	expect("only a warning", "tlsprobe_success", map[string]string{`tlsprobe_success{target="kong-validation"}`: "1"})
	expect("only a warning", "tlsprobe_problem", map[string]string{problem("weak_crypto", "verify", "warning"): "1"})

	store.Record(resultOK())
	expect("mended", "tlsprobe_problem", map[string]string{})
	expect("mended", "tlsprobe_runs_total", map[string]string{`tlsprobe_runs_total{target="kong-validation"}`: "3"})
	expect("mended", "tlsprobe_failures_total", map[string]string{`tlsprobe_failures_total{target="kong-validation"}`: "1"})
	expect("mended", "tlsprobe_last_run", map[string]string{`tlsprobe_last_run_timestamp_seconds{target="kong-validation"}`: "1.795226645e+09"})
	expect("mended", "tlsprobe_failures_by_reason_total{module=\"tls\",reason=\"cert_expired\"", map[string]string{
		`tlsprobe_failures_by_reason_total{module="tls",reason="cert_expired"}`: "1"})
	expect("mended", "tlsprobe_failures_by_reason_total{module=\"tls\",reason=\"eof\"", map[string]string{
		`tlsprobe_failures_by_reason_total{module="tls",reason="eof"}`: "0"})

	store.SetTargets([]*probe.Target{target("other", "other:443", "http")})
	for series := range scrape(t, h, "tlsprobe_") {
		if strings.Contains(series, "kong-validation") || strings.Contains(series, `module="tls"`) {
			t.Errorf("the target is gone, its series is not: %s", series)
		}
	}
}

func TestMetricsOfCertificates(t *testing.T) {
	store := exporter.NewStore(nil)
	h := newHandler(store)
	store.SetTargets([]*probe.Target{kong})
	r := result(kong, attempt("10.0.0.1:443"), attempt("10.0.0.2:443"))
	second := r.Attempts[1].TLS
	second.Chain[0].NotAfter = start.AddDate(0, 0, 1)
	second.Chain[0].NotBefore = start.AddDate(0, 0, -1)
	second.Group, second.ClientCert = 23, certificates()[0]
	store.Record(r)
	want := map[string]string{
		`tlsprobe_certificate_not_after_timestamp_seconds{target="kong-validation",position="0"}`:                              "1.795313045e+09",
		`tlsprobe_certificate_not_after_timestamp_seconds{target="kong-validation",position="1"}`:                              "1.921457045e+09",
		`tlsprobe_certificate_not_before_timestamp_seconds{target="kong-validation",position="0"}`:                             "1.795140245e+09",
		`tlsprobe_certificate_not_before_timestamp_seconds{target="kong-validation",position="1"}`:                             "1.763690645e+09",
		`tlsprobe_client_certificate_not_after_timestamp_seconds{target="kong-validation"}`:                                    "1.818813845e+09",
		`tlsprobe_tls_info{target="kong-validation",version="TLS 1.3",cipher="TLS_AES_128_GCM_SHA256",group="X25519MLKEM768"}`: "1",
		`tlsprobe_tls_info{target="kong-validation",version="TLS 1.3",cipher="TLS_AES_128_GCM_SHA256",group="P256"}`:           "1",
	}
	got := scrape(t, h, "tlsprobe_c")
	maps.DeleteFunc(got, func(series, _ string) bool { return strings.HasPrefix(series, "tlsprobe_config") })
	maps.Copy(got, scrape(t, h, "tlsprobe_tls_info"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetInfoLabels(t *testing.T) {
	labelled := target("a", "a:443", "tls")
	labelled.Labels = probe.LabelsOf(map[string]string{
		"namespace": "kong", "app.kubernetes.io/name": "web", "1st": "x", "target": "y", "a-b": "one", "a.b": "two", "__x": "z",
	})
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{labelled})
	want := map[string]string{
		`tlsprobe_target_info{target="a",module="tls",address="a:443",target_1st="x",target___x="z",a_b="one",app_kubernetes_io_name="web",target_namespace="kong",target_target="y"}`: "1",
	}
	if diff := cmp.Diff(want, scrape(t, newHandler(store), "tlsprobe_target_info")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// fullHandler serves a series of every metric.
func fullHandler() http.Handler {
	store := exporter.NewStore(nil)
	now := time.Now()
	h := exporter.New(exporter.Config{Store: store, Runner: probe.NewRunner("node-a"), Node: "node-a", Sources: func() []exporter.Source {
		return []exporter.Source{{Name: "kubernetes", Updated: now, Targets: 1, Rebuilds: 1, RebuildTook: time.Second,
			Watches: []exporter.Watch{{Resource: "nodes", State: "synced", Objects: 1, Events: 1, LastEvent: now}}}}
	}})
	store.SetTargets([]*probe.Target{kong})
	r := withReasons(resultOK(), "cert_expired")
	r.Attempts[0].TLS.ClientCert = certificates()[0]
	store.Record(r)
	h.ObserveLateness(1e6)
	h.ConfigLoaded(nil)
	return h
}

const (
	acceptPrometheus3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
	acceptNative      = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6," + acceptPrometheus3
	acceptBrowser     = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
)

func TestMetricsNegotiation(t *testing.T) {
	h := fullHandler()
	for _, test := range []struct {
		name, accept, contentType string
	}{
		{"curl", "*/*", "text/plain; version=0.0.4"},
		{"no Accept", "", "text/plain; version=0.0.4"},
		{"browser", acceptBrowser, "text/plain; version=0.0.4"},
		{"Prometheus 3", acceptPrometheus3, "application/openmetrics-text; version=1.0.0"},
		{"Prometheus 3 with native histograms", acceptNative, "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := get(t, h, "/metrics", "Accept", test.accept)
			if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, test.contentType) {
				t.Errorf("Content-Type %q", got)
			}
			text := body(t, answer)
			if strings.HasPrefix(test.contentType, "application/openmetrics-text") != strings.HasSuffix(text, "# EOF\n") {
				t.Error("# EOF belongs to OpenMetrics, and only there")
			}
			if strings.HasPrefix(test.contentType, "application/vnd") {
				checkProtobuf(t, strings.NewReader(text))
			}
		})
	}
}

func checkProtobuf(t *testing.T, r io.Reader) {
	t.Helper()
	decoder := expfmt.NewDecoder(r, expfmt.NewFormat(expfmt.TypeProtoDelim))
	var names []string
	native := false
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.GetName())
		if f.GetName() == "tlsprobe_phase_duration_seconds" {
			native = f.Metric[0].Histogram.Schema != nil
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("families are not in order: %q", names)
	}
	if !native {
		t.Error("tlsprobe_phase_duration_seconds has no native buckets")
	}
}

// TestMetricsOfManyTargets has families that are written in parts: each has one
// head, and every series is there once.
func TestMetricsOfManyTargets(t *testing.T) {
	const many = 1100
	store, targets := filled(many)
	record(store, targets)
	h := newHandler(store)
	for _, accept := range []string{"text/plain", acceptPrometheus3, acceptNative} {
		answer := get(t, h, "/metrics", "Accept", accept)
		if strings.Contains(answer.Header.Get("Content-Type"), "protobuf") {
			checkProtobuf(t, answer.Body)
			continue
		}
		heads := map[string]int{}
		series := map[string]bool{}
		for line := range strings.SplitSeq(body(t, answer), "\n") {
			if strings.HasPrefix(line, "#") {
				heads[line]++
			} else if strings.HasPrefix(line, "tlsprobe_certificate_not_after") {
				series[line] = true
			}
		}
		for head, n := range heads {
			if n > 1 {
				t.Errorf("%d times %q", n, head)
			}
		}
		if len(series) != 2*many || len(heads) < 2*len(exporter.AgentMetrics())-10 {
			t.Errorf("%d series of a family of %d, %d lines of heads", len(series), 2*many, len(heads))
		}
	}
}

func TestMetricsGzip(t *testing.T) {
	h := fullHandler()
	for _, test := range []struct {
		accept string
		want   bool
	}{
		{"gzip", true}, {"deflate, gzip;q=0.5", true}, {"", false}, {"gzip;q=0", false}, {"br", false},
	} {
		answer := get(t, h, "/metrics", "Accept-Encoding", test.accept)
		if compressed := answer.Header.Get("Content-Encoding") == "gzip"; compressed != test.want {
			t.Errorf("Accept-Encoding %q: compressed %t", test.accept, compressed)
			continue
		}
		if !test.want {
			continue
		}
		unpacked, err := gzip.NewReader(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unpacked)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\ntlsprobe_success{")) {
			t.Errorf("Accept-Encoding %q: the answer is not /metrics", test.accept)
		}
	}
}

// TestMetricsLint holds what an agent serves against promlint and the table.
func TestMetricsLint(t *testing.T) {
	lint(t, fullHandler(), exporter.AgentMetrics())
}

// lint holds what h serves at /metrics against promlint and what is described.
func lint(t *testing.T, h http.Handler, described map[string][]string) {
	t.Helper()
	text := body(t, get(t, h, "/metrics"))
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range families {
		if !strings.HasPrefix(name, "tlsprobe_") {
			continue
		}
		if _, ok := described[name]; !ok {
			t.Errorf("%s is served and not in the table", name)
		}
		for _, l := range f.Metric[0].Label {
			if !slices.Contains(described[name], l.GetName()) && name != "tlsprobe_target_info" {
				t.Errorf("%s has the label %s, which the table does not tell", name, l.GetName())
			}
		}
	}
	for name := range described {
		if families[name] == nil {
			t.Errorf("%s is in the table and not served", name)
		}
	}
}

func TestMetricsDocumented(t *testing.T) {
	goldenFile(t, "METRICS.md", exporter.MetricsTable())
}
