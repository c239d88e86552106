package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// Bounds of a daemon's server, which exporter-toolkit leaves to us.
const (
	maxHeaderWait = 5 * time.Second
	maxRequest    = 10 * time.Second
	maxIdle       = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
	// maxAnswer is longer than the longest live probe with its experiments.
	maxAnswer = 5 * time.Minute
	// drainTime leaves room within the second that a stop may take.
	drainTime = 500 * time.Millisecond
)

// serve runs a daemon until ctx is done: its server, its work, and the reloading of
// its configuration. It returns when all of them have ended.
func serve(ctx context.Context, flags *web.FlagConfig, handler http.Handler, log *slog.Logger,
	work func(context.Context), reload func(context.Context, <-chan os.Signal)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hangup, stopHangups := hangups()
	defer stopHangups()
	server := newServer(ctx, handler, log)
	served := make(chan error, 1)
	go func() { served <- web.ListenAndServe(server, flags, log) }()
	var parts sync.WaitGroup
	parts.Go(func() { work(ctx) })
	parts.Go(func() { reload(ctx, hangup) })

	var err error
	select {
	case <-ctx.Done():
		log.Info("Stopping")
		drain(server)
		<-served
	case err = <-served:
		err = &exit{exitProblem, fmt.Errorf("serving: %w", err)}
	}
	cancel()
	parts.Wait()
	return err
}

// newServer returns a server whose requests end with ctx, so that a live probe
// does not hold up a stop.
func newServer(ctx context.Context, handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: maxHeaderWait,
		ReadTimeout:       maxRequest,
		WriteTimeout:      maxAnswer,
		IdleTimeout:       maxIdle,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// drain lets the requests under way end, then closes what is left.
func drain(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
}
