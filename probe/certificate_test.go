package probe

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFacts(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	leaf := issue(t, ca, "", forDNS("a", "b"), forIP("10.0.0.1", "::1"), func(c *x509.Certificate) {
		c.SerialNumber = big.NewInt(0xbeef)
		c.Subject = pkix.Name{CommonName: `x, "y"`, Organization: []string{"o"}, Country: []string{"DE"}}
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "h", Path: "/p"}}
		c.EmailAddresses = []string{"a@b"}
	})
	want := &Certificate{
		Subject: `CN=x\, \"y\",O=o,C=DE`, Issuer: "CN=ca", Serial: "beef",
		DNSNames: []string{"a", "b"}, IPAddresses: []string{"10.0.0.1", "::1"}, URIs: []string{"spiffe://h/p"},
		EmailAddresses: []string{"a@b"}, SANs: 6,
		NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		Key: "P-256", Signature: "ECDSA-SHA256",
		SHA256: sha256.Sum256(leaf.Raw), Raw: leaf.Raw,
	}
	if diff := cmp.Diff(want, factsOf(leaf.Certificate)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// TestLongSubject: pkix.Name.String takes quadratic time.
func TestLongSubject(t *testing.T) {
	many := issue(t, nil, "x", func(c *x509.Certificate) {
		for range maxAttributes + 8 {
			c.Subject.ExtraNames = append(c.Subject.ExtraNames, pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: "y"})
		}
	})
	if n := strings.Count(factsOf(many.Certificate).Subject, "OU=y"); n < 1 || n > maxAttributes {
		t.Errorf("%d attributes of a subject are kept, want at most %d", n, maxAttributes)
	}
}

func TestFactsOfKeys(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil || len(public) == 0 {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		cert             *issued
		key, signature   string
		isCA, selfSigned bool
	}{
		{ca, "P-256", "ECDSA-SHA256", true, true},
		{issue(t, ca, "ca"), "P-256", "ECDSA-SHA256", false, false}, // its issuer's name, not its key
		{issueRSA(t, 2048, nil, "rsa"), "RSA-2048", "SHA256-RSA", false, true},
		{issueFor(t, private, nil, "ed25519"), "Ed25519", "Ed25519", false, true},
	} {
		f := factsOf(tc.cert.Certificate)
		if f.Key != tc.key || f.Signature != tc.signature || f.IsCA != tc.isCA || f.SelfSigned != tc.selfSigned {
			t.Errorf("%s: %s %s, CA %v, self-signed %v", f.Subject, f.Key, f.Signature, f.IsCA, f.SelfSigned)
		}
	}
}

func TestCut(t *testing.T) {
	for _, s := range []string{
		"short", strings.Repeat("x", maxText), strings.Repeat("x", maxText+1), strings.Repeat("€", maxText),
		"x" + strings.Repeat("€", maxText), strings.Repeat("\xff", maxText+1), strings.Repeat("\x80", maxText+1),
		strings.Repeat("x", maxText-4) + "€€",
	} {
		got := cut(s)
		if len(got) > maxText || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("cut(%q) = %q, %d bytes", s, got, len(got))
		}
		if len(s) <= maxText && got != s {
			t.Errorf("cut(%q) = %q, though it is short", s, got)
		}
	}
}
