package exporter_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// clusterOf returns a listing whose head is this text; node-a has a kubelet.
func clusterOf(head string, common ...*probe.Target) exporter.Listing {
	return exporter.Listing{
		Nodes:  2,
		Common: common,
		Own: func(node string) []*probe.Target {
			if node != "node-a" {
				return nil
			}
			return []*probe.Target{{Name: "kubelet/node-a", Address: "10.0.0.1:10250", Module: &probe.Module{Name: "kubelet"}}}
		},
		Head: []byte(head),
		Tail: func(own []*probe.Target) ([]byte, error) {
			names := []string{}
			for _, t := range own {
				names = append(names, t.Name)
			}
			return json.Marshal(names)
		},
	}
}

func newHub() *exporter.Hub {
	return exporter.NewHub(exporter.HubConfig{Version: "0.1.0", Sources: func() []exporter.Source {
		return []exporter.Source{{Name: "kubernetes", Updated: time.Now(), Rebuilds: 1, Watches: []exporter.Watch{
			{Resource: "nodes", State: "synced", Objects: 2, Events: 7, LastEvent: time.Now()},
			{Resource: "ingresses.networking.k8s.io", State: "starting"},
			{Resource: "services", State: "failing", Err: errors.New("<refused>")},
			{Resource: "webhooks", State: "starting"},
			{Resource: "apiservices", State: "failing", Err: errors.New("<refused>")},
			{Resource: "gateways.gateway.networking.k8s.io", State: "absent"},
			{Resource: "challenges.acme.cert-manager.io", State: "forbidden", Err: errors.New("no right")},
		}}, {Name: "kubernetes", Updated: time.Now()}} // a second one of the name has no metrics
	}})
}

// Before the cluster has been read there is no list, and what is missing is said.
func TestHubNotReady(t *testing.T) {
	h := newHub()
	const missing = "waiting for ingresses.networking.k8s.io, webhooks; services, apiservices: <refused>\n"
	for _, path := range []string{"/targets", "/targets?node=node-a", "/sd", "/-/ready"} {
		answer := get(t, h, path)
		if text := body(t, answer); answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, missing) {
			t.Errorf("%s: status %d: %s", path, answer.StatusCode, text)
		}
	}
	if answer := get(t, h, "/-/healthy"); answer.StatusCode != http.StatusOK {
		t.Errorf("healthy: status %d", answer.StatusCode)
	}
	h.Publish(clusterOf("["))
	if answer := get(t, h, "/-/ready"); answer.StatusCode != http.StatusOK {
		t.Errorf("ready with a list: status %d", answer.StatusCode)
	}
}

// Each node gets what all have and what is its own, packed or not, as one stream.
func TestHubTargets(t *testing.T) {
	h := newHub()
	head := strings.Repeat("what every node has, ", 10000)
	h.Publish(clusterOf(head))
	for path, tail := range map[string]string{
		"/targets":             "[]",
		"/targets?node=":       "[]",
		"/targets?node=node-b": "[]",
		"/targets?node=node-a": `["kubelet/node-a"]`,
	} {
		plain := get(t, h, path)
		if text := body(t, plain); text != head+tail || plain.ContentLength != int64(len(text)) {
			t.Errorf("%s: %d bytes, ending %q; Content-Length %d", path, len(text), text[max(0, len(text)-30):], plain.ContentLength)
		}
		packed := get(t, h, path, "Accept-Encoding", "br, gzip;q=0.5")
		raw := body(t, packed)
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.ContentLength != int64(len(raw)) || len(raw) > len(head)/50 {
			t.Errorf("%s: %d bytes packed, headers %v", path, len(raw), packed.Header)
		}
		if text := unpackOne(t, raw); text != head+tail {
			t.Errorf("%s: unpacks to %d bytes", path, len(text))
		}
		if plain.Header.Get("ETag") != packed.Header.Get("ETag") || plain.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: headers %v, and packed %v", path, plain.Header, packed.Header)
		}
	}
	if answer := get(t, h, "/targets?node="+strings.Repeat("a", 254)); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a name that no node can have: status %d", answer.StatusCode)
	}
}

// unpackOne unpacks a single gzip member, after which nothing may follow: not every
// client reads more.
func unpackOne(t *testing.T, raw string) string {
	t.Helper()
	in := bytes.NewReader([]byte(raw))
	r, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false)
	text, err := io.ReadAll(r)
	if err != nil || in.Len() > 0 {
		t.Errorf("unpacking: %v, with %d bytes left", err, in.Len())
	}
	return string(text)
}

// Hubs give the same list the same ETag, whatever their history, and other lists
// others.
func TestHubETag(t *testing.T) {
	one, two := newHub(), newHub()
	one.Publish(clusterOf("old"))
	etags := map[string]string{}
	for _, node := range []string{"node-a", "node-b"} {
		etags["old "+node] = get(t, one, "/targets?node="+node).Header.Get("ETag")
	}
	one.Publish(clusterOf("new"))
	two.Publish(clusterOf("new"))
	for _, node := range []string{"node-a", "node-b"} {
		etag := get(t, one, "/targets?node="+node).Header.Get("ETag")
		etags["new "+node] = etag
		if other := get(t, two, "/targets?node="+node).Header.Get("ETag"); other != etag {
			t.Errorf("%s: ETag %s, and from the other hub %s", node, etag, other)
		}
		for _, known := range []string{etag, `"x", ` + etag, strings.TrimPrefix(etag, "W/"), "*"} {
			answer := get(t, two, "/targets?node="+node, "If-None-Match", known, "Accept-Encoding", "gzip")
			if text := body(t, answer); answer.StatusCode != http.StatusNotModified || text != "" || answer.Header.Get("ETag") != etag {
				t.Errorf("%s, If-None-Match %s: status %d, %d bytes", node, known, answer.StatusCode, len(text))
			}
		}
		if answer := get(t, two, "/targets?node="+node, "If-None-Match", etags["old "+node]); answer.StatusCode != http.StatusOK {
			t.Errorf("%s with an old list: status %d", node, answer.StatusCode)
		}
	}
	if distinct := slices.Compact(slices.Sorted(maps.Values(etags))); len(distinct) != 4 || distinct[0] == "" {
		t.Errorf("ETags %v", etags)
	}
}

