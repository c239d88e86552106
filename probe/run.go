package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A Runner runs probes: deadline, recover, timing, classification. It keeps what
// runs may share (parsed trust, judged chains, what experiments showed), so one
// agent has one Runner. It is safe for concurrent use.
type Runner struct {
	node  string
	guard Guard // nil: every address may be dialled
	terse bool  // no experiments

	resolver *resolver
	trust    *trustStore
	keypairs *keypairStore
	chains   *chainCache
	lore     *lore
	programs *programs
}

// A Guard decides whether an address may be dialled: nil allows. It is asked
// with each resolved address, before each dial, redirects included.
type Guard func(netip.AddrPort) error

// NewRunner returns a Runner that marks its results with the name of node.
func NewRunner(node string) *Runner {
	return &Runner{
		node:     node,
		resolver: newResolver(),
		trust:    newTrustStore(),
		keypairs: newKeypairStore(),
		chains:   new(chainCache),
		lore:     newLore(),
		programs: newPrograms(),
	}
}

// Guarded returns a Runner that shares all with r, and dials only what guard
// allows.
func (r *Runner) Guarded(guard Guard) *Runner {
	guarded := *r
	guarded.guard = guard
	return &guarded
}

// Terse returns a Runner that shares all with r, and makes no experiments: its
// runs end with their timeout, whatever they find.
func (r *Runner) Terse() *Runner {
	terse := *r
	terse.terse = true
	return &terse
}

// Forget drops what r remembers of the target of this name.
func (r *Runner) Forget(name string) { r.lore.forget(name) }

// defaultTimeout bounds a run whose target and module say nothing.
const defaultTimeout = 10 * time.Second

// Run probes t once. Its timeout bounds the whole run, the experiments of a
// diagnosis aside, which have as much again. It always returns a result: what
// goes wrong is in it.
func (r *Runner) Run(ctx context.Context, t *Target) *Result {
	timeout := timeoutOf(t)
	res := &Result{Target: t, Node: r.node, Start: time.Now()}
	deadline := res.Start.Add(timeout)
	s := &session{Runner: r, target: t}

	bounded, cancel := context.WithDeadline(ctx, deadline)
	res.Attempts = s.attempts(bounded)
	cancel()
	res.Duration = time.Since(res.Start)

	res.Invalid = invalid(ctx, res, time.Since(deadline))
	if res.Invalid == "" && !r.terse {
		s.diagnose(ctx, res, timeout)
	}
	return res
}

func timeoutOf(t *Target) time.Duration {
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	if limit := t.Module.Timeout; limit > 0 {
		timeout = min(timeout, limit)
	}
	return timeout
}

// starvedAfter is how late we may notice a deadline that has passed before a
// timeout says more about our own lack of CPU than about the target.
const starvedAfter = time.Second

func invalid(ctx context.Context, res *Result, late time.Duration) string {
	if errors.Is(ctx.Err(), context.Canceled) && !res.OK() {
		return "cancelled"
	}
	if late > starvedAfter && slices.ContainsFunc(res.Reasons(), isTimeout) {
		return fmt.Sprintf("starved of CPU: the deadline was noticed %s late", late.Round(time.Millisecond))
	}
	return ""
}

func isTimeout(r *Reason) bool {
	return r == reasonDNSTimeout || r == reasonTCPTimeout || r == reasonTLSTimeout || r == reasonQUICTimeout ||
		r == reasonHTTPTimeout || r == reasonTCPExpectTimeout
}

// session is one run of one target.
type session struct {
	*Runner
	target *Target
}

// attempts goes every way to the target at once. What is known to be wrong with
// it before any connection stands before what the first of them found.
func (s *session) attempts(ctx context.Context) []Attempt {
	var all []Attempt
	if s.target.Undialled {
		all = make([]Attempt, 1)
	} else {
		all = s.dialled(ctx)
	}
	if faults := s.target.Faults; len(faults) > 0 {
		all[0].Problems = slices.Concat(faults, all[0].Problems)
	}
	return all
}

// dialled attempts the target's address, or each route instead.
func (s *session) dialled(ctx context.Context) []Attempt {
	at, err := s.target.Module.Prober.endpoint(s.target)
	switch {
	case err != nil:
		return []Attempt{{Problems: []Problem{reasonTargetMisconfigured.because(err)}}}
	case len(s.target.Routes) == 0:
		return s.attemptsAt(ctx, at, "")
	}
	return s.alongRoutes(ctx, at.addresses)
}

// lookupJudge is a prober that has more to say of a lookup without an address than
// why it failed, in front of that.
type lookupJudge interface{ lookupFailed(t *Target, a *Attempt) }

// attemptsAt resolves at and attempts each address chosen, all at once, so that a
// dead one takes no time from the others.
func (s *session) attemptsAt(ctx context.Context, at endpoint, via string) []Attempt {
	resolved := Attempt{Via: via}
	addrs := s.resolve(ctx, at, &resolved)
	if len(addrs) == 0 {
		if p, ok := s.target.Module.Prober.(lookupJudge); ok {
			p.lookupFailed(s.target, &resolved)
		}
		return []Attempt{resolved}
	}
	all := make([]Attempt, len(addrs))
	var others sync.WaitGroup
	for i, addr := range addrs {
		all[i] = resolved
		all[i].Peer = netip.AddrPortFrom(addr, at.port)
		if i > 0 {
			others.Go(func() { s.attempt(ctx, &all[i]) })
		}
	}
	s.attempt(ctx, &all[0])
	others.Wait()
	return all
}

// resolve finds the addresses of at to probe, for a; what goes wrong is a problem
// of a.
func (s *session) resolve(ctx context.Context, at endpoint, a *Attempt) []netip.Addr {
	defer notePanic(a)
	start := time.Now()
	addrs, server, err := s.resolver.resolve(ctx, at)
	a.Phases[PhaseResolve] += time.Since(start)
	a.Resolver = server
	if err != nil {
		a.Problems = append(a.Problems, classify(newEvidence(PhaseResolve, err, nil)))
	}
	return addrs
}

// attempt runs the prober.
func (s *session) attempt(ctx context.Context, a *Attempt) {
	defer notePanic(a)
	s.target.Module.Prober.attempt(ctx, s, a)
}
