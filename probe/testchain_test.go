package probe

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// judgedAt is when the tests of verification take place.
var judgedAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// issued is a certificate with its key.
type issued struct {
	*x509.Certificate
	key crypto.Signer
}

// edit changes the template of a certificate.
type edit func(*x509.Certificate)

var serials atomic.Int64

// issue makes a certificate named cn, signed by issuer, or by itself if that is
// nil. It is valid from an hour before judgedAt to a day after.
func issue(t testing.TB, issuer *issued, cn string, edits ...edit) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return issueFor(t, key, issuer, cn, edits...)
}

// issueRSA is issue for an RSA key of so many bits.
func issueRSA(t testing.TB, bits int, issuer *issued, cn string, edits ...edit) *issued {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return issueFor(t, key, issuer, cn, edits...)
}

func issueFor(t testing.TB, key crypto.Signer, issuer *issued, cn string, edits ...edit) *issued {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serials.Add(1)),
		Subject:      pkix.Name{CommonName: cn},
		NotBefore:    judgedAt.Add(-time.Hour),
		NotAfter:     judgedAt.Add(24 * time.Hour),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, e := range edits {
		e(template)
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.Certificate, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return &issued{parse(t, der), key}
}

func parse(t testing.TB, der []byte) *x509.Certificate {
	t.Helper()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func asCA(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.ExtKeyUsage = true, true, nil
	c.KeyUsage = x509.KeyUsageCertSign
}

func forDNS(names ...string) edit { return func(c *x509.Certificate) { c.DNSNames = names } }

func forIP(ips ...string) edit {
	return func(c *x509.Certificate) {
		for _, ip := range ips {
			c.IPAddresses = append(c.IPAddresses, net.ParseIP(ip))
		}
	}
}

// valid sets the validity, relative to judgedAt.
func valid(from, to time.Duration) edit {
	return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = judgedAt.Add(from), judgedAt.Add(to) }
}

func expired(c *x509.Certificate) { valid(-48*time.Hour, -24*time.Hour)(c) }

func usable(usages ...x509.ExtKeyUsage) edit {
	return func(c *x509.Certificate) { c.ExtKeyUsage = usages }
}

// trusting returns the roots that hold these certificates.
func trusting(certs ...*issued) *roots {
	r := &roots{pool: x509.NewCertPool(), origin: "the caBundle"}
	h := sha256.New()
	for _, c := range certs {
		r.pool.AddCert(c.Certificate)
		r.certs = append(r.certs, c.Certificate)
		h.Write(c.Raw)
	}
	h.Sum(r.id[:0])
	return r
}

// ask makes the question whether chain is good for name.
func ask(name string, trust *roots, chain ...*issued) question {
	q := question{name: name, roots: trust, now: judgedAt}
	for _, c := range chain {
		q.chain = append(q.chain, c.Certificate)
	}
	return q
}

func reasonIDs(v *verdict) []string {
	var ids []string
	for _, p := range v.problems {
		ids = append(ids, p.Reason.ID)
	}
	return ids
}
