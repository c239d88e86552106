package exporter

import "tlsprobe/probe"

// An Outcome is what one run came to, as the letter that shows it.
type Outcome byte

const (
	OutcomeOK      Outcome = '.'
	OutcomeWarning Outcome = 'w' // it works, but should be mended
	OutcomeFailure Outcome = 'F'
)

func outcomeOf(r *probe.Result) Outcome {
	switch worst := r.Worst(); {
	case worst == nil:
		return OutcomeOK
	case worst.Reason.Severity == probe.Error:
		return OutcomeFailure
	}
	return OutcomeWarning
}

// historyLen is how many outcomes of a target are kept: half an hour at 30 s.
const historyLen = 60

// history is a ring of the last outcomes, one byte each.
type history struct {
	ring [historyLen]Outcome
	next uint8 // where the next one goes
	full bool
}

func (h *history) add(o Outcome) {
	h.ring[h.next] = o
	h.next++
	if h.next == historyLen {
		h.next, h.full = 0, true
	}
}

// outcomes returns what the ring holds, oldest first.
func (h *history) outcomes() []Outcome {
	var out []Outcome
	if h.full {
		out = append(out, h.ring[h.next:]...)
	}
	return append(out, h.ring[:h.next]...)
}
