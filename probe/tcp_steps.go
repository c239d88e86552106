package probe

import (
	"fmt"
	"strings"
	"time"
)

// step goes through one step, and reports whether to go on.
func (d *dialogue) step(i int) bool {
	step := &d.prober.QueryResponse[i]
	start := time.Now()
	p := d.exchange(step)
	d.attempt.Phases[PhaseRequest] += time.Since(start)
	if p != nil {
		if n := len(d.prober.QueryResponse); n > 1 {
			p.Notes = append(p.Notes, fmt.Sprintf("at step %d of %d", i+1, n))
		}
		d.fail(p)
		return false
	}
	return !step.StartTLS || d.secure()
}

// exchange expects and sends what step says.
func (d *dialogue) exchange(step *QueryResponse) *Problem {
	send := step.Send
	var p *Problem
	switch {
	case step.Expect.Regexp != nil:
		send, p = d.expectLine(step)
	case step.ExpectBytes != "":
		p = d.expectBytes(step.ExpectBytes)
	}
	if p != nil || send == "" {
		return p
	}
	d.talk.awaits = "what was sent to be taken"
	return d.talk.say(asLine(send))
}

// asLine puts a line feed behind text, as blackbox_exporter does. What holds a NUL
// is no line: PostgreSQL takes a byte behind its request for an attack, and says
// so in its log.
func asLine(send string) string {
	if strings.Contains(send, "\x00") {
		return send
	}
	return send + "\n"
}

// expectLine reads lines until one matches, and returns what to send then.
func (d *dialogue) expectLine(step *QueryResponse) (send string, p *Problem) {
	d.talk.awaits = fmt.Sprintf("a line that matches %q", step.Expect)
	said, lines := "", 0
	for {
		line, err := d.talk.readLine()
		if err != nil {
			if line != "" {
				said, lines = line, lines+1
			}
			return "", d.lineMissing(err, said, lines)
		}
		match := step.Expect.FindStringSubmatchIndex(line)
		if match == nil {
			said, lines = line, lines+1
			continue
		}
		expand := func(template string) string {
			return string(step.Expect.ExpandString(nil, template, line, match))
		}
		for _, label := range step.Labels {
			d.attempt.TCP.Labels = append(d.attempt.TCP.Labels, ExpectLabel{label.Name, expand(label.Value)})
		}
		return expand(step.Send), nil
	}
}

// lineMissing is the problem of a peer that said lines, the last of which is said,
// before err ended it.
func (d *dialogue) lineMissing(err error, said string, lines int) *Problem {
	p := d.talk.ended(err, said)
	if lines > 1 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d lines came; the last is shown", lines))
	}
	d.attempt.TCP.MismatchedLine = p.Evidence != nil && (p.Evidence.End == EndFIN || p.Evidence.End == EndCloseNotify)
	return p
}

func (d *dialogue) expectBytes(want string) *Problem {
	d.talk.awaits = fmt.Sprintf("the bytes %q", want)
	got, p := d.talk.next(len(want))
	if p == nil && string(got) != want {
		d.attempt.TCP.MismatchedBytes = true
		return d.talk.mismatch(string(got) + d.talk.readAhead())
	}
	return p
}
