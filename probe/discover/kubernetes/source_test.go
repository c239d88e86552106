package kubernetes

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A rebuild is a list that a source had to make.
type rebuild struct {
	at      time.Duration // since the source started
	objects *objects
}

// A running source is one that watches an apiServer, in a bubble of time.
type running struct {
	*Source
	start    time.Time
	rebuilds []rebuild        // read them after a wait
	reports  []ResourceStatus // likewise
}

// run starts a source, and ends it with the test.
func run(t *testing.T, a *apiServer, c Config) *running {
	t.Helper()
	s, err := newSource(c, a.connection())
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Source: s, start: time.Now()}
	s.Report = func(status ResourceStatus) { r.reports = append(r.reports, status) }
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		err := s.run(ctx, func(o *objects) time.Time {
			r.rebuilds = append(r.rebuilds, rebuild{time.Since(r.start), o})
			return time.Time{}
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return r
}

// after lets time pass, and all work that comes with it be done.
func (r *running) after(d time.Duration) *running {
	time.Sleep(d)
	synctest.Wait()
	return r
}

func TestSourceReadsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.put(t, `{apiVersion: v1, kind: Node, metadata: {name: b}}`)
		a.put(t, `{apiVersion: v1, kind: Node, metadata: {name: a}}`)
		r := run(t, a, Config{}).after(0)
		if len(r.rebuilds) != 1 || r.rebuilds[0].at != 0 {
			t.Fatalf("lists made: %+v", r.rebuilds)
		}
		if nodes := r.rebuilds[0].objects.nodes; len(nodes) != 2 || nodes[0].Name != "a" {
			t.Errorf("nodes: %v", nodes)
		}
	})
}
