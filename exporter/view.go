package exporter

import (
	"time"

	"tlsprobe/probe"
)

// A View is what one answer about one target is made of, whoever asks and in
// whatever form: [WriteText], [WriteJSON], the metrics of /probe and the pages
// render the same View. Only Result, or Target while there is none, is needed;
// what is zero is not shown.
type View struct {
	Target      *probe.Target // nil: the one of Result
	Result      *probe.Result // nil: pending, no result yet
	LastFailure *probe.Result // the last result that was a failure; may be Result

	Live bool          // run for whoever asked; else the last scheduled run
	Age  time.Duration // since the run ended
	Next time.Duration // until the next scheduled run; 0: unknown or none

	Since   time.Time // since when scheduled runs have had the verdict that they have
	History []Outcome // of the last scheduled runs, oldest first

	Version string // of this program
	More    string // where to read more, "" for nothing: "?format=json"
	Color   bool   // for WriteText: mark verdicts for a terminal
}

// target is what the view is about.
func (v View) target() *probe.Target {
	if v.Target == nil && v.Result != nil {
		return v.Result.Target
	}
	return v.Target
}

// outcome is the verdict of the result shown.
func (v View) outcome() Outcome { return outcomeOf(v.Result) }

// holds reports whether the scheduled runs, which Since speaks of, have the
// verdict of the result shown: a live run may differ from them.
func (v View) holds() bool {
	return len(v.History) > 0 && (v.History[len(v.History)-1] == OutcomeFailure) == (v.outcome() == OutcomeFailure)
}

// inARow counts the last scheduled runs that share the verdict of the last one.
func (v View) inARow() int {
	n := 0
	for i := len(v.History) - 1; i >= 0; i-- {
		if (v.History[i] == OutcomeFailure) != (v.History[len(v.History)-1] == OutcomeFailure) {
			break
		}
		n++
	}
	return n
}

// status is the verdict as a word: "ok", "failing" or "pending".
func (v View) status() string {
	switch {
	case v.Result == nil:
		return "pending"
	case v.Result.OK():
		return "ok"
	}
	return "failing"
}
