package kubernetes

import (
	"slices"
	"strings"
	"time"
)

// A State is how the watch of a resource fares.
type State string

// The states of a resource.
const (
	Starting  State = "starting"  // nothing has been read yet
	Synced    State = "synced"    // all is known
	Absent    State = "absent"    // the cluster has no such kind, which is normal where a CRD brings it; it is looked for again
	Forbidden State = "forbidden" // it may not be read; what was read before stays
	Failing   State = "failing"   // it cannot be read; what was read before stays
)

// States returns the states that there are.
func States() []State { return []State{Starting, Synced, Absent, Forbidden, Failing} }

// A Status is how a [Source] fares.
type Status struct {
	Resources []ResourceStatus // in order of their names

	Rebuilds uint64        // of the list of targets; 0: not all has been read once
	Rebuilt  time.Time     // the last time
	Took     time.Duration // the last time, with the work of Run's caller
}

// A ResourceStatus is how the watch of one resource fares.
type ResourceStatus struct {
	Resource string // "ingresses.networking.k8s.io"
	State    State
	Was      State     // the state before
	Since    time.Time // when it came into State
	Err      error     // why it is Forbidden or Failing

	Objects   int       // that are kept
	Events    uint64    // from the API: objects listed, added, changed and deleted
	Changes   uint64    // events that made a difference to what is kept
	LastEvent time.Time // or the last bookmark, of which the API sends about one a minute
}

// Status returns how the source fares now. It may be called at any time.
func (s *Source) Status() Status {
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	for _, w := range s.watchers {
		status.Resources = append(status.Resources, w.state())
	}
	slices.SortFunc(status.Resources, func(a, b ResourceStatus) int {
		return strings.Compare(a.Resource, b.Resource)
	})
	return status
}
