package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// TestStopMakesUpNoFailure stops an agent while it probes a server that never
// answers: the agent returns at once, and the store has no result.
func TestStopMakesUpNoFailure(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	a := newAgent(agentConfig{log: slog.New(slog.DiscardHandler), node: "n", concurrency: 1})
	a.apply(&discover.Config{Targets: []*probe.Target{{
		Name:     "silent",
		Address:  silent.Addr().String(),
		Module:   probe.BuiltinModules()["tls"],
		Schedule: probe.Schedule{Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond},
	}}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	returned := make(chan struct{})
	go func() {
		a.run(ctx)
		close(returned)
	}()

	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stop()
	select {
	case <-returned:
	case <-time.After(time.Second):
		t.Fatal("the agent still runs a second after it was stopped")
	}
	if view, known := a.store.View("silent"); !known || view.Result != nil {
		t.Errorf("known: %v, with the result %+v, want none", known, view.Result)
	}
}

// TestNewestIsTakenOver: who reloads does not wait for who takes it over.
func TestNewestIsTakenOver(t *testing.T) {
	n, last := newNewest(), &discover.Config{}
	n.put(&discover.Config{})
	n.put(last)
	if got := <-n; got != last || len(n) > 0 {
		t.Errorf("got %p and %d more, want %p alone", got, len(n), last)
	}
}

// TestReadiness: an agent is ready once it knows its targets, whatever they are
// like.
func TestReadiness(t *testing.T) {
	a := newAgent(agentConfig{log: slog.New(slog.DiscardHandler), node: "n", concurrency: 1})
	if a.ready() == nil {
		t.Error("ready before any target is known")
	}
	a.setTargets(nil)
	if err := a.ready(); err != nil {
		t.Errorf("not ready with targets known: %v", err)
	}
}
