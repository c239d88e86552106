package probe

import (
	"context"
	"net/netip"
)

// A Runner runs probes: deadline, recover, timing, classification. It keeps what
// runs may share (parsed trust, judged chains, what experiments showed), so one
// agent has one Runner. It is safe for concurrent use.
type Runner struct {
	node  string
	guard Guard
}

// A Guard decides whether an address may be dialled. It is asked with each
// resolved address, before each dial, redirects included.
type Guard func(netip.AddrPort) error

// NewRunner returns a Runner that marks its results with the name of node.
func NewRunner(node string) *Runner { return &Runner{node: node} }

// Guarded returns a Runner that shares all with r, and dials only what guard
// allows.
func (r *Runner) Guarded(guard Guard) *Runner {
	guarded := *r
	guarded.guard = guard
	return &guarded
}

// Run probes t once, within its timeout for each attempt. It always returns a
// result: what goes wrong is in it.
func (r *Runner) Run(ctx context.Context, t *Target) *Result { panic("todo") }

// Forget drops what r remembers of the target of this name.
func (r *Runner) Forget(name string) {}

// session is one run of one target.
type session struct {
	*Runner
	target *Target
}
