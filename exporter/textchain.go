package exporter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tlsprobe/probe"
)

// chain writes the certificates that the server sent, and ours.
func (t *textWriter) chain(facts *probe.TLS, at time.Time) {
	t.blank()
	for i, c := range facts.Chain {
		label := ""
		if i == 0 {
			label = "chain"
		}
		t.certificate(fmt.Sprintf("%-6s %2d", label, i), c, at)
		if i == 0 {
			t.line("           names " + names(c))
		}
	}
	if more := facts.Sent - len(facts.Chain); more > 0 {
		t.line(fmt.Sprintf("           ... and %d more certificates", more))
	}
	if facts.ClientCert != nil {
		t.certificate("ours     ", facts.ClientCert, at)
	}
}

// certificate writes a certificate in two lines, cutting the names of which the
// peer may have made anything.
func (t *textWriter) certificate(label string, c *probe.Certificate, at time.Time) {
	const wide = 38 // of each of the two names
	by := "self-signed"
	if !c.SelfSigned {
		by = "issued by " + cut(printable(orNone(c.Issuer)), wide)
	}
	t.line(fmt.Sprintf("%s  %s  %s", label, cut(printable(orNone(c.Subject)), wide), by))
	kind := ""
	if c.IsCA {
		kind = "  CA"
	}
	t.line(fmt.Sprintf("           %s .. %s  %s  %s%s", date(c.NotBefore), validity(c, at), c.Key, c.Signature, kind))
}

func orNone(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// validity says until when c is valid, and how far that is from at.
func validity(c *probe.Certificate, at time.Time) string {
	if at.Before(c.NotBefore) {
		return fmt.Sprintf("%s (valid in %s)", date(c.NotAfter), rough(c.NotBefore.Sub(at)))
	}
	return fmt.Sprintf("%s (%s)", date(c.NotAfter), remaining(c.NotAfter, at))
}

// remaining says how far the end of a validity is from now.
func remaining(end, now time.Time) string {
	if left := end.Sub(now); left >= 0 {
		return rough(left) + " left"
	}
	return "expired " + rough(now.Sub(end)) + " ago"
}

// names lists the leaf's subject alternative names, those that name hosts first.
func names(c *probe.Certificate) string {
	const shown = 8
	all := slices.Concat(c.DNSNames, c.IPAddresses, c.URIs, c.EmailAddresses)
	if c.SANs == 0 && len(all) == 0 {
		return "none: no subject alternative name"
	}
	said := strings.Join(all[:min(shown, len(all))], ", ")
	if more := max(c.SANs, len(all)) - shown; more > 0 {
		// In front, as a long name may push what follows beyond the line's end.
		return fmt.Sprintf("(%d) %s, ...", max(c.SANs, len(all)), said)
	}
	return said
}

// sameChain reports whether two attempts met the same certificates.
func sameChain(a, b *probe.TLS) bool {
	return slices.EqualFunc(a.Chain, b.Chain, func(x, y *probe.Certificate) bool { return x == y || x.SHA256 == y.SHA256 })
}
