package kubernetes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// caUntil returns a CA's certificate in PEM that is valid until then.
func caUntil(t testing.TB, name string, until time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             until.AddDate(-1, 0, 0),
		NotAfter:              until,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTrust(t *testing.T) {
	var (
		past, near, far = today.Add(-time.Second), today.Add(time.Hour), today.AddDate(5, 0, 0)

		good, soon, last = caUntil(t, "good", far), caUntil(t, "soon", near), caUntil(t, "last", today)
		old, older       = caUntil(t, "old", past), caUntil(t, "older", past.Add(-time.Hour))

		params = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
		headed = strings.Replace(old, "CERTIFICATE-----\n", "CERTIFICATE-----\nName: old\n\n", 1)
		broken = "-----BEGIN CERTIFICATE-----\nBggqhkjOPQMBBw==\n-----END CERTIFICATE-----\n"
	)
	for _, tt := range []struct {
		name, bundle string
		pem          string
		fault        string
		until        time.Time
	}{
		{"one CA", good, good, "", far.Add(1)},
		{"the API server passes over what is none", "# our CA\n" + params + headed + broken + good + "\n\n", good, "", far.Add(1)},
		{"the last CA to expire decides", soon + good + old, soon + good + old, "", far.Add(1)},
		{"a CA that expires soon", old + soon, old + soon, "", near.Add(1)},
		{"a CA in its last second", last, last, "", today.Add(1)},
		{"only expired CAs", older + old, older + old, "ca_bundle_expired: Thing x: spec.caBundle has expired: CN=old ended at 2026-11-21T11:59:59Z", time.Time{}},
		{"no PEM", "Cg==", "", "ca_bundle_invalid: Thing x: spec.caBundle holds no PEM block; it should begin, once decoded from base64, with -----BEGIN CERTIFICATE-----", time.Time{}},
		{"base64 twice", base64.StdEncoding.EncodeToString([]byte(good)), "", "ca_bundle_invalid: Thing x: spec.caBundle is base64 of base64: encode the PEM once", time.Time{}},
		{"no certificate", params, "", `ca_bundle_invalid: Thing x: spec.caBundle holds a PEM block of type "EC PARAMETERS" and no CERTIFICATE`, time.Time{}},
		{"only a certificate with headers", headed, "", "ca_bundle_invalid: Thing x: spec.caBundle holds a PEM block with headers", time.Time{}},
		{"no certificate that parses", broken, "", "ca_bundle_invalid: Thing x: spec.caBundle holds a certificate that does not parse: x509: malformed certificate", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuilder(&Config{}, &objects{at: today})
			target := &probe.Target{Module: b.verified}
			b.trust(target, place{"Thing x", "spec.caBundle"}, []byte(tt.bundle))
			if got := strings.Join(details(target.Faults), "\n"); got != tt.fault {
				t.Errorf("faults %q, want %q", got, tt.fault)
			}
			if target.Trust.PEM != tt.pem {
				t.Errorf("trusts %q, want %q", target.Trust.PEM, tt.pem)
			}
			if judged := target.Module == b.verified; judged != (target.Trust.PEM != "") {
				t.Errorf("judged is %t", judged)
			}
			if diff := cmp.Diff(tt.until, b.until); diff != "" {
				t.Errorf("the time of the next list differs (-want +got):\n%s", diff)
			}
		})
	}
}
