package discover_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// A running source, and what it tells.
type running struct {
	source  *discover.HTTPSource
	lists   chan []string // the names of the targets of each list
	reports chan discover.SourceStatus
}

// start runs the one source of a configuration for the duration of the test.
func start(t *testing.T, yaml string) running {
	t.Helper()
	c := parse(t, yaml)
	r := running{
		source:  c.Sources[0].(*discover.HTTPSource),
		lists:   make(chan []string, 1000),
		reports: make(chan discover.SourceStatus, 1000),
	}
	r.source.Report = func(s discover.SourceStatus) { r.reports <- s }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- r.source.Run(ctx, func(list []*probe.Target) { r.lists <- names(list) })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the source ends with %v", err)
		}
	})
	return r
}

func names(list []*probe.Target) []string {
	out := []string{}
	for _, target := range list {
		out = append(out, target.Name)
	}
	return out
}

// next waits for a value of a channel.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

func source(url, more string) string {
	return fmt.Sprintf("sources: [{http: {url: %q, refresh: 10ms%s}}]", url, more)
}

// A lister answers each request by the next of its answers, the last for ever.
type lister struct {
	answers []http.HandlerFunc
	count   atomic.Int32
}

func (l *lister) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := min(int(l.count.Add(1)), len(l.answers))
	l.answers[n-1](w, r)
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func TestHTTPSource(t *testing.T) {
	server := httptest.NewServer(&lister{answers: []http.HandlerFunc{
		body(`[{"name": "a", "address": "a:1", "labels": {"team": "\u00e9\/\ud83d\ude00"}}]`),
		body(`[{"address": "b:1"}, {"address": "https://c/"}]`),
		body(`[]`),
	}})
	defer server.Close()
	r := start(t, source(server.URL, ""))
	for _, want := range [][]string{{"a"}, {"b:1", "https://c/"}, {}} {
		if diff := cmp.Diff(want, next(t, r.lists)); diff != "" {
			t.Fatalf("targets differ (-want +got):\n%s", diff)
		}
	}
	status := r.source.Status()
	if status.Err != nil || status.Source != server.URL || status.LastSuccess.IsZero() {
		t.Errorf("status %+v", status)
	}
}

func TestHTTPSourceKeepsTheLastList(t *testing.T) {
	long := strings.Repeat(" ", 33<<20)
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // the error, with URL for the source's
	}{
		{"server error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
			"URL answers 502 Bad Gateway"},
		{"no JSON", body("- address: b:1"), "the list at URL: invalid character ' ' in numeric literal"},
		{"a page", body("<html>"), "URL answers with a page, and no list; that of a hub is at /targets"},
		{"cut off", body(`[{"address": "b:1"}`), "the list at URL: unexpected EOF"},
		{"empty", body(""), "the list at URL: unexpected EOF"},
		{"two values", body("[] []"), "the list at URL: more follows after the JSON value"},
		{"no list", body(`"targets"`), `the list at URL is one value ("targets"); it must be a list of targets`},
		{"another object", body(`{"error": "not found", "targets": {}}`), "the list at URL: it has no list of targets in it"},
		{"deep", body(strings.Repeat("[", 1000)), "the list at URL: nested more than 16 deep"},
		{"endless", body(long), "the list at URL is longer than 33554432 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&lister{answers: []http.HandlerFunc{body(`[{"address": "a:1"}]`), test.answer}})
			defer server.Close()
			r := start(t, source(server.URL, ""))
			next(t, r.lists)
			if status := next(t, r.reports); status.Err != nil {
				t.Fatalf("first %v", status.Err)
			}
			status := next(t, r.reports)
			if got := strings.ReplaceAll(status.Err.Error(), server.URL, "URL"); got != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
			if status.Targets != 1 || status.LastSuccess.IsZero() || len(r.lists) > 0 {
				t.Errorf("status %+v and %d more lists: the last good one is lost", status, len(r.lists))
			}
		})
	}
}

func TestHTTPSourceReportsChangesOnly(t *testing.T) {
	fail := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	list := body(`[{"address": "a:1"}]`)
	requests := &lister{answers: []http.HandlerFunc{fail, fail, fail, list, list, fail, fail, list}}
	server := httptest.NewServer(requests)
	defer server.Close()
	r := start(t, source(server.URL, ""))
	for i, wantErr := range []bool{true, false, true, false} {
		if status := next(t, r.reports); (status.Err != nil) != wantErr {
			t.Fatalf("report %d is %v", i, status.Err)
		}
	}
	if n := int(requests.count.Load()); n < len(requests.answers) {
		t.Errorf("four reports after %d requests", n)
	}
}

