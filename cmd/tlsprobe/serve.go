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

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	promslogflag "github.com/prometheus/common/promslog/flag"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"
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

// daemonFlags are what the command lines of all daemons have.
type daemonFlags struct {
	configFile string
	web        *web.FlagConfig
	log        promslog.Config
}

// addTo adds those about serving and logging to a command, which then is run until it
// is interrupted.
func (f *daemonFlags) addTo(cmd *kingpin.CmdClause, run func(context.Context) error) {
	f.log = promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	f.web = kingpinflag.AddFlags(cmd, ":9790")
	cmd.Flag(promslogflag.LevelFlagName, promslogflag.LevelFlagHelp).Default("info").SetValue(f.log.Level)
	cmd.Flag(promslogflag.FormatFlagName, promslogflag.FormatFlagHelp).Default("logfmt").SetValue(f.log.Format)
	cmd.Action(func(*kingpin.ParseContext) error {
		ctx, stop := interruptible()
		defer stop()
		return run(ctx)
	})
}

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
