package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// An apiObject is a pointer to a kind of object.
type apiObject interface {
	comparable
	runtime.Object
	metav1.Object
}

// A store keeps the objects of one resource, stripped. It implements
// [cache.TransformingStore] and [cache.ReflectorBookmarkStore].
type store[P apiObject] struct {
	// strip takes away, in place, all that no target is made of, and reports whether
	// the object is of any use. It finds nothing more to do the second time.
	strip   func(P) bool
	field   func(*objects) *[]P // where the objects belong
	changed func()              // is called when fill has something else to hand out
	listed  func()              // is called after the whole list has been taken

	mu     sync.Mutex // protects what follows
	kept   map[objectKey]P
	sorted []P // of kept; nil: to be sorted anew
	read   bool
	tally  tally
}

type objectKey struct{ namespace, name string }

// A tally counts what a store was told.
type tally struct {
	objects         int
	events, changes uint64
	last            time.Time
}

func keyOf(o metav1.Object) objectKey { return objectKey{o.GetNamespace(), o.GetName()} }

// Transformer implements [cache.TransformingStore]: a list that is streamed is
// stripped object by object as it arrives.
func (s *store[P]) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		if o, ok := o.(P); ok {
			s.strip(o)
		}
		return o, nil
	}
}

// Add implements [cache.ReflectorStore].
func (s *store[P]) Add(o any) error { return s.Update(o) }

// Update implements [cache.ReflectorStore]. An object that differs only in what is
// stripped changes nothing.
func (s *store[P]) Update(o any) error {
	object, ok := o.(P)
	if !ok {
		return s.foreign(o)
	}
	useful := s.strip(object)
	s.edit(1, func() uint64 {
		if !useful {
			return s.drop(keyOf(object))
		}
		return s.put(object)
	})
	return nil
}

// Delete implements [cache.ReflectorStore].
func (s *store[P]) Delete(o any) error {
	object, ok := o.(P)
	if !ok {
		return s.foreign(o)
	}
	s.edit(1, func() uint64 { return s.drop(keyOf(object)) })
	return nil
}

// Replace implements [cache.ReflectorStore].
func (s *store[P]) Replace(list []any, _ string) error {
	found := make(map[objectKey]P, len(list))
	for _, o := range list {
		object, ok := o.(P)
		if !ok {
			return s.foreign(o)
		}
		if s.strip(object) {
			found[keyOf(object)] = object
		}
	}
	first := false
	s.edit(len(list), func() (changes uint64) {
		first, s.read = !s.read, true
		for key := range s.kept {
			if _, still := found[key]; !still {
				changes += s.drop(key)
			}
		}
		for _, object := range found {
			changes += s.put(object)
		}
		return changes
	})
	if first {
		s.changed()
	}
	s.listed()
	return nil
}

// Resync implements [cache.ReflectorStore].
func (s *store[P]) Resync() error { return nil }

// Bookmark implements [cache.ReflectorBookmarkStore].
func (s *store[P]) Bookmark(string) error {
	s.edit(0, func() uint64 { return 0 })
	return nil
}

// clear forgets everything, since the cluster does not have the kind any more.
func (s *store[P]) clear() {
	s.mu.Lock()
	had := s.read
	s.kept, s.sorted, s.read = nil, nil, false
	s.mu.Unlock()
	if had {
		s.changed()
	}
}

// edit runs the change, which returns to how many objects it made a difference.
func (s *store[P]) edit(events int, change func() uint64) {
	s.mu.Lock()
	changes := change()
	s.tally.events += uint64(events)
	s.tally.changes += changes
	s.tally.last = time.Now()
	s.mu.Unlock()
	if changes > 0 {
		s.changed()
	}
}

func (s *store[P]) put(object P) uint64 {
	key := keyOf(object)
	if old, ok := s.kept[key]; ok && equality.Semantic.DeepEqual(old, object) {
		return 0
	}
	if s.kept == nil {
		s.kept = map[objectKey]P{}
	}
	s.kept[key], s.sorted = object, nil
	return 1
}

func (s *store[P]) drop(key objectKey) uint64 {
	if _, ok := s.kept[key]; !ok {
		return 0
	}
	delete(s.kept, key)
	s.sorted = nil
	return 1
}

func (s *store[P]) foreign(o any) error {
	var want P
	return fmt.Errorf("the API sent a %T instead of a %T", o, want)
}

// fill hands out what is kept, and reports whether the list has been read.
func (s *store[P]) fill(o *objects) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil && len(s.kept) > 0 {
		s.sorted = make([]P, 0, len(s.kept))
		for _, object := range s.kept {
			s.sorted = append(s.sorted, object)
		}
		slices.SortFunc(s.sorted, func(a, b P) int {
			return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
	}
	*s.field(o) = s.sorted
	return s.read
}

func (s *store[P]) count() tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tally
	t.objects = len(s.kept)
	return t
}