// A hub that cannot read its cluster any more says how old its list is, and so does
// one that has not read it since a reload.
func TestHubSaysHowOldItsListIs(t *testing.T) {
	var updated time.Time
	h := exporter.NewHub(exporter.HubConfig{Sources: func() []exporter.Source {
		return []exporter.Source{{Name: "kubernetes", Updated: updated}}
	}})
	h.Publish(clusterOf("["))
	for _, test := range []struct {
		updated time.Time
		want    int
	}{
		{time.Now(), 0},
		{time.Now().Add(-time.Hour), 3600},
		{time.Now().Add(time.Hour), 0}, // a clock was set
		{time.Time{}, 0},               // since it was published
	} {
		updated = test.updated
		for _, known := range []string{"", "*"} {
			age, err := strconv.Atoi(get(t, h, "/targets", "If-None-Match", known).Header.Get("Age"))
			if err != nil || age < test.want || age > test.want+30 {
				t.Errorf("updated %s, If-None-Match %q: Age %d (%v), want %d", test.updated, known, age, err, test.want)
			}
		}
	}
}

func TestHubServiceDiscovery(t *testing.T) {
	h := newHub()
	h.Publish(clusterOf("["))
	if answer := get(t, h, "/sd"); answer.StatusCode != http.StatusOK || strings.TrimSpace(body(t, answer)) != "[]" {
		t.Errorf("without targets: status %d", answer.StatusCode)
	}
	h.Publish(clusterOf("[", kong))
	answer := get(t, h, "/sd?node=node-a")
	if got := answer.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	var got any
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"targets": []any{"kong-validation"}, "labels": map[string]any{
			"__meta_tlsprobe_kind":        "kong-validation",
			"__meta_tlsprobe_address":     kong.Address,
			"__meta_tlsprobe_module":      kong.Module.Name,
			"__meta_tlsprobe_server_name": kong.ServerName,
			"__meta_tlsprobe_label_team":  "edge",
		}},
		map[string]any{"targets": []any{"kubelet/node-a"}, "labels": map[string]any{
			"__meta_tlsprobe_kind":        "kubelet",
			"__meta_tlsprobe_address":     "10.0.0.1:10250",
			"__meta_tlsprobe_module":      "kubelet",
			"__meta_tlsprobe_server_name": "",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHubMetrics(t *testing.T) {
	h := newHub()
	get(t, h, "/sd")
	h.ConfigLoaded(nil)
	h.Publish(clusterOf("[", &probe.Target{Name: "webhook/a/b"}, &probe.Target{Name: "webhook/a/c"}))
	get(t, h, "/targets")
	get(t, h, "/targets", "If-None-Match", "*")
	described := exporter.HubMetrics()
	for name, labels := range exporter.AgentMetrics() {
		if strings.HasPrefix(name, "tlsprobe_source_") || strings.HasPrefix(name, "tlsprobe_watch_") ||
			strings.HasPrefix(name, "tlsprobe_config_") || name == "tlsprobe_build_info" {
			described[name] = labels
		}
	}
	lint(t, h, described)
	want := map[string]string{
		`tlsprobe_hub_requests_total{code="503",path="/sd"}`:      "1",
		`tlsprobe_hub_requests_total{code="200",path="/targets"}`: "1",
		`tlsprobe_hub_requests_total{code="304",path="/targets"}`: "1",
	}
	if diff := cmp.Diff(want, scrape(t, h, "tlsprobe_hub_requests")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{`tlsprobe_hub_targets{kind="webhook"}`: "2"}, scrape(t, h, "tlsprobe_hub_targets")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const heard = `tlsprobe_watch_last_event_timestamp_seconds{resource="nodes",source="kubernetes"}`
	if got := scrape(t, h, "tlsprobe_watch_last_event"); len(got) != 1 || got[heard] == "" {
		t.Errorf("resources of which nothing was heard have a time: %v", got)
	}
	const state = `tlsprobe_watch_state{resource="challenges.acme.cert-manager.io",source="kubernetes",state="forbidden"}`
	if got := scrape(t, h, "tlsprobe_watch_state")[state]; got != "1" {
		t.Errorf("%s is %q", state, got)
	}
}

func TestHubPage(t *testing.T) {
	h := newHub()
	if text := body(t, get(t, h, "/")); !strings.Contains(text, "not ready") || !strings.Contains(text, "&lt;refused&gt;") {
		t.Errorf("page:\n%s", text)
	}
	h.Publish(clusterOf("[", &probe.Target{Name: "webhook/a/b"}))
	text := body(t, get(t, h, "/"))
	for _, want := range []string{"2 nodes", "<td>webhook</td><td>1</td>", "no right", `href="sd"`, "0.1.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if answer := get(t, h, "/style.css"); answer.StatusCode != http.StatusOK {
		t.Errorf("style: status %d", answer.StatusCode)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/probe?target=a", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "/targets?node=NAME") {
		t.Errorf("/probe: status %d: %s", w.Code, w.Body)
	}
}
