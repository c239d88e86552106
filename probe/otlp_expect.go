package probe

import (
	"context"
	"slices"
	"strings"
)

// mutual expects that the port demands a client certificate. With one of ours an
// export is sent; without, the demand itself is what is expected.
func (e *export) mutual(ctx context.Context) *leg {
	if e.prober.TLSConfig.CertFile != "" {
		l := e.exportOver(ctx, e.meshALPN(), true)
		if l.speaks == otlpTLS && onlyWarnings(l.Problems) {
			l.Problems = append(l.Problems, unexpected(otlpMutual, "TLS without a client certificate",
				"the server asks for no client certificate: anybody can connect"))
		}
		return l
	}
	l := e.greet(ctx)
	switch l.speaks {
	case otlpMutual:
		l.Problems = slices.DeleteFunc(l.Problems, func(p Problem) bool { return p.Reason == reasonClientCertRequired })
	case otlpTLS:
		detail := "the server asks for no client certificate: anybody can connect"
		if l.TLS.ClientCertRequested {
			detail = "the server asks for a client certificate and does without: anybody can connect"
		}
		l.Problems = append(l.Problems, unexpected(otlpMutual, "TLS without a client certificate", detail))
	}
	return l
}

// mesh expects of a port that a mesh may have taken in its mutual TLS, and takes
// what else it speaks for what it is without the mesh.
func (e *export) mesh(ctx context.Context) {
	e.find(ctx)
	if a := e.attempt; a.OTLP.Speaks == otlpMutual && a.OTLP.Mesh != "" {
		a.Problems = slices.DeleteFunc(a.Problems, func(p Problem) bool { return p.Reason == reasonClientCertRequired })
	}
}

// unexpected is the problem of a port that speaks otherwise.
func unexpected(expected, received, detail string, notes ...string) Problem {
	p := reasonOTLPExpectation.problem("%s", detail)
	p.Expected, p.Received, p.Notes = expected, received, notes
	return p
}

// permissive expects plaintext and TLS. That one of them fails is no problem of
// its own, but why it fails is worth a note.
func (e *export) permissive(ctx context.Context) {
	plain, over := e.both(ctx)
	speaksTLS := over.speaks != ""
	if speaksTLS {
		over.Problems = slices.DeleteFunc(over.Problems, func(p Problem) bool { return p.Reason == reasonClientCertRequired })
	}
	switch {
	case plain.speaks != "" && speaksTLS:
		e.keep(plain)
		e.keep(over)
		e.attempt.OTLP.Speaks = otlpPermissive
	case plain.speaks != "":
		p := unexpected(otlpPermissive, otlpPlaintext, "the port speaks plaintext only: clients that use TLS fail",
			"TLS: "+reasonsOf(over.Problems))
		e.keep(plain)
		e.attempt.Problems = append([]Problem{p}, e.attempt.Problems...)
	case speaksTLS:
		p := unexpected(otlpPermissive, over.speaks, "the port speaks TLS only: clients without it fail, such as those outside the mesh",
			"plaintext: "+reasonsOf(plain.Problems))
		e.keep(over)
		e.attempt.Problems = append([]Problem{p}, e.attempt.Problems...)
	default:
		e.keep(plain)
	}
}

// reasonsOf names problems in a note.
func reasonsOf(problems []Problem) string {
	var said []string
	for _, p := range problems {
		said = append(said, p.Reason.ID+" ("+cut(p.Detail)+")")
	}
	return strings.Join(said, ", ")
}

// find finds out what the port speaks: what it spoke before, or plaintext, and if
// that fails the other. It is remembered, as a wrong guess is a line in the
// peer's log.
func (e *export) find(ctx context.Context) {
	key := loreKey{e.target.Name, e.attempt.Peer}
	tries := []func(context.Context) *leg{e.plaintext, e.overTLS}
	if e.lore.speaksTLS(key) {
		slices.Reverse(tries)
	}
	first := tries[0](ctx)
	if first.speaks != "" || !first.reached() {
		e.keep(first)
		return
	}
	second := tries[1](ctx)
	if second.speaks == "" {
		e.keep(first)
		return
	}
	e.lore.learnTLS(key, second.TLS != nil)
	e.keep(second)
}

// reached reports whether the peer took the connection, so that what it speaks is
// the question.
func (l *leg) reached() bool {
	return !slices.ContainsFunc(l.Problems, func(p Problem) bool { return p.Reason.Phase < PhaseTLS })
}
