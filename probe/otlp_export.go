package probe

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/emptypb"
)

// export is the probing of one receiver. Each connection is a leg, an attempt of
// its own, of which those that count are kept.
type export struct {
	*session
	prober  *OTLPProber
	to      receiver
	attempt *Attempt
}

// A leg is what one connection showed.
type leg struct {
	Attempt
	speaks string // what the port was shown to speak, "" if the leg could not tell
	answer string // to the export, "" if there was none
}

func (e *export) leg() *leg { return &leg{Attempt: Attempt{Peer: e.attempt.Peer}} }

// keep adds a leg to the attempt.
func (e *export) keep(l *leg) {
	a := e.attempt
	for phase, d := range l.Phases {
		a.Phases[phase] += d
	}
	if l.TLS != nil {
		a.TLS = l.TLS
		a.OTLP.Mesh = meshIdentity(l.TLS)
	}
	if !a.Local.IsValid() {
		a.Local = l.Local
	}
	if l.answer != "" {
		a.OTLP.Answer = l.answer
	}
	a.OTLP.Speaks = l.speaks
	a.Problems = append(a.Problems, l.Problems...)
}

// noteMesh tells with the problem to mend first whose certificate it is.
func (e *export) noteMesh() {
	if a := e.attempt; a.OTLP.Mesh != "" && len(a.Problems) > 0 {
		a.Problems[0].Notes = append(a.Problems[0].Notes, meshNote(a.OTLP.Mesh))
	}
}

func meshNote(identity string) string {
	return "the certificate is that of " + cut(identity) + ": a mesh's sidecar answers for this workload"
}

// plaintext exports without TLS.
func (e *export) plaintext(ctx context.Context) *leg {
	l := e.leg()
	if plain := e.openPlain(ctx, &l.Attempt); plain != nil {
		e.send(ctx, l, plain, nil)
	}
	if l.answer != "" {
		l.speaks = otlpPlaintext
	}
	return l
}

// overTLS exports over TLS.
func (e *export) overTLS(ctx context.Context) *leg {
	return e.exportOver(ctx, e.alpn(), false)
}

// alpn is what an exporter offers.
func (e *export) alpn() []string {
	if e.to.protocol == "http" {
		return []string{"http/1.1"}
	}
	return grpcALPN
}

// meshALPN is what a sidecar offers in a client's place. Istio in PERMISSIVE mode
// takes no other TLS for its own: it passes it on to the workload.
func (e *export) meshALPN() []string {
	if e.to.protocol == "http" {
		return []string{"istio-http/1.1", "istio", "http/1.1"}
	}
	return []string{"istio-h2", "istio", "h2"}
}

// exportOver exports over TLS with this offer. As a member of a mesh it does not
// look for a host name in the certificate of another.
func (e *export) exportOver(ctx context.Context, alpn []string, member bool) *leg {
	l := e.leg()
	c := e.openTLS(ctx, &l.Attempt, e.peerOf(&e.prober.TLSConfig, e.to.host), alpn)
	l.judgeSpeech(member)
	if c == nil {
		return l
	}
	wanted := alpn
	if e.to.protocol == "http" {
		wanted = nil // HTTP/1.1 needs no ALPN
	}
	if c.trusted(ctx, &l.Attempt, wanted) {
		e.send(ctx, l, c, c)
	}
	l.judgeSpeech(member)
	return l
}

// judgeSpeech says what the leg's TLS amounts to.
func (l *leg) judgeSpeech(member bool) {
	if member && meshIdentity(l.TLS) != "" {
		l.Problems = slices.DeleteFunc(l.Problems, func(p Problem) bool {
			return p.Reason == reasonHostnameMismatch || p.Reason == reasonMissingIPSAN
		})
	}
	switch {
	case l.TLS == nil:
	case l.demandsCertificate():
		l.speaks = otlpMutual
	case l.TLS.Version != 0:
		l.speaks = otlpTLS
	}
}

// demandsCertificate reports whether the peer hung up for want of a client
// certificate, or took ours.
func (l *leg) demandsCertificate() bool {
	refused := slices.ContainsFunc(l.Problems, func(p Problem) bool { return p.Reason == reasonClientCertRequired })
	return refused || l.TLS.ClientCertSent
}

// send exports over an open connection and parts with it.
func (e *export) send(ctx context.Context, l *leg, line duplex, over *conn) {
	if e.to.protocol == "http" {
		e.post(ctx, l, line, over)
		return
	}
	answer := newGRPCLine(line, over).call(ctx, &grpcRequest{
		authority: e.authority(&e.prober.TLSConfig, e.to.host, e.to.port),
		method:    otlpServices[e.prober.Signal],
		in:        new(emptypb.Empty), // a message without fields is an empty export
	}, new(emptypb.Empty))
	l.Phases[PhaseRequest] += answer.took
	if answer.problem == nil || answer.problem.Reason == reasonGRPCStatus {
		l.answer = answer.code.String()
	}
	if answer.problem != nil {
		l.Problems = append(l.Problems, *answer.problem)
	}
}

// greet completes a handshake with the offer of a mesh's member, sends nothing,
// and waits for the peer's verdict about our certificate.
func (e *export) greet(ctx context.Context) *leg {
	l := e.leg()
	c := e.openTLS(ctx, &l.Attempt, e.peerOf(&e.prober.TLSConfig, e.to.host), e.meshALPN())
	if c != nil {
		if late := c.part(ctx); late != nil {
			l.Problems = slices.Insert(l.Problems, 0, classify(late))
		}
	}
	l.judgeSpeech(true)
	return l
}

// both exports in plaintext and greets over TLS, at once.
func (e *export) both(ctx context.Context) (plain, over *leg) {
	atOnce(
		func() { plain = e.plaintext(ctx) },
		func() { over = e.greet(ctx) },
	)
	return plain, over
}
