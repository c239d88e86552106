package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// An EOF, a timeout or a handshake_failure has many causes and one look. After
// such a verdict a bounded number of further connections finds out which it is.
// They fill the peer's log, so they are made when the verdict has changed and not
// again while it holds; their number per second is bounded as well.

// experiment tells apart the causes of some reasons.
type experiment struct {
	of  []*Reason
	try func(*trial, context.Context)
}

// trial is the experiments on one attempt. What they find is remembered, and so
// kept apart from the problem: they add notes to it and may replace its reason by
// the one they prove.
type trial struct {
	*session
	attempt *Attempt
	problem *Problem
	limit   time.Duration // of one connection
	over    bool          // no further experiment tells anything
	finding
}

func (t *trial) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// lore is what experiments showed, and to which verdict it belongs.
type lore struct {
	limiter *rate.Limiter // of diagnoses, not of connections

	mu    sync.Mutex
	known map[loreKey]finding
	tls   map[loreKey]bool // exports whose port speaks TLS, found by trying
}

type loreKey struct {
	target string
	peer   netip.AddrPort
}

type finding struct {
	of       *Reason // the verdict before the experiments
	proven   *Reason // nil: the verdict stands
	received string  // what came instead, "" if the problem says it
	notes    []string
}

const (
	diagnosesPerSecond = 2
	diagnosesAtOnce    = 100     // a node that loses its network sees many verdicts change at once
	maxFindings        = 1 << 14 // kept: a target's addresses may change for ever
)

func newLore() *lore {
	return &lore{limiter: rate.NewLimiter(diagnosesPerSecond, diagnosesAtOnce), known: map[loreKey]finding{}, tls: map[loreKey]bool{}}
}

func (l *lore) forget(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.known {
		if key.target == target {
			delete(l.known, key)
		}
	}
	for key := range l.tls {
		if key.target == target {
			delete(l.tls, key)
		}
	}
}

func (l *lore) recall(key loreKey) (finding, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.known[key]
	return f, ok
}

func (l *lore) learn(key loreKey, f finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= maxFindings {
		clear(l.known)
	}
	l.known[key] = f
}

func (l *lore) unlearn(key loreKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, key)
}

// maxSpeakers bounds what is remembered of ports: /probe may name any address.
const maxSpeakers = 4096

// learnTLS keeps what a port was found to speak; plaintext is what is tried first
// anyway.
func (l *lore) learnTLS(key loreKey, speaks bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !speaks {
		delete(l.tls, key)
		return
	}
	if len(l.tls) >= maxSpeakers {
		clear(l.tls)
	}
	l.tls[key] = true
}

func (l *lore) speaksTLS(key loreKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tls[key]
}

// diagnose applies to each attempt of res what experiments show of its verdict.
// budget bounds their time.
func (s *session) diagnose(ctx context.Context, res *Result, budget time.Duration) {
	var attempts sync.WaitGroup
	for i := range res.Attempts {
		a := &res.Attempts[i]
		key := loreKey{s.target.Name, a.Peer}
		p, tries := ambiguous(a)
		if p == nil || s.proxied() {
			s.lore.unlearn(key)
			continue
		}
		attempts.Go(func() { s.investigate(ctx, budget, key, a, p, tries) })
	}
	attempts.Wait()
}

// proxied reports whether a proxy stands before the target: experiments would go
// around it, and prove what is true of another path.
func (s *session) proxied() bool {
	p, ok := s.target.Module.Prober.(*HTTPProber)
	if !ok {
		return false
	}
	u, err := p.parse(s.target.Address)
	if err != nil {
		return false
	}
	via, err := p.proxyFor(u)
	return err == nil && via != nil
}

// ambiguous returns the problem of a that experiments can tell more of.
func ambiguous(a *Attempt) (*Problem, []experiment) {
	if a.QUIC != nil {
		return nil, nil // experiments are made over TCP
	}
	redirected := a.HTTP != nil && len(a.HTTP.Hops) > 1
	upgraded := a.TCP != nil && a.TCP.Upgraded
	for i := range a.Problems {
		p := &a.Problems[i]
		if redirected && p.Reason != reasonRedirectLoop {
			continue // it is about another peer
		}
		if upgraded && p.Reason.Phase == PhaseTLS {
			continue // experiments would begin with TLS, and this peer does not
		}
		var tries []experiment
		for _, e := range experiments {
			if slices.Contains(e.of, p.Reason) {
				tries = append(tries, e)
			}
		}
		if len(tries) > 0 {
			return p, tries
		}
	}
	return nil, nil
}

// investigate adds to p what experiments show of it, or have shown before.
func (s *session) investigate(ctx context.Context, budget time.Duration, key loreKey, a *Attempt, p *Problem, tries []experiment) {
	defer notePanic(a)
	f, known := s.lore.recall(key)
	if !known || f.of != p.Reason {
		if !s.lore.limiter.Allow() {
			p.Notes = append(p.Notes, "not investigated yet: too many verdicts changed at once")
			return
		}
		ctx, cancel := context.WithTimeout(ctx, budget)
		defer cancel()
		f = s.experiment(ctx, a, p, tries)
		if ctx.Err() == nil {
			s.lore.learn(key, f)
		}
	}
	p.Notes = append(p.Notes, f.notes...)
	if f.proven != nil {
		p.Reason = f.proven
	}
	if f.received != "" {
		p.Received = f.received
	}
}

// experiment tries what tells the causes of p apart until one is proven.
func (s *session) experiment(ctx context.Context, a *Attempt, p *Problem, tries []experiment) finding {
	t := &trial{session: s, attempt: a, problem: p, limit: trialTime, finding: finding{of: p.Reason}}
	if deadline, ok := ctx.Deadline(); ok {
		t.limit = min(trialTime, time.Until(deadline)/trialShares)
	}
	for _, e := range tries {
		if t.over || t.proven != nil || ctx.Err() != nil {
			break
		}
		e.try(t, ctx)
	}
	return t.finding
}
