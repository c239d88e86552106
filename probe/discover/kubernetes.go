package discover

import (
	"context"
	"slices"
	"sync"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/discover/kubernetes"
)

// A KubernetesSource makes targets of what a cluster's API shows. As a [Source]
// it hands out the list of one node; a hub takes those of all nodes from
// [KubernetesSource.Watch].
type KubernetesSource struct {
	Node string // whose list it hands out; set it before Run
	// Pace returns the interval at which each of nodes probes one target, so that
	// all together do not probe it more often than perSecond. Set it before Run.
	Pace func(base time.Duration, nodes int, perSecond float64) time.Duration
	// Report, if not nil, is called with the first status and whenever what is
	// wrong with the source as a whole has changed. Set it before Run.
	Report func(SourceStatus)
	// Resource, if not nil, is called with each resource whose state has changed,
	// never concurrently. Set it before Run.
	Resource func(kubernetes.ResourceStatus)

	config kubernetes.Config

	mu      sync.Mutex // protects what follows
	status  SourceStatus
	list    []*probe.Target    // in use
	built   bool               // the list is this source's own
	newest  time.Time          // when one of an older source was last known to be the newest
	watched *kubernetes.Source // nil before there is a way to the API
}

// KubernetesName is what a [SourceStatus] calls a Kubernetes source.
const KubernetesName = "kubernetes"

// Run implements [Source].
func (s *KubernetesSource) Run(ctx context.Context, set func([]*probe.Target)) error {
	return s.watch(ctx, func(_ *kubernetes.Cluster, list []*probe.Target) { set(list) })
}

// Watch calls changed with the targets of all nodes each time they may have
// changed, never concurrently; first when all of the cluster has been read that
// can be. It returns nil when ctx ends. Without a way to the API it looks for one
// again and again: a kubeconfig may be written after the agent starts.
func (s *KubernetesSource) Watch(ctx context.Context, changed func(*kubernetes.Cluster)) error {
	return s.watch(ctx, func(c *kubernetes.Cluster, _ []*probe.Target) { changed(c) })
}

// watch calls changed with the list of the source's own node as well.
func (s *KubernetesSource) watch(ctx context.Context, changed func(*kubernetes.Cluster, []*probe.Target)) error {
	config := s.config
	config.Pace = s.Pace
	for failures := 1; ; failures++ {
		watched, err := kubernetes.New(config)
		if err == nil {
			watched.Report = s.Resource
			s.mu.Lock()
			s.watched = watched
			s.mu.Unlock()
			return watched.Run(ctx, func(c *kubernetes.Cluster) {
				list := slices.Concat(c.Common, c.Own(s.Node))
				changed(c, list)
				s.note(list, nil)
			})
		}
		s.note(s.inherited(), err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(pause(failures, defaultRefresh))):
		}
	}
}

// note keeps the list in use and what is wrong, and reports it if that is news.
func (s *KubernetesSource) note(list []*probe.Target, err error) {
	s.mu.Lock()
	news := s.status.Source == "" || text(s.status.Err) != text(err)
	s.list, s.built = list, err == nil
	s.status = SourceStatus{Source: KubernetesName, Err: err}
	s.mu.Unlock()
	if news && s.Report != nil {
		s.Report(s.Status())
	}
}

// Status returns how the source fares now. It may be called at any time.
func (s *KubernetesSource) Status() SourceStatus {
	resources := s.Resources().Resources
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Source, status.LastSuccess, status.Targets = KubernetesName, s.newest, len(s.list)
	if s.built {
		status.LastSuccess = asNewAs(resources, s.newest)
	}
	return status
}

// asNewAs returns when the list that is made of the resources was last known to be
// the newest, no less than newest but for what can no longer be read: the list is
// as old as the oldest of that.
func asNewAs(resources []kubernetes.ResourceStatus, newest time.Time) time.Time {
	for _, r := range resources {
		if r.LastEvent.After(newest) {
			newest = r.LastEvent
		}
	}
	for _, r := range resources {
		lost := r.State == kubernetes.Failing || r.State == kubernetes.Forbidden
		if lost && !r.LastEvent.IsZero() && r.LastEvent.Before(newest) {
			newest = r.LastEvent
		}
	}
	return newest
}

// inherit takes over the list of an older source.
func (s *KubernetesSource) inherit(from *KubernetesSource) {
	list, newest := from.inherited(), from.Status().LastSuccess
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.newest = list, newest
}

func (s *KubernetesSource) inherited() []*probe.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// Resources returns how the watches of the source fare now.
func (s *KubernetesSource) Resources() kubernetes.Status {
	s.mu.Lock()
	watched := s.watched
	s.mu.Unlock()
	if watched == nil {
		return kubernetes.Status{}
	}
	return watched.Status()
}