func TestHTTPSourceLeavesOutBadEntries(t *testing.T) {
	server := httptest.NewServer(body(`[
		{"address": "a:1", "interval": 30},
		{"address": "b:1", "module": "m", "lables": {}},
		{"name": "c", "address": "c:1", "module": "m", "ca_file": "/ca.crt"},
		{"name": "c", "address": "d:1"},
		{"address": "e:1", "ca_file": "ca.crt"},
		{"address": "f:1", "timeout": "20s", "timeout": "21s"},
		{"address": "g:1", "<<": {"name": "h"}},
		7,
		{"address": "i:1"}]`))
	defer server.Close()
	r := start(t, "modules: {m: {prober: tls}}\n"+source(server.URL, ""))
	if diff := cmp.Diff([]string{"c", "i:1"}, next(t, r.lists)); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
	status := next(t, r.reports)
	const want = `URL: [0].interval: 30 has no unit; write 30s for seconds
URL: [1].lables: unknown key; did you mean "labels"?
URL: [3].name: "c" is the name of [2] already; give this target another name
URL: [4].ca_file: "ca.crt" is relative, and this list is in no folder; write an absolute path
URL: [5].timeout: is written twice; keep one
URL: [6]["<<"]: unknown key; write one of address, ca, ca_file, interval, labels, module, name, routes, server_name, system_roots, timeout
URL: [7]: is one value ("7"); write a mapping, key: value`
	if diff := cmp.Diff(want, strings.ReplaceAll(status.Err.Error(), server.URL, "URL")); diff != "" {
		t.Errorf("errors differ (-want +got):\n%s", diff)
	}
	if status.Targets != 2 {
		t.Errorf("%d targets, want 2", status.Targets)
	}
}

func TestHTTPSourceAsksByETag(t *testing.T) {
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("If-None-Match")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, `[{"address": "a:1"}, {}]`)
	}))
	defer server.Close()
	r := start(t, source(server.URL, ""))
	next(t, r.lists)
	for _, want := range []string{"", `"1"`, `"1"`} {
		if got := next(t, asked); got != want {
			t.Errorf("If-None-Match: %s, want %s", got, want)
		}
	}
	before := r.source.Status()
	if before.Targets != 1 || before.LastSuccess.IsZero() {
		t.Errorf("status %+v", before)
	}
	for range 2 { // the second begins when the first has been noted
		next(t, asked)
	}
	if status := r.source.Status(); !status.LastSuccess.After(before.LastSuccess) {
		t.Errorf("the list is no newer after an answer that it still is: %+v", status)
	}
	if len(r.lists) > 0 {
		t.Error("a list that has not changed was handed over again")
	}
	if err := r.source.Status().Err; err == nil {
		t.Error("the bad entry is forgotten though its list is in use")
	}
}

// A list is as old as who sends it says, and gets no older by an answer that does
// not know better.
func TestHTTPSourceIsAsOldAsItsAnswer(t *testing.T) {
	asked, ages := make(chan struct{}, 100), make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		w.Header().Set("Age", <-ages)
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, `[{"address": "a:1"}]`)
	}))
	defer server.Close()
	defer close(ages)
	r := start(t, source(server.URL, ""))
	next(t, asked)
	for _, test := range []struct {
		age  string
		want time.Duration
	}{
		{"600", 10 * time.Minute},  // the list
		{"3600", 10 * time.Minute}, // and then that it is the same
		{"60", time.Minute},
		{"soon", 0},
	} {
		ages <- test.age
		next(t, asked) // the answer before has been noted
		if age := time.Since(r.source.Status().LastSuccess); age < test.want || age > test.want+30*time.Second {
			t.Errorf("Age %s: the list is %s old, want %s", test.age, age, test.want)
		}
	}
}

// A hub is told whose list is wanted, unless the URL says it.
func TestHTTPSourceAsksForItsNode(t *testing.T) {
	asked := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.RawQuery }))
	defer server.Close()
	for path, want := range map[string]string{
		"/":                "node=node+a%26b",
		"/?x=y":            "node=node+a%26b&x=y",
		"/?node=other&b=c": "node=other&b=c",
		"/?node=":          "node=",
	} {
		c := parse(t, source(server.URL+path, ""))
		s := c.Sources[0].(*discover.HTTPSource)
		s.Node = "node a&b"
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx, func([]*probe.Target) {}) }()
		if got := next(t, asked); got != want {
			t.Errorf("%s is asked as ?%s, want ?%s", path, got, want)
		}
		cancel()
		next(t, done)
		for len(asked) > 0 {
			<-asked
		}
	}
}

func TestHTTPSourceUnpacks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			http.Error(w, "gzip only", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, `[{"address": "a:1"}]`)
		z.Close()
	}))
	defer server.Close()
	if got := next(t, start(t, source(server.URL, "")).lists); len(got) != 1 {
		t.Errorf("targets %q", got)
	}
}

func TestHTTPSourceTrustAndToken(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `[{"name": %q, "address": "a:1"}]`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	defer server.Close()
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	token := write("token", []byte("secret\n"))
	ca := write("ca.crt", []byte("not yet"))
	r := start(t, source(server.URL, fmt.Sprintf(", ca_file: %q, bearer_token_file: %q", ca, token)))
	want := fmt.Sprintf("the CA for %s: %q holds no certificate in PEM", server.URL, ca)
	if status := next(t, r.reports); status.Err == nil || status.Err.Error() != want {
		t.Errorf("error %v, want %s", status.Err, want)
	}
	write("ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if diff := cmp.Diff([]string{"secret"}, next(t, r.lists)); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}

func TestHTTPSourceRefusesDowngrade(t *testing.T) {
	plain := httptest.NewServer(body(`[{"address": "a:1"}]`))
	defer plain.Close()
	server := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, source(server.URL, fmt.Sprintf(", ca_file: %q", ca)))
	if status := next(t, r.reports); status.Err == nil || !strings.Contains(status.Err.Error(), "redirected from https to http") {
		t.Errorf("error %v", status.Err)
	}
}
