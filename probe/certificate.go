package probe

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
	"unique"
)

const (
	maxText       = 256 // bytes of a string of a peer that are kept
	maxAttributes = 32  // attributes of a distinguished name that are kept
)

// factsOf keeps what people ask about a certificate, in bounded room: a peer
// chooses every byte of it, and may send 256 KiB.
func factsOf(c *x509.Certificate) *Certificate {
	f := &Certificate{
		Subject:    nameText(c.Subject),
		Issuer:     unique.Make(nameText(c.Issuer)).Value(), // thousands may have the same
		Serial:     cut(c.SerialNumber.Text(16)),
		SANs:       sanCount(c),
		NotBefore:  c.NotBefore,
		NotAfter:   c.NotAfter,
		Key:        keyText(c),
		Signature:  c.SignatureAlgorithm.String(),
		IsCA:       c.BasicConstraintsValid && c.IsCA,
		SelfSigned: isSelfSigned(c),
		SCTs:       embeddedSCTs(c),
		SHA256:     sha256.Sum256(c.Raw),
		Raw:        bytes.Clone(c.Raw), // alone, it would keep the whole handshake message
	}
	room := maxSANs
	f.DNSNames = firstTexts(c.DNSNames, &room, func(s string) string { return s })
	f.IPAddresses = firstTexts(c.IPAddresses, &room, asText)
	f.URIs = firstTexts(c.URIs, &room, asText)
	f.EmailAddresses = firstTexts(c.EmailAddresses, &room, func(s string) string { return s })
	return f
}

func asText[T fmt.Stringer](v T) string { return v.String() }

// firstTexts returns the texts of the first elements of list, and takes them off
// the room that is left.
func firstTexts[T any](list []T, room *int, text func(T) string) []string {
	if len(list) > *room {
		list = list[:*room]
	}
	*room -= len(list)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = cut(text(v))
	}
	return out
}

// nameText is the RFC 2253 form of a name. pkix.Name.String takes quadratic
// time, so a peer's name is shortened first.
func nameText(name pkix.Name) string {
	attributes := name.Names[:min(len(name.Names), maxAttributes)]
	rdns := make(pkix.RDNSequence, len(attributes))
	for i, attribute := range attributes {
		if s, ok := attribute.Value.(string); ok {
			attribute.Value = cut(s)
		}
		rdns[i] = pkix.RelativeDistinguishedNameSET{attribute}
	}
	return cut(rdns.String())
}

// subjectOf is the subject, or what stands in for an empty one.
func subjectOf(c *x509.Certificate) string {
	if subject := nameText(c.Subject); subject != "" {
		return subject
	}
	if len(c.DNSNames) > 0 {
		return "DNS:" + cut(c.DNSNames[0])
	}
	return "serial " + cut(c.SerialNumber.Text(16))
}

func keyText(c *x509.Certificate) string {
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA-%d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return key.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return c.PublicKeyAlgorithm.String()
}

// keyID shortens a key identifier (RFC 5280, Section 4.2.1.2) to what a person
// compares: "1f3a..9c". "" if the certificate has none.
func keyID(id []byte) string {
	if len(id) <= 4 {
		return hex.EncodeToString(id)
	}
	return hex.EncodeToString(id[:2]) + ".." + hex.EncodeToString(id[len(id)-1:])
}

// withKeyID appends a key's identifier to text where there is one.
func withKeyID(text, label string, id []byte) string {
	if len(id) == 0 {
		return text
	}
	return text + " " + label + " " + keyID(id)
}

// isSelfSigned reports whether c is signed by its own key.
func isSelfSigned(c *x509.Certificate) bool { return isIssuer(c, c) && signedBy(c, c) }

// cut bounds a string of a peer to maxText bytes, and cuts no character in half.
func cut(s string) string {
	const ellipsis = "..."
	if len(s) <= maxText {
		return s
	}
	end := maxText - len(ellipsis)
	for range utf8.UTFMax - 1 {
		if utf8.RuneStart(s[end]) {
			break
		}
		end--
	}
	return s[:end] + ellipsis
}
