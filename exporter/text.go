package exporter

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"tlsprobe/probe"
)

// WriteText writes v for a person: the verdict in the first line, then what to
// know and do about it, then how it was found. Lines are printable ASCII and at
// most 100 columns wide, whatever the peer sent.
func WriteText(w io.Writer, v View) error {
	t := &textWriter{color: v.Color}
	t.head(v)
	if v.Result != nil {
		t.found(v.Result)
	}
	t.foot(v)
	_, err := w.Write(t.b.Bytes())
	return err
}

// head writes the verdict and where, when and by whom it was found.
func (t *textWriter) head(v View) {
	target := v.target()
	word, colour := verdict(v)
	first := fmt.Sprintf("%-5s ", word)
	if v.Result != nil {
		if worst := v.Result.Worst(); worst != nil {
			first += worst.Reason.ID + "  "
		}
	}
	t.line(first+target.Name, mark{0, len(word), colour})
	if v.Result == nil {
		t.line("      " + describe(target) + "  no result yet")
		return
	}
	if ways := describeWays(v.Result); ways != "" {
		t.line("      " + ways)
	}
	how := timestamp(v.Result.Start)
	if !target.Undialled {
		how += "  " + milliseconds(v.Result.Duration)
	}
	if v.Result.Node != "" {
		how = "from " + cut(printable(v.Result.Node), 40) + "  " + how
	}
	if what := printable(describe(target)); len(what)+len(how) < columns-8 {
		t.line("      " + what + "  " + how)
	} else {
		t.line("      " + what)
		t.line("      " + how)
	}
	t.line("      " + strings.Join(circumstances(v), ", "))
	t.labels(target)
}

func verdict(v View) (word, colour string) {
	if v.Result == nil {
		return "WAIT", yellow
	}
	switch v.outcome() {
	case OutcomeFailure:
		return "FAIL", red
	case OutcomeWarning:
		return "WARN", yellow
	}
	return "OK", green
}

// describe says where a target is, unless its name does already, and how it is
// probed.
func describe(target *probe.Target) string {
	how := "module " + target.Module.Name
	if target.Address == target.Name {
		return how
	}
	return target.Address + "  " + how
}

// circumstances say how old the answer is and for how long it has held.
func circumstances(v View) []string {
	var said []string
	switch {
	case v.Live && v.Age < time.Second:
		said = append(said, "probed just now")
	case v.Live:
		said = append(said, "probed "+rough(v.Age)+" ago")
	default:
		said = append(said, "scheduled run of "+rough(v.Age)+" ago")
	}
	if !v.Since.IsZero() {
		state := map[bool]string{true: "failing", false: "ok"}[v.outcome() == OutcomeFailure]
		if v.holds() {
			said = append(said, fmt.Sprintf("%s since %s (%s)", state, timestamp(v.Since), runsInARow(v)))
		} else {
			said = append(said, "scheduled runs differ since "+timestamp(v.Since))
		}
	}
	return said
}

func runsInARow(v View) string {
	n := v.inARow()
	if n == historyLen {
		return fmt.Sprintf("%d runs and more", n)
	}
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs in a row", n)
}

// problem writes one problem in full; of a reason that an earlier attempt had
// too, only what is particular to this one.
func (t *textWriter) problem(p *probe.Problem, res *probe.Result, a *probe.Attempt, explained map[*probe.Reason]bool) {
	r := p.Reason
	t.blank()
	colour := red
	if r.Severity == probe.Warning {
		colour = yellow
	}
	label := fmt.Sprintf("%s[%s]", r.Severity, r.ID)
	t.line(label+": "+r.Title, mark{0, len(label), colour})
	t.field("expected", p.Expected)
	t.field("received", p.Received)
	t.field("detail", p.Detail)
	for _, note := range p.Notes {
		t.field("note", note)
	}
	if explained[r] {
		return
	}
	explained[r] = true
	t.field("breaks", r.Breaks)
	t.field("peer logs", r.OtherSide)
	t.help(r, res, a)
}

// foot writes the last runs and where to read on.
func (t *textWriter) foot(v View) {
	t.blank()
	if len(v.History) > 0 {
		every := ""
		if interval := v.target().Interval; interval > 0 {
			every = ", one each " + rough(interval)
		}
		t.line("recent  " + strip(v.History))
		t.line("        . ok  w warning  F failure; newest right" + every)
	}
	if f := v.LastFailure; f != nil && v.Result != nil && v.Result.OK() {
		worst := f.Worst()
		t.line("failed  " + timestamp(f.Start) + "  " + worst.Reason.ID + ": " + cmp.Or(worst.Detail, worst.Reason.Title))
	}
	t.more(v)
}

func (t *textWriter) more(v View) {
	prober := strings.TrimSpace("tlsprobe " + v.Version)
	if v.Next > 0 {
		prober += ", next run in " + rough(v.Next)
	}
	t.line("prober  " + prober)
	more := v.More
	if v.Result != nil {
		if worst := v.Result.Worst(); worst != nil {
			more = strings.TrimSpace(more + "  tlsprobe explain " + worst.Reason.ID)
		}
	}
	if more != "" {
		t.line("more    " + more)
	}
}
