package kubernetes

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// debounce is how long changes are gathered before a new list is made.
	debounce = time.Second
	// patience is how long the first list waits for kinds that CRDs bring and that
	// cannot be read. One whose conversion webhook is broken cannot for as long as
	// it is, and that is when the other targets are needed most.
	patience = 30 * time.Second
)

// A Source watches a cluster.
type Source struct {
	// Report, if not nil, is called with each resource whose state has changed,
	// never concurrently. Set it before Run.
	Report func(ResourceStatus)

	config     Config
	connection *rest.Config
	watchers   []*watcher
	dirty      chan struct{} // holds one if a new list is due
	news       chan struct{} // holds one if the state of a resource has changed

	reporting sync.Mutex // held during Report

	mu     sync.Mutex // protects what follows
	status Status     // without the resources
	ca     string     // of the cluster, PEM
}

// New prepares to watch the cluster; it does not connect yet.
func New(c Config) (*Source, error) {
	connection, err := c.connection()
	if err != nil {
		return nil, err
	}
	return newSource(c, connection)
}

func newSource(c Config, connection *rest.Config) (*Source, error) {
	s := &Source{config: c, connection: connection, dirty: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	clients, err := newClients(connection)
	if err != nil {
		return nil, err
	}
	if s.ca, err = clusterCA(connection); err != nil {
		return nil, err
	}
	return s, s.watchAll(clients)
}

// Run calls changed with the targets of the cluster once all that may be read has
// been read, and after each change that makes a difference to targets: about a
// second after the first change of a burst, less often if making a list takes
// long, and never concurrently. It returns nil when ctx ends.
func (s *Source) Run(ctx context.Context, changed func(*Cluster)) error {
	return s.run(ctx, func(o *objects) time.Time {
		c := build(&s.config, o)
		changed(c)
		return c.Until
	})
}

// run calls rebuild with what is known of the cluster; it returns when the same
// objects mean something else, zero for never.
func (s *Source) run(ctx context.Context, rebuild func(*objects) time.Time) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	for _, w := range s.watchers {
		watching.Go(func() { w.run(ctx) })
	}
	if !s.settle(ctx) {
		return nil
	}
	for {
		s.forgetChanges()
		start := time.Now()
		until := rebuild(s.snapshot())
		took := time.Since(start)
		s.rebuilt(took)
		if !s.change(ctx, until) || !sleep(ctx, max(debounce, 10*took)) {
			return nil
		}
	}
}

// settle waits until there is enough for a first list, and reports whether ctx
// lasted as long.
func (s *Source) settle(ctx context.Context) bool {
	var enough <-chan time.Time
	for {
		missing, custom := 0, 0
		for _, w := range s.watchers {
			switch {
			case w.settled():
			case w.resource.custom:
				custom++
			default:
				missing++
			}
		}
		switch {
		case missing+custom == 0:
			return true
		case missing == 0 && enough == nil:
			enough = time.After(patience)
		}
		select {
		case <-ctx.Done():
			return false
		case <-enough:
			return true
		case <-s.news:
		}
	}
}

// change waits until something has changed or the time has come, and reports
// whether ctx lasted as long.
func (s *Source) change(ctx context.Context, until time.Time) bool {
	var due <-chan time.Time
	if !until.IsZero() {
		due = time.After(time.Until(until))
	}
	select {
	case <-ctx.Done():
		return false
	case <-due:
	case <-s.dirty:
	}
	return true
}

// changed says that a new list is due.
func (s *Source) changed() { wake(s.dirty) }

// wake puts one into the channel unless it is there.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *Source) forgetChanges() {
	select {
	case <-s.dirty:
	default:
	}
}

func (s *Source) report(status ResourceStatus) {
	wake(s.news)
	if s.Report == nil {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.Report(status)
}

func (s *Source) rebuilt(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Rebuilds++
	s.status.Rebuilt, s.status.Took = time.Now(), took
}

// snapshot returns what is known of the cluster now.
func (s *Source) snapshot() *objects {
	o := &objects{at: time.Now(), clusterCA: s.clusterCA(), unread: map[string]bool{}}
	for _, w := range s.watchers {
		if !w.store.fill(o) {
			o.unread[w.resource.name] = true
		}
	}
	return o
}

// clusterCA reads it anew, since it may have been renewed.
func (s *Source) clusterCA() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pem, err := clusterCA(s.connection); err == nil {
		s.ca = pem
	}
	return s.ca
}
