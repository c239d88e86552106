package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Bounds of the agent's server, which exporter-toolkit leaves to us.
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
