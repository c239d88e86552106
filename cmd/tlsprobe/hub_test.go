package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/discover/kubernetes"
)

// clusterOf returns a cluster in which there is nothing but these names to reach.
func clusterOf(names ...string) *kubernetes.Cluster {
	c := &kubernetes.Cluster{Nodes: 1}
	for _, name := range names {
		c.Common = append(c.Common, &probe.Target{
			Name:     name,
			Address:  "127.0.0.1:1",
			Module:   probe.BuiltinModules()["tls"],
			Schedule: probe.Schedule{Interval: time.Minute, Timeout: time.Second},
		})
	}
	return c
}

// TestAgentFollowsHub: an agent has what its hub hands out, and keeps it, of known
// age, while the hub is away or has not read its cluster again.
func TestAgentFollowsHub(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	h := newHub(log, nil)
	var serving atomic.Pointer[hub]
	serving.Store(h)
	asked := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serving.Load().handler.ServeHTTP(w, r)
		asked <- r.URL.RawQuery
	}))
	defer server.Close()

	a := newAgent(agentConfig{log: log, node: "node-a", concurrency: 1})
	load := func() {
		t.Helper()
		config, err := discover.Parse("c.yaml", fmt.Appendf(nil, "sources: [{http: {url: %q, refresh: 20ms}}]", server.URL+"/targets"))
		if err != nil {
			t.Fatal(err)
		}
		a.apply(config)
	}
	load()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		a.run(ctx)
		close(done)
	}()
	defer func() { stop(); <-done }()

	// next waits until a whole request has come and gone.
	next := func() {
		t.Helper()
		for len(asked) > 0 {
			<-asked
		}
		for range 3 {
			select {
			case query := <-asked:
				if query != "node=node-a" {
					t.Fatalf("asked for %q", query)
				}
			case <-time.After(patience):
				t.Fatal("the agent does not ask")
			}
		}
	}
	expect := func(when string, failing bool, names ...string) {
		t.Helper()
		var got []string
		for _, v := range a.store.Views() {
			got = append(got, v.Target.Name)
		}
		if strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("%s: targets %q, want %q", when, got, names)
		}
		if s := a.sources()[0]; (s.Err != nil) != failing || s.Targets != len(names) || s.Updated.IsZero() != (len(names) == 0) {
			t.Errorf("%s: source %+v", when, s)
		}
	}
	next()
	expect("before the hub has read its cluster", true)
	if err := a.ready(); err == nil || !strings.Contains(err.Error(), "/targets") {
		t.Errorf("without a list the agent is not ready because of %v", err)
	}
	h.publish(clusterOf("webhook/a/b", "webhook/a/c"))
	next()
	expect("with a list", false, "webhook/a/b", "webhook/a/c")
	if err := a.ready(); err != nil {
		t.Errorf("not ready with a list: %v", err)
	}
	h.publish(clusterOf("webhook/a/c", "webhook/a/d"))
	next()
	expect("with a newer one", false, "webhook/a/c", "webhook/a/d")

	last := a.sources()[0].Updated
	next()
	if now := a.sources()[0].Updated; !now.After(last) {
		t.Error("the list grows old although the hub says that it is the newest")
	}
	serving.Store(newHub(log, nil))
	next()
	expect("after a restart of the hub", true, "webhook/a/c", "webhook/a/d")
	if err := a.ready(); err != nil {
		t.Errorf("not ready with an old list: %v", err)
	}
	if s := a.sources()[0]; !strings.Contains(s.Err.Error(), "503") {
		t.Errorf("source %+v", s)
	}
	load()
	next()
	expect("after a reload meanwhile", true, "webhook/a/c", "webhook/a/d")
}

// TestHubReloadKeepsTheAge: what a hub hands out while a new configuration has no way
// to the API is as old as it is, and neither new nor of unknown age.
func TestHubReloadKeepsTheAge(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/api/v1/nodes" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
			return
		}
		fmt.Fprint(w, `{"type": "BOOKMARK", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "1",
			"annotations": {"k8s.io/initial-events-end": "true"}}}}`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer api.Close()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	kubeconfig := fmt.Sprintf(`{current-context: c, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}]}`, api.URL)
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	parse := func() *discover.Config {
		c, err := discover.ParseHub("c.yaml", fmt.Appendf(nil, "sources: [{kubernetes: {kubeconfig: %q}}]", file))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	h := newHub(slog.New(slog.DiscardHandler), nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		h.run(ctx)
		close(done)
	}()
	defer func() { stop(); <-done }()
	until := func(what string, holds func(exporter.Source) bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			sources := h.sources()
			switch {
			case len(sources) == 1 && holds(sources[0]):
				return
			case time.Now().After(deadline):
				t.Fatalf("%s: %+v", what, sources)
			}
		}
	}
	h.apply(parse())
	until("no list", func(s exporter.Source) bool { return !s.Updated.IsZero() })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.apply(parse())
	until("no trouble", func(s exporter.Source) bool { return s.Err != nil && !s.Updated.IsZero() })
}
