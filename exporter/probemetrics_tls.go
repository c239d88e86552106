package exporter

import (
	"crypto/x509"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"tlsprobe/probe"
)

// lastTLS returns the facts of the last handshake: of the last hop, as
// blackbox_exporter does, else of the attempt. nil if there was none, or if all
// went well and the last hop had none.
func lastTLS(r *probe.Result) *probe.TLS {
	if hop := lastHop(r); hop != nil && (hop.TLS != nil || r.OK()) {
		return hop.TLS
	}
	return deciding(r).TLS
}

func fillEarliestExpiry(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && len(t.Chain) > 0 {
		f.add(unix(firstExpiry(t.Chain)))
	}
}

func firstExpiry(chain []*probe.Certificate) time.Time {
	first := slices.MinFunc(chain, func(a, b *probe.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return first.NotAfter
}

// fillLastChainExpiry is for all probers but grpc, as for blackbox_exporter.
func fillLastChainExpiry(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && len(t.Verified) > 0 && r.Target.Module.Kind != "grpc" {
		f.add(unix(firstExpiry(t.Verified[0])))
	}
}

func fillLeaf(f *family, r *probe.Result) {
	t := lastTLS(r)
	if t == nil || len(t.Chain) == 0 {
		return
	}
	leaf := t.Chain[0]
	subject, issuer := namesOf(leaf)
	f.add(1, hex.EncodeToString(leaf.SHA256[:]), labelValue(subject), labelValue(issuer),
		labelValue(strings.Join(leaf.DNSNames, ",")), evenHex(leaf.Serial))
}

// namesOf returns subject and issuer in the order of attributes that Go's
// crypto/x509 gives them, and blackbox_exporter its labels. A peer may send names
// whose rendering takes long: those stay as they are.
func namesOf(c *probe.Certificate) (subject, issuer string) {
	const usual = 16 // attributes of a name
	parsed, err := x509.ParseCertificate(c.Raw)
	if err != nil || len(parsed.Subject.Names) > usual || len(parsed.Issuer.Names) > usual {
		return c.Subject, c.Issuer
	}
	return cut(parsed.Subject.String(), maxLabel), cut(parsed.Issuer.String(), maxLabel)
}

// evenHex writes whole bytes.
func evenHex(digits string) string {
	if len(digits)%2 == 1 {
		return "0" + digits
	}
	return digits
}

// labelValue makes a label's value of what a peer chose: label values are UTF-8.
func labelValue(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func fillCipher(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && t.Version != 0 && isHTTP(r) {
		f.add(1, cipherName(t.Cipher))
	}
}

func fillVersion(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && t.Version != 0 {
		f.add(1, versionName(t.Version))
	}
}
