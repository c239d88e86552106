package probe

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// notePanic, deferred, makes a panic a problem of a. It is a fault of ours, and
// must not take the daemon down.
func notePanic(a *Attempt) {
	if r := recover(); r != nil {
		p := reasonProberPanic.problem("%v", r)
		p.Notes = []string{string(debug.Stack())}
		a.Problems = append(a.Problems, p)
	}
}

// atOnce calls all functions at the same time and returns when all have. A panic
// of one becomes the caller's, for [notePanic]: nothing else could recover it.
func atOnce(functions ...func()) {
	panics := make([]any, len(functions))
	var running sync.WaitGroup
	for i, f := range functions {
		running.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panics[i] = fmt.Sprintf("%v\n%s", r, debug.Stack())
				}
			}()
			f()
		})
	}
	running.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
