package main

import (
	"context"
	"sync"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
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
			a.forgetSources(current, next)
			next.Inherit(current)
			stop, current = a.start(ctx, next, shadowed), next
		}
	}
}

// start runs the sources of c and returns what stops them and waits for them.
func (a *agent) start(ctx context.Context, c *discover.Config, shadowed func(*probe.Target)) (stop func()) {
	for _, s := range httpSources(c) {
		s.Report = a.logSource
		s.Updated = func(s discover.SourceStatus) { a.handler.SourceUpdated(s.URL, s.Targets) }
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

// forgetSources drops the metrics of the sources that next no longer has.
func (a *agent) forgetSources(current, next *discover.Config) {
	kept := map[string]bool{}
	for _, s := range httpSources(next) {
		kept[s.Status().URL] = true
	}
	for _, s := range httpSources(current) {
		if url := s.Status().URL; !kept[url] {
			a.handler.SourceGone(url)
		}
	}
}

func httpSources(c *discover.Config) []*discover.HTTPSource {
	var out []*discover.HTTPSource
	for _, source := range c.Sources {
		if s, ok := source.(*discover.HTTPSource); ok {
			out = append(out, s)
		}
	}
	return out
}

// logSource writes how a source fares: it is told of changes only.
func (a *agent) logSource(s discover.SourceStatus) {
	if s.Err != nil {
		a.log.Warn("A source is in trouble; what it sent last stays", "url", s.URL, "targets", s.Targets, "err", s.Err)
		return
	}
	a.log.Info("A source answers", "url", s.URL, "targets", s.Targets)
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
