package exporter

import "tlsprobe/probe"

// The metrics of the dns prober are there for each of its probes, 0 where it got
// no answer.

const dnsKind = "dns"

func dnsAnswers(d *probe.DNS) float64    { return float64(d.Answers) }
func dnsAuthority(d *probe.DNS) float64  { return float64(d.Authority) }
func dnsAdditional(d *probe.DNS) float64 { return float64(d.Additional) }
func dnsAnswered(d *probe.DNS) float64   { return boolean(d.Answered) }

// fillDNS makes a filler of one fact of the answer.
func fillDNS(fact func(*probe.DNS) float64) func(*family, *probe.Result) {
	return func(f *family, r *probe.Result) {
		if r.Target.Module.Kind == dnsKind {
			f.add(fact(dnsOf(r)))
		}
	}
}

// dnsOf returns the facts of the question, zero ones if none was asked.
func dnsOf(r *probe.Result) *probe.DNS {
	if d := deciding(r).DNS; d != nil {
		return d
	}
	return new(probe.DNS)
}

func fillDNSDuration(f *family, r *probe.Result) {
	if r.Target.Module.Kind != dnsKind {
		return
	}
	phases := deciding(r).Phases
	f.add((phases[probe.PhaseConnect] + phases[probe.PhaseTLS]).Seconds(), "connect")
	f.add(phases[probe.PhaseRequest].Seconds(), "request")
	f.add(phases[probe.PhaseResolve].Seconds(), "resolve")
}

func fillSerial(f *family, r *probe.Result) {
	if d := dnsOf(r); d.Answered && d.Type == "SOA" {
		f.add(float64(d.Serial))
	}
}
