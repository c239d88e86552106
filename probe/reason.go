package probe

import (
	"fmt"
	"slices"
	"strings"
)

// A Reason is one class of failure: an entry of the catalogue, declared once, in
// a reasons_*.go file. Label values, the /probe text, explain, log matching and
// the runbook pages all derive from it. IDs are never renamed or reused.
type Reason struct {
	ID        string       // "missing_ip_san"; a label value
	Phase     Phase        // the one phase it belongs to
	Severity  Severity     // whether it fails the target
	Title     string       // one line, lower case, no full stop
	Meaning   string       // what happened, in sentences
	Breaks    string       // what stops working because of it
	OtherSide string       // what the other side's log says, "" if nothing
	Causes    []string     // most likely first
	Fixes     []string     // commands or steps, most useful first
	Cite      string       // RFC section or source
	Logs      []LogPattern // lines of the world's logs that mean this

	// LogOnly marks a reason that only a log line can show: no probe of ours
	// raises it.
	LogOnly bool

	// match reports whether the end of a connection shows this reason. Of the
	// entries of one phase the first match in order of declaration counts. nil
	// for reasons that verification or a prober raises by name.
	match func(*Evidence) bool
}

// Severity says what a reason means for its target.
type Severity uint8

const (
	Error   Severity = iota // the target does not work
	Warning                 // it works, but should be mended
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// A LogPattern recognises a log line. It is compiled at first use: an agent
// never needs it.
type LogPattern struct {
	Side    Side   // who wrote the line, unless the line itself shows otherwise
	Vague   bool   // the words also stand beside better ones: any other match goes first
	Pattern string // regexp (RE2), in any case of letters
	Sample  string // a line whose best match is this reason
}

// Side is the vantage of a log line.
type Side uint8

const (
	EitherSide Side = iota // the same words on both sides
	ClientSide
	ServerSide
	ProxySide // a proxy or API server between the two
)

func (s Side) String() string {
	return [...]string{"either side", "client", "server", "proxy"}[s]
}

// catalogue holds every reason in order of declaration, which across files is the
// order of their names; written by register while the package is initialised and
// read-only afterwards.
var catalogue []*Reason

func register(r Reason) *Reason {
	if Lookup(r.ID) != nil {
		panic("probe: reason " + r.ID + " is declared twice")
	}
	catalogue = append(catalogue, &r)
	return &r
}

// Catalogue returns every reason in order of declaration: by phase, and within
// a phase the most specific first.
func Catalogue() []*Reason {
	all := slices.Clone(catalogue)
	slices.SortStableFunc(all, func(a, b *Reason) int { return int(a.Phase) - int(b.Phase) })
	return all
}

// Lookup returns the reason with this id, or nil.
func Lookup(id string) *Reason {
	i := slices.IndexFunc(catalogue, func(r *Reason) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return catalogue[i]
}

// because makes a Problem of r out of an error of our own making.
func (r *Reason) because(err error) Problem { return Problem{Reason: r, Detail: err.Error(), Err: err} }

// problem makes a Problem of r; detail is a Sprintf format.
func (r *Reason) problem(detail string, args ...any) Problem {
	return Problem{Reason: r, Detail: strings.TrimSpace(fmt.Sprintf(detail, args...))}
}

// classify returns the problem of how a connection ended.
func classify(e *Evidence) Problem {
	p := Problem{Reason: e.reason(), Err: e.Err, Evidence: e}
	p.Detail, p.Expected, p.Received = e.describe()
	return p
}

// reason returns the first reason of the phase that matches.
func (e *Evidence) reason() *Reason {
	for _, r := range catalogue {
		if r.Phase == e.Phase && r.match != nil && r.match(e) {
			return r
		}
	}
	panic("probe: no reason for phase " + e.Phase.String())
}
