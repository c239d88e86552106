package probe

import (
	"context"
	"strings"
)

// export returns the export that failed, nil if the target is none.
func (t *trial) export() *export {
	p, ok := t.target.Module.Prober.(*OTLPProber)
	if !ok || t.attempt.OTLP == nil {
		return nil
	}
	to, _ := p.receiver(t.target.Address)
	return &export{session: t.session, prober: p, to: to, attempt: t.attempt}
}

// otlpOverTLS finds out whether a port that ends an export in plaintext speaks
// TLS, and with whom: a sidecar of a mesh closes without a word.
func (t *trial) otlpOverTLS(ctx context.Context) {
	e := t.export()
	if e == nil || t.attempt.TLS != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	l := e.greet(ctx)
	mesh := ""
	if identity := meshIdentity(l.TLS); identity != "" {
		mesh = "; " + meshNote(identity)
	}
	switch l.speaks {
	case otlpMutual:
		t.proven = reasonClientCertRequired
		t.note("tried TLS: the port speaks it, and demands a client certificate%s", mesh)
	case otlpTLS:
		t.proven = reasonPlaintextOnTLSPort
		t.note("tried TLS: the handshake completes%s", mesh)
	}
}

// otlpSwapped finds out whether the port speaks OTLP, but by the other protocol.
func (t *trial) otlpSwapped(ctx context.Context) {
	e := t.export()
	if e == nil || !maybeSwapped(t.attempt.OTLP.Answer) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	e.to = e.to.swapped(e.prober.Signal)
	try := e.plaintext
	if t.attempt.TLS != nil {
		try = e.overTLS
	}
	if l := try(ctx); len(l.Problems) > 0 && !onlyWarnings(l.Problems) {
		t.note("tried an export over %s: it fails too, so the ports are not swapped", e.protocolName())
		return
	}
	t.proven = reasonOTLPProtocolMismatch
	t.note("tried an export over %s: it is answered, so this is a port of OTLP over %[1]s", e.protocolName())
}

func (e *export) protocolName() string {
	if e.to.protocol == "http" {
		return "HTTP"
	}
	return "gRPC"
}

// maybeSwapped reports whether an answer leaves it open that the other protocol is
// spoken: there is none, or it knows no such path.
func maybeSwapped(answer string) bool {
	switch code, _, _ := strings.Cut(answer, " "); code {
	case "", "Unimplemented", "404", "405", "415":
		return true
	}
	return false
}
