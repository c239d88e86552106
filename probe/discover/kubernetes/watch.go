package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

const (
	// absentRetry is how soon a missing kind is looked for again, at the earliest;
	// at the latest, after twice that.
	absentRetry = 30 * time.Second
	// listTimeout is above the API server's own limit, 60 s by default.
	listTimeout = 90 * time.Second
	// pageSize keeps a page of CustomResourceDefinitions, the largest of the objects,
	// to some 10 MB.
	pageSize = 100
)

// pauses returns the pauses between attempts: 1 s, doubled up to 30 s, each made
// longer by up to as much again. They start over every two minutes.
func pauses() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 1, Steps: 6, Cap: 30 * time.Second}
}

// A watcher keeps a store in step with the API. How it fares is judged by each
// request, since the reflector keeps some failures to itself.
type watcher struct {
	resource resource
	example  runtime.Object
	client   rest.Interface
	store    contents
	report   func(ResourceStatus) // is called when the state changes

	streaming bool // the last request was for the list and then its changes

	mu     sync.Mutex // protects what follows
	status ResourceStatus
}

// contents is a [store] of whatever kind.
type contents interface {
	cache.TransformingStore
	fill(*objects) (read bool)
	count() tally
	clear()
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	backoff := pauses()
	reflector := cache.NewReflectorWithOptions(
		&cache.ListWatch{ListWithContextFunc: w.list, WatchFuncWithContext: w.watch},
		w.example, w.store,
		cache.ReflectorOptions{
			Name:            w.resource.name,
			TypeDescription: w.resource.name,
			Clock:           &clockUntil{done: ctx.Done()},
			Backoff:         &backoff,
		})
	pause := backoff.DelayWithReset(clock.RealClock{}, 2*time.Minute)
	for ctx.Err() == nil {
		err := reflector.ListAndWatchWithContext(ctx)
		next := pause()
		if err != nil && w.fail(ctx, err) == Absent {
			next = time.Duration((1 + rand.Float64()) * float64(absentRetry))
		}
		sleep(ctx, next)
	}
}

// sleep waits, and reports whether it did so to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// clockUntil is a real clock on which nobody waits any longer when done closes:
// the reflector would sleep half a minute through the end of its context.
type clockUntil struct {
	clock.RealClock
	done <-chan struct{}
}

// After implements [clock.Clock].
func (c *clockUntil) After(d time.Duration) <-chan time.Time {
	due := make(chan time.Time, 1)
	go func() {
		select {
		case <-c.done:
		case <-time.After(d):
		}
		due <- time.Now()
	}()
	return due
}

func (w *watcher) request(options metav1.ListOptions) *rest.Request {
	options.FieldSelector = w.resource.selector
	return w.client.Get().Resource(w.resource.name).
		VersionedParams(&options, metav1.ParameterCodec).
		MaxRetries(1) // the reflector has more
}

// list returns all objects, already stripped. An API server that does not stream
// lists would send them all at once; in pages, no more than one of them is here in
// full.
func (w *watcher) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	w.streaming = false
	strip := w.store.Transformer()
	all := &internalversion.List{}
	options.ResourceVersion, options.ResourceVersionMatch = "", "" // only of the newest are there pages
	options.Limit = pageSize
	for {
		page, err := w.page(ctx, options)
		if err != nil {
			return nil, err
		}
		err = meta.EachListItemWithAlloc(page, func(o runtime.Object) error {
			_, err := strip(o)
			all.Items = append(all.Items, o)
			return err
		})
		if err != nil {
			return nil, err
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		if options.Continue = about.GetContinue(); options.Continue == "" {
			all.ResourceVersion = about.GetResourceVersion()
			return all, nil
		}
	}
}

func (w *watcher) page(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return w.request(options).Do(ctx).Get()
}

func (w *watcher) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	w.streaming = options.SendInitialEvents != nil
	var broken error
	events, err := w.request(options).Watch(noteBroken(ctx, &broken))
	switch {
	case broken != nil:
		w.fail(ctx, broken)
	case apierrors.IsTooManyRequests(err):
		w.fail(ctx, err)
	case err == nil && !w.streaming:
		w.note(Synced, nil)
	}
	return events, err
}

// listed is called when the store has the whole list. A list that was not
// streamed is of no use until it can be watched.
func (w *watcher) listed() {
	if w.streaming {
		w.note(Synced, nil)
	}
}

// fail notes an error, and returns the state that it means.
func (w *watcher) fail(ctx context.Context, err error) State {
	switch {
	case ctx.Err() != nil: // nobody wants to know any more
		return Failing
	case apierrors.IsNotFound(err):
		if w.resource.custom { // others cannot be gone: a proxy before the API answers so, too
			w.store.clear()
		}
		w.note(Absent, nil)
		return Absent
	case apierrors.IsForbidden(err):
		w.note(Forbidden, w.forbidden(err))
		return Forbidden
	}
	w.note(Failing, err)
	return Failing
}

// forbidden says what to do about it.
func (w *watcher) forbidden(err error) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		err = status // without the reflector's words
	}
	return fmt.Errorf("%w; bind a ClusterRole with the rule {apiGroups: [%q], resources: [%s], verbs: [list, watch]} to that user",
		err, w.resource.group, w.resource.name)
}

// note keeps the state, and tells if it is news.
func (w *watcher) note(state State, err error) {
	w.mu.Lock()
	news := w.status.State != state
	if news {
		w.status.Was, w.status.State, w.status.Since = w.status.State, state, time.Now()
	}
	w.status.Err = err
	w.mu.Unlock()
	if news {
		w.report(w.state())
	}
}

// settled reports whether all has been learned that can be at present.
func (w *watcher) settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status.State == Synced || w.status.State == Absent || w.status.State == Forbidden
}

func (w *watcher) state() ResourceStatus {
	w.mu.Lock()
	status := w.status
	w.mu.Unlock()
	count := w.store.count()
	status.Resource = w.resource.String()
	status.Objects, status.Events, status.Changes, status.LastEvent = count.objects, count.events, count.changes, count.last
	return status
}
