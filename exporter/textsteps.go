package exporter

import (
	"fmt"
	"strings"
	"time"

	"tlsprobe/probe"
)

// steps writes the table of phases with their times. A phase that was not
// reached is shown as such only below one that failed.
func (t *textWriter) steps(r *probe.Result, a *probe.Attempt) {
	t.blank()
	t.line("step     result       time  detail")
	failed := false
	for _, phase := range probe.AllPhases() {
		problems := inPhase(a, phase)
		took := a.Phases[phase]
		if took == 0 && len(problems) == 0 {
			if failed && phase != probe.PhaseRequest {
				t.line(fmt.Sprintf("%-7s  not reached", phase))
			}
			continue
		}
		word, colour := stepVerdict(problems)
		failed = failed || word == "FAIL"
		detail := stepDetail(r, a, phase)
		if len(problems) > 0 {
			detail = strings.Join(problemIDs(problems), ", ")
		}
		t.line(fmt.Sprintf("%-7s  %-6s  %9s  %s", phase, word, stepTime(took), detail), mark{9, 9 + len(word), colour})
	}
}

func stepTime(took time.Duration) string {
	if took == 0 {
		return "-"
	}
	return milliseconds(took)
}

func inPhase(a *probe.Attempt, phase probe.Phase) []*probe.Problem {
	var in []*probe.Problem
	for i := range a.Problems {
		if shownAt(a, &a.Problems[i]) == phase {
			in = append(in, &a.Problems[i])
		}
	}
	return in
}

// shownAt returns the phase in which p arose: that of its reason, unless what
// failed is a lookup that was itself the request.
func shownAt(a *probe.Attempt, p *probe.Problem) probe.Phase {
	if a.DNS != nil && p.Reason.Phase == probe.PhaseResolve {
		return probe.PhaseRequest
	}
	return p.Reason.Phase
}

func problemIDs(problems []*probe.Problem) []string {
	ids := make([]string, len(problems))
	for i, p := range problems {
		ids[i] = p.Reason.ID
	}
	return ids
}

func stepVerdict(problems []*probe.Problem) (word, colour string) {
	word, colour = "ok", green
	for _, p := range problems {
		if p.Reason.Severity == probe.Error {
			return "FAIL", red
		}
		word, colour = "warn", yellow
	}
	return word, colour
}

// stepDetail says what a phase that went well found.
func stepDetail(r *probe.Result, a *probe.Attempt, phase probe.Phase) string {
	switch phase {
	case probe.PhaseResolve:
		if a.Resolver == "" {
			return a.Peer.Addr().String()
		}
		return fmt.Sprintf("-> %s (asked %s)", a.Peer.Addr(), a.Resolver)
	case probe.PhaseConnect:
		if a.Local.IsValid() {
			return fmt.Sprintf("%s -> %s%s", a.Local, a.Peer, knockDetail(a.TCP))
		}
		return a.Peer.String()
	case probe.PhaseTLS:
		return upgradeDetail(a.TCP) + overQUIC(a.QUIC, handshakeDetail(a.TLS))
	case probe.PhaseVerify:
		return verifyDetail(a.TLS, r.Start)
	case probe.PhaseRequest:
		return requestDetail(a)
	}
	return ""
}

// overQUIC puts what the packets were before what was agreed on.
func overQUIC(q *probe.QUIC, detail string) string {
	if q == nil {
		return detail
	}
	return strings.TrimSpace(quicDetail(q) + " " + detail)
}

func handshakeDetail(t *probe.TLS) string {
	if t == nil {
		return ""
	}
	said := []string{versionName(t.Version), cipherName(t.Cipher), groupName(t.Group), t.ALPN}
	if t.ClientCertRequested {
		said = append(said, map[bool]string{true: "client cert sent", false: "client cert requested, none sent"}[t.ClientCertSent])
	}
	said = append(said, stapledDetail(t.Stapled))
	return strings.Join(strings.Fields(strings.Join(said, " ")), " ")
}

func stapledDetail(o *probe.OCSP) string {
	if o == nil {
		return ""
	}
	return "OCSP " + o.Status
}

func verifyDetail(t *probe.TLS, at time.Time) string {
	if t == nil || len(t.Chain) == 0 {
		return ""
	}
	return fmt.Sprintf("%s until %s", t.ServerName, validity(t.Chain[0], at))
}

func requestDetail(a *probe.Attempt) string {
	switch {
	case a.GRPC != nil:
		return grpcDetail(a.GRPC)
	case a.OTLP != nil:
		return otlpDetail(a.OTLP)
	case a.DNS != nil:
		return dnsDetail(a.DNS)
	case a.TCP != nil:
		return talkDetail(a.TCP)
	}
	return httpDetail(a.HTTP)
}

func httpDetail(h *probe.HTTP) string {
	if h == nil || len(h.Hops) == 0 {
		return ""
	}
	last := &h.Hops[len(h.Hops)-1]
	said := fmt.Sprintf("%s %s, %d bytes", last.Method, hopAnswer(last), h.Body)
	if last.Proxy != "" {
		said += " through " + last.Proxy
	}
	switch n := len(h.Hops) - 1; n {
	case 0:
		return said
	case 1:
		return said + ", 1 redirect"
	default:
		return fmt.Sprintf("%s, %d redirects", said, n)
	}
}

// hops writes the redirects as a list, where there are any.
func (t *textWriter) hops(a *probe.Attempt) {
	const shown = 12
	if a.HTTP == nil || len(a.HTTP.Hops) < 2 {
		return
	}
	t.blank()
	for i := range a.HTTP.Hops {
		label := ""
		if i == 0 {
			label = "hops"
		}
		if i == shown {
			t.line(fmt.Sprintf("%-6s    ... and %d more", label, len(a.HTTP.Hops)-shown))
			return
		}
		hop := &a.HTTP.Hops[i]
		to := ""
		if hop.Location != "" {
			to = " to " + hop.Location
		}
		t.line(fmt.Sprintf("%-6s %2d  %s %s  %s%s", label, i+1, hop.Method, cut(printable(hop.URL), 45), hopAnswer(hop), to))
	}
}

func hopAnswer(hop *probe.Hop) string {
	if hop.Status == 0 {
		return "no answer"
	}
	return fmt.Sprintf("%d %s", hop.Status, hop.Proto)
}
