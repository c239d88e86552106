package probe

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// staple makes a response about cert, signed by responder, which is put into it
// unless it is the issuer.
func staple(t *testing.T, cert, issuer, responder *issued, response ocsp.Response) []byte {
	t.Helper()
	response.SerialNumber = cert.SerialNumber
	if response.ThisUpdate.IsZero() {
		response.ThisUpdate = judgedAt.Add(-time.Hour)
	}
	if responder != issuer {
		response.Certificate = responder.Certificate
	}
	der, err := ocsp.CreateResponse(issuer.Certificate, responder.Certificate, response, responder.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestStaple(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	other := issue(t, nil, "other", asCA)
	leaf := issue(t, ca, "x", forDNS(webhook))
	neighbour := issue(t, ca, "neighbour", forDNS("neighbour"))
	delegate := issue(t, ca, "responder", usable(x509.ExtKeyUsageOCSPSigning))
	oldDelegate := issue(t, ca, "old responder", usable(x509.ExtKeyUsageOCSPSigning), expired)
	revoked := ocsp.Response{Status: ocsp.Revoked, RevokedAt: judgedAt.Add(-3 * time.Hour)}
	late := ocsp.Response{Status: ocsp.Revoked, NextUpdate: judgedAt.Add(-time.Minute)}
	early := ocsp.Response{Status: ocsp.Revoked, ThisUpdate: judgedAt.Add(time.Minute)}
	trust := trusting(ca)
	for _, tc := range []struct {
		name    string
		stapled []byte
		roots   *roots
		status  string
		revoked bool
	}{
		{"good", staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Good, NextUpdate: judgedAt.Add(time.Hour)}), trust, "good", false},
		{"good, by a delegate", staple(t, leaf, ca, delegate, ocsp.Response{Status: ocsp.Good}), trust, "good", false},
		{"unknown", staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Unknown}), trust, "unknown", false},
		{"revoked", staple(t, leaf, ca, ca, revoked), trust, "revoked", true},
		{"revoked, by a delegate", staple(t, leaf, ca, delegate, revoked), trust, "revoked", true},
		{"by a certificate that is no responder", staple(t, leaf, ca, neighbour, revoked), trust, "invalid", false},
		{"by an expired responder", staple(t, leaf, ca, oldDelegate, revoked), trust, "invalid", false},
		{"by another CA", staple(t, leaf, other, other, revoked), trust, "invalid", false},
		{"about another certificate", staple(t, neighbour, ca, ca, revoked), trust, "invalid", false},
		{"out of date", staple(t, leaf, ca, ca, late), trust, "invalid", false},
		{"from the future", staple(t, leaf, ca, ca, early), trust, "invalid", false},
		{"garbage", []byte("garbage"), trust, "invalid", false},
		{"issuer not known", staple(t, leaf, ca, ca, revoked), trusting(other), "invalid", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := ask(webhook, tc.roots, leaf)
			q.stapled = tc.stapled
			v := new(chainCache).judge(q)
			if v.ocsp == nil || v.ocsp.Status != tc.status {
				t.Fatalf("staple: %+v, want status %q", v.ocsp, tc.status)
			}
			isRevoked := false
			for _, p := range v.problems {
				isRevoked = isRevoked || p.Reason == reasonCertRevoked
			}
			if isRevoked != tc.revoked {
				t.Errorf("problems %v, want cert_revoked: %v", reasonIDs(v), tc.revoked)
			}
			checkBounds(t, v)
		})
	}
}

// TestMustStaple asks whether a certificate's promise of a staple is kept.
func TestMustStaple(t *testing.T) {
	ca, other := issue(t, nil, "ca", asCA), issue(t, nil, "other", asCA)
	promise := func(features ...int) edit {
		value, err := asn1.Marshal(features)
		if err != nil {
			t.Fatal(err)
		}
		return func(c *x509.Certificate) {
			c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: tlsFeature, Value: value})
		}
	}
	leaf := issue(t, ca, "x", forDNS(webhook), promise(statusRequest))
	const statusRequestV2 = 17
	laterFeature := issue(t, ca, "x", forDNS(webhook), promise(statusRequestV2))
	unreadable := issue(t, ca, "x", forDNS(webhook), func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: tlsFeature, Value: []byte("garbage")}}
	})
	late := ocsp.Response{Status: ocsp.Good, NextUpdate: judgedAt.Add(-time.Minute)}
	for _, tc := range []struct {
		name     string
		leaf     *issued
		roots    *roots
		stapled  []byte
		reasons  string
		received string
	}{
		{"kept", leaf, trusting(ca), staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Good}), "", ""},
		{"none", leaf, trusting(ca), nil, "ocsp_staple_missing", "no OCSP response"},
		{"out of date", leaf, trusting(ca), staple(t, leaf, ca, ca, late), "ocsp_staple_missing",
			"an OCSP response that was to be renewed by 2026-11-21T11:59:00Z"},
		{"garbage", leaf, trusting(ca), []byte("garbage"), "ocsp_staple_missing", "an OCSP response that is not valid"},
		{"revoked", leaf, trusting(ca), staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Revoked}), "cert_revoked", ""},
		{"nobody can judge", leaf, trusting(other), staple(t, leaf, ca, ca, late), "unknown_authority", ""},
		{"another feature", laterFeature, trusting(ca), nil, "", ""},
		{"unreadable", unreadable, trusting(ca), nil, "", ""},
		{"no promise", issue(t, ca, "x", forDNS(webhook)), trusting(ca), nil, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := ask(webhook, tc.roots, tc.leaf)
			q.stapled = tc.stapled
			v := new(chainCache).judge(q)
			if got := strings.Join(reasonIDs(v), " "); got != tc.reasons {
				t.Fatalf("reasons %q, want %q", got, tc.reasons)
			}
			if tc.received != "" && v.problems[0].Received != tc.received {
				t.Errorf("received %q, want %q", v.problems[0].Received, tc.received)
			}
		})
	}
}
