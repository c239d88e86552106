package main

import (
	"context"
	"log/slog"
	"sync"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/discover"
	"tlsprobe/probe/discover/kubernetes"
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
			s.Node, s.Pace, s.Report, s.Resource = a.node, schedule.Pace, report, logResource(a.log)
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

// logResource returns what writes how the watch of a resource fares: it is told of
// changes only. That one is forbidden or gone is said once, and so is its return.
func logResource(log *slog.Logger) func(kubernetes.ResourceStatus) {
	return func(r kubernetes.ResourceStatus) {
		attrs := []any{"resource", r.Resource}
		switch r.State {
		case kubernetes.Forbidden:
			log.Warn("A resource may not be read; all else is watched", append(attrs, "err", r.Err)...)
		case kubernetes.Failing:
			log.Warn("A resource cannot be read; what was read last stays", append(attrs, "objects", r.Objects, "err", r.Err)...)
		case kubernetes.Absent:
			log.Debug("The cluster has no such resource", attrs...)
		case kubernetes.Synced:
			level := slog.LevelDebug // the expected thing, at every start
			if r.Was == kubernetes.Forbidden || r.Was == kubernetes.Failing {
				level = slog.LevelInfo
			}
			log.Log(context.Background(), level, "A resource is read", append(attrs, "objects", r.Objects)...)
		}
	}
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
