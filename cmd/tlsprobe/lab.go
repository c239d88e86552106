package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/alecthomas/kingpin/v2"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/lab"
)

const labHelp = `It starts servers on loopback, each broken in one way of its own, and an agent that probes them: the five
incidents that tlsprobe exists for, by name, and a server for each reason that a probe can find. It prints what
the agent finds and what to do about it, and stays up for curl and Prometheus until Ctrl-C. No network and
no cluster are needed.

Examples:
  tlsprobe lab
  tlsprobe lab --once
  tlsprobe lab --web.listen-address=127.0.0.1:9790

Exit code: 0, or with --once 1 if a verdict is not the expected one; 2 wrong usage or trouble of our own.
`

// labFlags are the command line of tlsprobe lab.
type labFlags struct {
	once    bool
	address string
}

func addLab(app *kingpin.Application) {
	cmd := app.Command("lab", "Try it all on servers that misbehave on this machine.").HelpLong(labHelp)
	f := &labFlags{}
	cmd.Flag("once", "Exit when every server has been probed.").BoolVar(&f.once)
	cmd.Flag("web.listen-address", "Where the agent serves. Default: a free port of the loopback.").
		Default("127.0.0.1:0").StringVar(&f.address)
	cmd.Action(func(*kingpin.ParseContext) error {
		ctx, stop := interruptible()
		defer stop()
		return f.run(ctx, os.Stdout)
	})
}

// run plays the lab until ctx is done, or with --once until all is probed.
func (f *labFlags) run(ctx context.Context, w io.Writer) error {
	peers, err := lab.New()
	if err != nil {
		return err
	}
	defer peers.Close()
	scenarios := incidentsFirst(lab.Scenarios())
	targets, err := startAll(peers, scenarios)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		return fmt.Errorf("--web.listen-address=%s: %w", f.address, err)
	}
	fmt.Fprintf(w, "%s on loopback, each in its own trouble; probing all of them takes about %s.\n",
		plural(len(targets), "server"), targets[0].Interval)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := newFindings(len(targets))
	wait := serveLab(ctx, listener, targets, found)
	defer wait()
	defer cancel()
	select {
	case <-ctx.Done():
		return errors.New("interrupted before every server had been probed")
	case <-found.complete:
	}
	unexpected := writeLab(w, scenarios, found.results, colored(w))
	fmt.Fprintf(w, "\ncurl '%s/probe?target=%s'\n", base(listener), scenarios[0].Name)
	if f.once {
		return unexpected
	}
	fmt.Fprintf(w, "curl %s/metrics\n%s in a browser; Ctrl-C ends the lab\n", base(listener), base(listener))
	<-ctx.Done()
	return nil
}

// incidentsFirst puts those that retell an incident before the others.
func incidentsFirst(scenarios []lab.Scenario) []lab.Scenario {
	rank := func(s lab.Scenario) int {
		if s.Incident != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(scenarios, func(a, b lab.Scenario) int { return rank(a) - rank(b) })
	return scenarios
}

func startAll(peers *lab.Lab, scenarios []lab.Scenario) ([]*probe.Target, error) {
	var targets []*probe.Target
	for _, s := range scenarios {
		instance, err := peers.Start(s)
		if err != nil {
			return nil, err
		}
		targets = append(targets, instance.Target)
	}
	return targets, nil
}

// serveLab runs an agent for targets, as the command agent does, until ctx is
// done; wait returns when it has ended.
func serveLab(ctx context.Context, listener net.Listener, targets []*probe.Target, found *findings) (wait func()) {
	log := slog.New(slog.DiscardHandler)
	a := newAgent(agentConfig{log: log, node: "lab", concurrency: len(targets), probed: found.add})
	a.apply(&discover.Config{Modules: probe.BuiltinModules(), Targets: targets})
	server := newServer(ctx, a.handler, log)
	var parts sync.WaitGroup
	parts.Go(func() { a.run(ctx) })
	parts.Go(func() { server.Serve(listener) })
	parts.Go(func() {
		<-ctx.Done()
		drain(server)
	})
	return parts.Wait
}

// base returns the URL of what is served by listener.
func base(listener net.Listener) string {
	addr := listener.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	if addr.IP.IsLoopback() || addr.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// findings gathers the first result of each target.
type findings struct {
	complete chan struct{} // closed when all targets have one

	mu      sync.Mutex
	missing int
	results map[string]*probe.Result // read-only once complete
}

func newFindings(targets int) *findings {
	return &findings{complete: make(chan struct{}), missing: targets, results: map[string]*probe.Result{}}
}

func (f *findings) add(r *probe.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.missing == 0 || f.results[r.Target.Name] != nil {
		return
	}
	f.results[r.Target.Name] = r
	if f.missing--; f.missing == 0 {
		close(f.complete)
	}
}
