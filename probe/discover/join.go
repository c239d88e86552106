package discover

import (
	"context"
	"errors"
	"sync"

	"tlsprobe/probe"
)

// Run implements [Source]: it joins the file's targets with those of its
// sources, which it runs. A name that two of them use belongs to the first: the
// file, then the sources in their order.
func (c *Config) Run(ctx context.Context, set func([]*probe.Target)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu     sync.Mutex // guards what follows, and keeps the calls of set apart
		lists  = c.start()
		failed error
		wg     sync.WaitGroup
	)
	set(c.join(lists))
	for i, source := range c.Sources {
		wg.Go(func() {
			err := source.Run(ctx, func(list []*probe.Target) {
				mu.Lock()
				defer mu.Unlock()
				lists[1+i] = list
				set(c.join(lists))
			})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
				cancel()
			}
		})
	}
	<-ctx.Done()
	wg.Wait()
	return failed
}

// start returns the file's targets and, for each source, what is known before
// it has answered.
func (c *Config) start() [][]*probe.Target {
	lists := [][]*probe.Target{c.Targets}
	for _, source := range c.Sources {
		var list []*probe.Target
		if heir, ok := source.(interface{ inherited() []*probe.Target }); ok {
			list = heir.inherited()
		}
		lists = append(lists, list)
	}
	return lists
}

// Inherit lets the sources of c start with the lists that the sources of an older
// configuration have, where both ask the same URL or API: a reload while that does
// not answer loses no target. Call it before Run.
func (c *Config) Inherit(old *Config) {
	for _, source := range c.Sources {
		for _, older := range old.Sources {
			switch s := source.(type) {
			case *HTTPSource:
				if from, same := older.(*HTTPSource); same && from.url == s.url {
					s.inherit(from)
				}
			case *KubernetesSource:
				if from, same := older.(*KubernetesSource); same && from.config.Kubeconfig == s.config.Kubeconfig {
					s.inherit(from)
				}
			}
		}
	}
}

// join puts lists together; the first target of a name stays.
func (c *Config) join(lists [][]*probe.Target) []*probe.Target {
	var out []*probe.Target
	taken := map[string]bool{}
	for _, list := range lists {
		for _, t := range list {
			if !taken[t.Name] {
				taken[t.Name] = true
				out = append(out, t)
			} else if c.Shadowed != nil {
				c.Shadowed(t)
			}
		}
	}
	return out
}
