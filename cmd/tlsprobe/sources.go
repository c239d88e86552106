package main

import (
	"context"
	"log/slog"
	"sync"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/schedule"
)

// discover runs the sources of the newest configuration until ctx is done.
func (a *agent) discover(ctx context.Context) {
	stop, current := func() {}, &discover.Config{}
	defer func() { stop() }()
	shadowed := a.logShadowed()
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-a.changes:
			stop()
			next.Inherit(current)
			stop, current = a.start(ctx, next, shadowed), next
		}
	}
}

// start runs the sources of c and returns what stops them and waits for them.
func (a *agent) start(ctx context.Context, c *discover.Config, shadowed func(*probe.Target)) (stop func()) {
	report := func(s discover.SourceStatus) { logSource(a.log, s) }
	for _, source := range c.Sources {
		switch s := source.(type) {
		case *discover.HTTPSource:
			s.Node, s.Report = a.node, report
		case *discover.KubernetesSource:
			s.Node, s.Pace, s.Report, s.Resource = a.node, schedule.Pace, report, newWatchLog(a.log).note
		}
	}
	c.Shadowed = shadowed
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx, a.setTargets); err != nil {
			a.log.Error("The sources of targets gave up; the targets known stay", "err", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// sources returns how the sources of the configuration fare.
func (a *agent) sources() []exporter.Source {
	var out []exporter.Source
	for _, source := range a.config.Load().Sources {
		switch s := source.(type) {
		case *discover.HTTPSource:
			out = append(out, sourceOf(s.Status()))
		case *discover.KubernetesSource:
			out = append(out, kubernetesSource(s))
		}
	}
	return out
}

func sourceOf(s discover.SourceStatus) exporter.Source {
	return exporter.Source{Name: s.Source, Updated: s.LastSuccess, Targets: s.Targets, Err: s.Err}
}

func kubernetesSource(s *discover.KubernetesSource) exporter.Source {
	out, status := sourceOf(s.Status()), s.Resources()
	out.Rebuilds, out.RebuildTook = status.Rebuilds, status.Took
	for _, r := range status.Resources {
		out.Watches = append(out.Watches, exporter.Watch{
			Resource:  r.Resource,
			State:     string(r.State),
			Err:       r.Err,
			Objects:   r.Objects,
			Events:    r.Events,
			LastEvent: r.LastEvent,
		})
	}
	return out
}

// logSource writes how a source fares: it is told of changes only.
func logSource(log *slog.Logger, s discover.SourceStatus) {
	attrs := []any{"name", s.Source, "targets", s.Targets}
	if s.Err == nil {
		log.Info("A source answers", attrs...)
		return
	}
	if s.LastSuccess.IsZero() {
		log.Warn("A source is in trouble; there is no list of its targets yet", append(attrs, "err", s.Err)...)
		return
	}
	log.Warn("A source is in trouble; what it sent last stays", append(attrs, "as_of", s.LastSuccess, "err", s.Err)...)
}

// logShadowed returns what writes of each target that is left out, once.
func (a *agent) logShadowed() func(*probe.Target) {
	told := map[string]bool{}
	return func(t *probe.Target) {
		if !told[t.Name] {
			told[t.Name] = true
			a.log.Warn("Two sources have a target of one name; the first one is probed", "target", t.Name, "left_out", t.Address)
		}
	}
}
