package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/common/version"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/schedule"
)

// An agent joins the parts: the sources of its configuration give targets to the
// store and the schedule, the schedule starts probes, their results go to the
// store, and each change of what is known of a target becomes a line of the log.
// The commands agent and lab run the same agent.
type agent struct {
	agentConfig
	store    *exporter.Store
	runner   *probe.Runner
	schedule *schedule.Scheduler
	handler  *exporter.Handler

	config   atomic.Pointer[discover.Config]
	changes  newest      // what run has not taken over yet
	known    atomic.Bool // targets have been set
	complete atomic.Bool // every source has sent its list once
}

// An agentConfig is what the agents of the two commands differ in.
type agentConfig struct {
	log         *slog.Logger
	node        string
	concurrency int
	reload      func() error        // loads the configuration anew; nil: there is no file
	probed      func(*probe.Result) // told of each result; may be nil
}

func newAgent(c agentConfig) *agent {
	a := &agent{
		agentConfig: c,
		store:       exporter.NewStore(nil),
		runner:      probe.NewRunner(c.node),
		changes:     newNewest(),
	}
	a.config.Store(&discover.Config{Modules: probe.BuiltinModules()})
	a.handler = exporter.New(exporter.Config{
		Store:   a.store,
		Runner:  a.runner,
		Modules: func() map[string]*probe.Module { return a.config.Load().Modules },
		Allow:   func() probe.AllowList { return a.config.Load().Allow },
		Sources: a.sources,
		Reload:  c.reload,
		Ready:   a.ready,
		Node:    c.node,
		Version: version.Version,
		Log:     c.log,
	})
	a.schedule = schedule.New(schedule.Config{
		Node:        c.node,
		Concurrency: c.concurrency,
		Run:         a.probe,
		Gone:        a.runner.Forget,
		Late:        a.handler.ObserveLateness,
	})
	return a
}

// apply makes c the configuration. What c says of targets takes effect while run
// runs.
func (a *agent) apply(c *discover.Config) {
	a.config.Store(c)
	a.changes.put(c)
}

// ready returns which list of targets has not come yet, or nil from when all have
// come once: a rollout stops where agents have nothing to probe. It never depends on
// what probes find.
func (a *agent) ready() error {
	if a.complete.Load() {
		return nil
	}
	if !a.known.Load() {
		return errors.New("no list of targets yet")
	}
	for _, s := range a.sources() {
		if s.Updated.IsZero() {
			return fmt.Errorf("no list of targets yet from %s", s.Name)
		}
	}
	a.complete.Store(true)
	return nil
}

// run probes until ctx is done, and returns when the last probe has returned.
func (a *agent) run(ctx context.Context) {
	var parts sync.WaitGroup
	parts.Go(func() { a.schedule.Run(ctx) })
	parts.Go(func() { a.discover(ctx) })
	parts.Wait()
}

// setTargets tells the store first: a result of a target that it does not know
// would be dropped.
func (a *agent) setTargets(targets []*probe.Target) {
	a.store.SetTargets(targets)
	a.schedule.Set(targets)
	a.known.Store(true)
}

func (a *agent) probe(ctx context.Context, t *probe.Target) {
	result := a.runner.Run(ctx, t)
	if result.Invalid != "" {
		a.log.Debug("A result says nothing and is dropped", "target", t.Name, "why", result.Invalid)
		return
	}
	if change, changed := a.store.Record(result); changed {
		a.logChange(change)
	}
	if a.probed != nil {
		a.probed(result)
	}
}
