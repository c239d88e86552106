// Package probe runs one probe: a target goes in, a [Result] comes out.
//
// It owns the catalogue of reasons, the evidence they are judged by, the
// verification of certificates, and one file per prober. It knows nothing of
// schedules, sources of targets, metrics or pages: those are the arms around it
// (probe/schedule, probe/discover, exporter), and it imports none of them.
//
// Start reading at [Runner.Run], then [Reason] for what a failure is.
package probe

import (
	"net/netip"
	"time"
)

// A Target is one thing to probe: a stable name, an address, and what must be
// true there. It is read-only once it has been handed to a [Runner].
type Target struct {
	Name       string  // unique and stable; what people type after /probe?target=
	Address    string  // host:port, or a URL for the http prober
	ServerName string  // SNI and the name to verify; empty: the module's, then the address's host
	Module     *Module // how to probe; never nil
	Trust      Trust   // the roots; the zero value: the module's
	Labels     Labels  // for tlsprobe_target_info: namespace, service, failure policy
	Schedule

	// Routes are the ways to dial the target, with an attempt for each; empty: to
	// what Address resolves to. They change where is dialled and nothing else: names
	// and URLs stay those of Address.
	Routes []Route
	// Faults are what the objects that define the target show to be wrong with it,
	// without any connection: problems of phase config.
	Faults []Problem
	// Undialled is set where Faults leave nothing to dial: the one attempt of a
	// result then holds the faults, and no connection is made.
	Undialled bool
}

// A Route is one way to a target.
type Route struct {
	Via     string // what stands there, for people: "ClusterIP of kong/kong-webhook", "pod kong-7d4 on node-b"
	Address string // host:port; a host that is a name is resolved as the module says
}

// A Schedule says when a target is probed. Zero durations take the defaults of
// the configuration.
type Schedule struct {
	Interval time.Duration
	Timeout  time.Duration // bounds one run; less than Interval
}

// A Module says how to probe: a prober with its settings, and blackbox_exporter's
// word for it. Modules are shared between targets and read-only.
type Module struct {
	Name    string
	Kind    string        // the prober's name: "tls", "http"
	Timeout time.Duration // caps the target's timeout; 0: no cap
	Prober  Prober        // nil: the kind is none of ours, and nothing can be probed by the module

	// SSLMetrics adds ssl_exporter's metrics to the answers of /probe.
	SSLMetrics bool
}

// A Result is what one run of one target found. Read-only.
type Result struct {
	Target   *Target
	Node     string // the node it was seen from
	Start    time.Time
	Duration time.Duration // without the experiments of a diagnosis
	Attempts []Attempt     // at least one, unless Invalid is set

	// Invalid says why this run tells nothing about its target, "" if it does:
	// it was cancelled by our own shutdown, or we were starved of CPU. Such a
	// result is neither a success nor a failure and must not be counted.
	Invalid string
}

// An Attempt is one connection to one address, or what prevented one.
type Attempt struct {
	Peer     netip.AddrPort // the address dialled; zero when there was none to dial
	Via      string         // of the [Route] that led there; "" without routes
	Local    netip.AddrPort // our end; zero when not connected
	Resolver string         // who answered the name's lookup, "" if the address was literal
	Phases   Phases
	TLS      *TLS      // nil without a completed ServerHello
	HTTP     *HTTP     // nil unless a request was sent
	DNS      *DNS      // nil unless the dns prober came to ask
	TCP      *TCP      // nil unless the tcp prober came to talk
	GRPC     *GRPC     // nil unless the grpc prober ran
	OTLP     *OTLP     // nil unless the otlp prober ran
	QUIC     *QUIC     // nil unless a QUIC handshake was tried
	Problems []Problem // the one to fix first is first; empty: all is well
}

// A Problem is one occurrence of a reason, with its particulars. All strings may
// hold bytes a peer chose: escape them before showing them.
type Problem struct {
	Reason   *Reason
	Detail   string    // this case, in one line
	Expected string    // what would have been right, "" where that goes without saying
	Received string    // what came instead
	Notes    []string  // what experiments showed, and particulars worth a line each
	Err      error     // the raw error, nil where there was none
	Evidence *Evidence // of how the connection ended, nil where that was not the problem
}

// OK reports whether the target works: no attempt has a problem of severity
// [Error]. Warnings leave a result OK.
func (r *Result) OK() bool {
	p := r.Worst()
	return p == nil || p.Reason.Severity != Error
}

// Found returns what the i-th attempt itself found: its problems without the
// faults of the target, which stand before those of the first.
func (r *Result) Found(i int) []Problem {
	problems := r.Attempts[i].Problems
	if i == 0 {
		problems = problems[min(len(r.Target.Faults), len(problems)):]
	}
	return problems
}

// Failing returns the attempts that have found an error, in their order.
func (r *Result) Failing() []*Attempt {
	var out []*Attempt
	for i := range r.Attempts {
		if !onlyWarnings(r.Found(i)) {
			out = append(out, &r.Attempts[i])
		}
	}
	return out
}

// Worst returns the problem to fix first: the first error of any attempt, else
// the first warning, else nil.
func (r *Result) Worst() *Problem {
	var worst *Problem
	for i := range r.Attempts {
		for j := range r.Attempts[i].Problems {
			p := &r.Attempts[i].Problems[j]
			if p.Reason.Severity == Error {
				return p
			}
			if worst == nil {
				worst = p
			}
		}
	}
	return worst
}

// Reasons returns each reason that occurs in any attempt, once, in the order of
// their first occurrence.
func (r *Result) Reasons() []*Reason {
	var out []*Reason
	seen := map[*Reason]bool{}
	for i := range r.Attempts {
		for j := range r.Attempts[i].Problems {
			if reason := r.Attempts[i].Problems[j].Reason; !seen[reason] {
				seen[reason] = true
				out = append(out, reason)
			}
		}
	}
	return out
}
