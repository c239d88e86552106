package probe

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// FuzzJudge judges a leaf, an intermediate and a staple that were tampered with.
// It must not panic, must bound what it says, and find errors where Go does.
// Minimising such inputs takes long: use it with -fuzzminimizetime 1x.
func FuzzJudge(f *testing.F) {
	ca := issue(f, nil, "ca", asCA)
	mid := issue(f, ca, "mid", asCA, func(c *x509.Certificate) { c.ExcludedDNSDomains = []string{"example.com"} })
	leaf := issue(f, mid, "x", forDNS(webhook, "*.svc"), forIP("10.0.0.1"))
	der, err := ocsp.CreateResponse(mid.Certificate, mid.Certificate,
		ocsp.Response{Status: ocsp.Revoked, SerialNumber: leaf.SerialNumber, ThisUpdate: judgedAt}, mid.key)
	if err != nil {
		f.Fatal(err)
	}
	fake := issue(f, nil, "ca", asCA)
	f.Add(leaf.Raw, mid.Raw, []byte(nil), webhook, 0)
	f.Add(leaf.Raw, mid.Raw, der, "10.0.0.2", 48)
	f.Add(leaf.Raw, leaf.Raw, []byte{}, "x", -48)
	f.Add(issue(f, fake, "x").Raw, fake.Raw, []byte{0x30}, "x.example.com", 0)
	f.Add(issueRSA(f, 2048, ca, "x").Raw, ca.Raw, []byte{}, webhook, 0)
	trust := trusting(ca)
	f.Fuzz(func(t *testing.T, leaf, mid, stapled []byte, name string, hours int) {
		first, err := x509.ParseCertificate(leaf)
		if err != nil || name == "" || strings.Contains(name, "%") {
			return
		}
		q := question{chain: []*x509.Certificate{first}, name: name, roots: trust, stapled: stapled}
		q.now = judgedAt.Add(time.Duration(hours%10000) * time.Hour)
		if second, err := x509.ParseCertificate(mid); err == nil {
			q.chain = append(q.chain, second)
		}
		v := new(chainCache).judge(q)
		checkBounds(t, v)
		checkAgainstGo(t, q, v)
	})
}
