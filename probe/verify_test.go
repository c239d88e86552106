package probe

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const webhook = "hook.ns.svc"

// TestVerifyReasons has a row for each reason of verification and for combinations.
// Each is also put to x509.Verify: what that refuses must have an error here.
func TestVerifyReasons(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	other := issue(t, nil, "other ca", asCA)
	renewed := issue(t, nil, "ca", asCA) // the same name, another key
	mid := issue(t, ca, "mid", asCA)
	oldCA := issue(t, nil, "old ca", asCA, expired)
	oldMid := issue(t, ca, "old mid", asCA, expired)
	good := issue(t, ca, "good", forDNS(webhook))
	self := issue(t, nil, "self", forDNS(webhook))
	selfAgain := issue(t, nil, "self", forDNS(webhook), asCA)
	noCA := issue(t, ca, "no ca")
	noSign := issue(t, ca, "no sign", asCA, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign })
	flat := issue(t, ca, "flat", asCA, func(c *x509.Certificate) { c.MaxPathLenZero = true })
	below := issue(t, flat, "below", asCA)
	clientCA := issue(t, ca, "client ca", asCA, usable(x509.ExtKeyUsageClientAuth))
	narrow := issue(t, ca, "narrow", asCA, func(c *x509.Certificate) { c.PermittedDNSDomains = []string{"example.com"} })
	narrowOld := issue(t, ca, "narrow old", asCA, expired, func(c *x509.Certificate) { c.PermittedDNSDomains = []string{"example.com"} })
	critical := func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
	}
	spiffe := func(c *x509.Certificate) {
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "cluster.local", Path: "/ns/a/sa/b"}}
	}
	broken := *issue(t, ca, "broken", forDNS(webhook))
	der := append([]byte(nil), broken.Raw...)
	der[len(der)-1] ^= 1
	broken.Certificate = parse(t, der)
	sha1 := issueRSA(t, 2048, nil, "sha1 ca", asCA)
	trustCA := trusting(ca)
	twin := issueFor(t, noSign.key, ca, "no sign", asCA)
	strict := issue(t, ca, "strict", asCA, func(c *x509.Certificate) { // requireExplicitPolicy: 0
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 36}, Critical: true, Value: []byte{0x30, 3, 0x80, 1, 0}}}
	})
	opaque := func(r *roots) *roots { return &roots{pool: r.pool, id: r.id} } // as the system's: not to be listed

	for _, tc := range []struct {
		name  string
		q     question
		want  string
		notes string // part of the detail or a note of the first problem
	}{
		{"good", ask(webhook, trustCA, good), "", ""},
		{"good, several roots", ask(webhook, trusting(other, ca), good), "", ""},
		{"good, intermediate", ask(webhook, trustCA, issue(t, mid, "x", forDNS(webhook)), mid), "", ""},
		{"good, chain in disorder", ask(webhook, trustCA, issue(t, mid, "x", forDNS(webhook)), ca, other, mid), "", ""},
		{"good, wildcard", ask(webhook, trustCA, issue(t, ca, "x", forDNS("*.ns.svc"))), "", ""},
		{"good, address", ask("10.0.0.1", trustCA, issue(t, ca, "x", forIP("10.0.0.1"))), "", ""},
		{"good, IPv6 in brackets", ask("[fd00::1]", trustCA, issue(t, ca, "x", forIP("fd00::1"))), "", ""},
		{"good, leaf is trusted itself", ask(webhook, trusting(self), self), "", ""},
		{"good, an expired cross-sign beside", ask(webhook, trustCA, good, oldMid), "", ""},

		{"expired", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), expired)), "cert_expired", ""},
		{"expired intermediate", ask(webhook, trustCA, issue(t, oldMid, "x", forDNS(webhook)), oldMid), "cert_expired", ""},
		{"expired anchor", ask(webhook, trusting(oldCA), issue(t, oldCA, "x", forDNS(webhook))), "cert_expired", ""},
		{"expired leaf and intermediate", ask(webhook, trustCA, issue(t, oldMid, "x", forDNS(webhook), expired), oldMid), "cert_expired", "also certificate 1"},
		{"expired, trusted itself", ask(webhook, trusting(oldCA), oldCA), "cert_expired hostname_mismatch", ""},
		{"not yet valid, by days", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), valid(48*time.Hour, 72*time.Hour))), "cert_not_yet_valid", ""},
		{"not yet valid, by minutes", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), valid(5*time.Minute, time.Hour))), "cert_not_yet_valid", "clock"},
		{"expired and not yet valid", ask(webhook, trustCA, issue(t, oldMid, "x", forDNS(webhook), valid(time.Hour, 2*time.Hour)), oldMid), "cert_expired cert_not_yet_valid", ""},

		{"no address", ask("10.0.0.1", trustCA, good), "missing_ip_san", ""},
		{"address as DNS name", ask("10.0.0.1", trustCA, issue(t, ca, "x", forDNS("10.0.0.1"))), "missing_ip_san", "among the DNS names"},
		{"address as common name", ask("10.0.0.1", trustCA, issue(t, ca, "10.0.0.1")), "missing_ip_san", "common name"},
		{"other address", ask("10.0.0.1", trustCA, issue(t, ca, "x", forIP("10.0.0.2"))), "hostname_mismatch", ""},
		{"other name", ask("other.ns.svc", trustCA, good), "hostname_mismatch", ""},
		{"longer name", ask("hook.ns.svc.cluster.local", trustCA, good), "hostname_mismatch", "it does hold hook.ns.svc"},
		{"wildcard over two labels", ask("a.b.ns.svc", trustCA, issue(t, ca, "x", forDNS("*.ns.svc"))), "hostname_mismatch", "exactly one label"},
		{"wildcard for the domain", ask("ns.svc", trustCA, issue(t, ca, "x", forDNS("*.ns.svc"))), "hostname_mismatch", "the domain itself"},
		{"mesh identity", ask(webhook, trustCA, issue(t, ca, "x", spiffe)), "hostname_mismatch", "service mesh"},
		{"no names", ask(webhook, trustCA, issue(t, ca, "x")), "hostname_mismatch", ""},
		{"common name only", ask(webhook, trustCA, issue(t, ca, webhook)), "legacy_common_name", "curl"},
		{"common name beside others", ask(webhook, trustCA, issue(t, ca, webhook, forDNS("x"))), "hostname_mismatch", ""},

		{"self-signed", ask(webhook, trustCA, self), "self_signed", ""},
		{"self-signed root sent", ask(webhook, trustCA, issue(t, other, "x", forDNS(webhook)), other), "self_signed", ""},
		{"made by a kubelet", kubeletQuestion(t, trustCA), "missing_ip_san self_signed", ""},
		{"stale CA", ask(webhook, trusting(renewed), good), "stale_ca", "same CA name, different key"},
		{"stale CA, new one sent", ask(webhook, trusting(renewed), good, ca), "stale_ca", ""},
		{"stale CA behind an intermediate", ask(webhook, trusting(renewed), issue(t, mid, "x", forDNS(webhook)), mid), "stale_ca", ""},
		{"stale intermediate as anchor", ask(webhook, trusting(issue(t, other, "mid", asCA)), issue(t, mid, "x", forDNS(webhook)), mid), "stale_ca", ""},
		{"self-signed made anew", ask(webhook, trusting(selfAgain), self), "stale_ca", ""},
		{"stale CA among two, the other fits", ask(webhook, trusting(renewed, ca), good), "", ""},
		{"unknown authority", ask(webhook, trusting(other), good), "unknown_authority", "1 certificate,"},
		{"intermediate missing", ask(webhook, trustCA, issue(t, mid, "x", forDNS(webhook))), "unknown_authority", "incomplete"},
		{"old intermediate beside new leaf", ask(webhook, trustCA, issue(t, mid, "x", forDNS(webhook)), issue(t, ca, "mid", asCA)), "unknown_authority", "old chain"},
		{"no roots", ask(webhook, trusting(), good), "unknown_authority", ""},
		{"staging", ask(webhook, trustCA, issue(t, issue(t, nil, "(STAGING) Riddling Rhubarb R12", asCA), "x", forDNS(webhook))), "unknown_authority", ""},

		{"system roots", ask(webhook, opaque(trustCA), good), "", ""},
		{"system roots, expired", ask(webhook, opaque(trustCA), issue(t, ca, "x", forDNS(webhook), expired)), "cert_expired", ""},
		{"system roots, expired anchor", ask(webhook, opaque(trusting(oldCA)), issue(t, oldCA, "x", forDNS(webhook), expired)), "cert_expired", "trust anchor"},
		{"system roots, expired and unknown", ask(webhook, opaque(trustCA), issue(t, other, "x", forDNS(webhook), expired)), "cert_expired unknown_authority", ""},
		{"system roots, none", ask(webhook, opaque(trusting()), good), "unknown_authority", ""},

		{"client certificate", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), usable(x509.ExtKeyUsageClientAuth))), "wrong_key_usage", "client certificate"},
		{"CA for clients", ask(webhook, trustCA, issue(t, clientCA, "x", forDNS(webhook)), clientCA), "wrong_key_usage", ""},
		{"any usage", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), usable(x509.ExtKeyUsageAny))), "", ""},
		{"no usage", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), usable())), "", ""},

		{"name constraint", ask(webhook, trustCA, issue(t, narrow, "x", forDNS(webhook)), narrow), "name_constraint", ""},
		{"name constraint kept", ask("a.example.com", trustCA, issue(t, narrow, "x", forDNS("a.example.com")), narrow), "", ""},
		{"name constraint and expired", ask(webhook, trustCA, issue(t, narrowOld, "x", forDNS(webhook)), narrowOld), "cert_expired name_constraint", ""},

		{"issuer is no CA", ask(webhook, trustCA, issue(t, noCA, "x", forDNS(webhook)), noCA), "chain_invalid", "basicConstraints"},
		{"anchor is no CA", ask(webhook, trusting(noCA), issue(t, noCA, "x", forDNS(webhook))), "chain_invalid", ""},
		{"issuer may not sign", ask(webhook, trustCA, issue(t, noSign, "x", forDNS(webhook)), noSign), "chain_invalid", "keyCertSign"},
		{"issuer may not sign, system roots", ask(webhook, opaque(trustCA), issue(t, noSign, "x", forDNS(webhook)), noSign), "chain_invalid", "keyCertSign"},
		{"of two issuers the better one counts", ask(webhook, trustCA, issue(t, noSign, "x", forDNS(webhook), expired), noSign, twin), "cert_expired", ""},
		{"policy demanded", ask(webhook, trustCA, issue(t, strict, "x", forDNS(webhook)), strict), "chain_invalid", "no valid chains"},
		{"too long a path", ask(webhook, trustCA, issue(t, below, "x", forDNS(webhook)), below, flat), "chain_invalid", "pathLenConstraint"},
		{"critical extension", ask(webhook, trustCA, issue(t, ca, "x", forDNS(webhook), critical)), "chain_invalid", "1.2.3.4"},
		{"broken signature", ask(webhook, trustCA, &broken), "chain_invalid", ""},
		{"many certificates", ask(webhook, trustCA, append([]*issued{good}, repeat(other, maxChain)...)...), "chain_invalid", ""},

		{"weak key", ask(webhook, trustCA, issueRSA(t, 1024, ca, "x", forDNS(webhook))), "weak_crypto", ""},
		{"weak signature", ask(webhook, trusting(sha1), issue(t, sha1, "x", forDNS(webhook),
			func(c *x509.Certificate) { c.SignatureAlgorithm = x509.SHA1WithRSA })), "chain_invalid weak_crypto", ""},

		{"expired, wrong name, unknown issuer", ask("other.ns.svc", trusting(other), issue(t, ca, "x", forDNS(webhook), expired)),
			"cert_expired hostname_mismatch unknown_authority", ""},
		{"expired, wrong name, stale CA, for clients", ask("10.0.0.1", trusting(renewed), issue(t, ca, "x", expired, usable(x509.ExtKeyUsageClientAuth))),
			"cert_expired missing_ip_san stale_ca wrong_key_usage", ""},
		{"expired anchor, issuer no CA, weak", ask(webhook, trusting(oldCA), issueRSA(t, 1024, issue(t, oldCA, "y"), "x", forDNS(webhook))),
			"unknown_authority weak_crypto", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := new(chainCache).judge(tc.q)
			if diff := cmp.Diff(strings.Fields(tc.want), reasonIDs(v), cmp.Transformer("text", func(s []string) string { return fmt.Sprint(s) })); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if tc.notes != "" && !strings.Contains(strings.Join(append([]string{v.problems[0].Detail}, v.problems[0].Notes...), "\n"), tc.notes) {
				t.Errorf("%q and the notes %q: want %q in them", v.problems[0].Detail, v.problems[0].Notes, tc.notes)
			}
			checkAgainstGo(t, tc.q, v)
			checkBounds(t, v)
		})
	}
}

// TestUnexplainedRefusal makes up a refusal that no check knows of: it must not
// pass for good, whatever else is wrong.
func TestUnexplainedRefusal(t *testing.T) {
	j := &judgement{question: ask("other", trusting(), issue(t, nil, "x", forDNS(webhook)))}
	j.linked, j.strict = j.chain, errors.New("x509: a rule of tomorrow")
	j.checkName()
	j.checkRules()
	if last := j.problems[len(j.problems)-1]; last.Reason != reasonChainInvalid || last.Detail != "x509: a rule of tomorrow" {
		t.Errorf("the last problem is %v", last)
	}
}

// kubeletQuestion is a kubelet's certificate as it makes it without
// serverTLSBootstrap, judged by its address.
func kubeletQuestion(t *testing.T, trust *roots) question {
	ca := issue(t, nil, "node5-ca@1763700000", asCA)
	return ask("192.168.207.7", trust, issue(t, ca, "node5@1763700000", forDNS("node5")), ca)
}

func repeat(c *issued, n int) (out []*issued) {
	for range n {
		out = append(out, c)
	}
	return out
}

// checkAgainstGo compares the verdict with x509.Verify's: there are errors if
// and only if Go has one, except for what Go does not look at.
func checkAgainstGo(t *testing.T, q question, v *verdict) {
	t.Helper()
	intermediates := x509.NewCertPool()
	for _, c := range q.chain[1:] {
		intermediates.AddCert(c)
	}
	_, err := q.chain[0].Verify(x509.VerifyOptions{
		DNSName: q.name, Roots: q.roots.pool, Intermediates: intermediates, CurrentTime: q.now,
	})
	failed := false
	for _, p := range v.problems {
		failed = failed || p.Reason.Severity == Error
	}
	if len(q.chain) > maxChain || v.ocsp != nil {
		return
	}
	if failed != (err != nil) {
		t.Errorf("problems %v, but x509.Verify says %v", reasonIDs(v), err)
	}
}

// checkBounds makes sure that no text of a problem is longer than a peer may
// make it.
func checkBounds(t *testing.T, v *verdict) {
	t.Helper()
	for _, p := range v.problems {
		texts := append([]string{p.Detail, p.Expected, p.Received}, p.Notes...)
		if p.Err != nil {
			texts = append(texts, p.Err.Error())
		}
		if p.Detail == "" {
			t.Errorf("%s has no detail", p.Reason.ID)
		}
		for _, text := range texts {
			if len(text) > maxText {
				t.Errorf("%s: a text of %d bytes: %q", p.Reason.ID, len(text), text)
			}
		}
		if len(p.Notes) > maxChain {
			t.Errorf("%s has %d notes", p.Reason.ID, len(p.Notes))
		}
	}
	if len(v.chain) > maxChain {
		t.Errorf("%d certificates are kept", len(v.chain))
	}
}

func TestDefaultCertificates(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	subject := func(n pkix.Name) edit { return func(c *x509.Certificate) { c.Subject = n } }
	by := func(cn string, org ...string) *issued {
		return issue(t, nil, cn, asCA, subject(pkix.Name{CommonName: cn, Organization: org}))
	}
	for _, tc := range []struct {
		name string
		leaf *issued
		want string
	}{
		{"ingress-nginx", issue(t, nil, "Kubernetes Ingress Controller Fake Certificate", forDNS("ingress.local")), "default_cert hostname_mismatch self_signed"},
		{"traefik", issue(t, nil, "TRAEFIK DEFAULT CERT", forDNS("a.b.traefik.default")), "default_cert hostname_mismatch self_signed"},
		{"kong", issue(t, nil, "", subject(pkix.Name{CommonName: "localhost", Organization: []string{"Kong"}, OrganizationalUnit: []string{"IT Department"}})), "default_cert hostname_mismatch self_signed"},
		{"rancher", issue(t, by("dynamiclistener-ca@1", "dynamiclistener-org"), "", subject(pkix.Name{CommonName: "dynamic", Organization: []string{"dynamic"}}), forDNS("x")), "default_cert hostname_mismatch unknown_authority"},
		{"openshift", issue(t, by("ingress-operator@1"), "*.apps.x", forDNS("*.apps.x")), "default_cert hostname_mismatch unknown_authority"},
		{"caddy", issue(t, by("Caddy Local Authority - ECC Intermediate"), "", forDNS(webhook)), "default_cert unknown_authority"},
		{"trusted and fitting", issue(t, ca, "Kubernetes Ingress Controller Fake Certificate", forDNS(webhook)), ""},
		{"trusted, for another name", issue(t, ca, "TRAEFIK DEFAULT CERT", forDNS("x")), "default_cert hostname_mismatch"},
		{"localhost of another", issue(t, nil, "localhost", forDNS("localhost")), "hostname_mismatch self_signed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(reasonIDs(new(chainCache).judge(ask(webhook, trusting(ca), tc.leaf))), " ")
			if got != tc.want {
				t.Errorf("reasons %q, want %q", got, tc.want)
			}
		})
	}
}

func TestValidityBoundaries(t *testing.T) {
	ca := issue(t, nil, "ca", asCA, valid(-1000*time.Hour, 1000*time.Hour))
	leaf := issue(t, ca, "x", forDNS(webhook), valid(-time.Hour, time.Hour))
	for _, tc := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"just before", leaf.NotBefore.Add(-1), "cert_not_yet_valid"},
		{"first moment", leaf.NotBefore, ""},
		{"last moment", leaf.NotAfter, ""},
		{"just after", leaf.NotAfter.Add(1), "cert_expired"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := ask(webhook, trusting(ca), leaf)
			q.now = tc.at
			v := new(chainCache).judge(q)
			if got := strings.Join(reasonIDs(v), " "); got != tc.want {
				t.Errorf("reasons %q, want %q", got, tc.want)
			}
			checkAgainstGo(t, q, v)
		})
	}
}

// TestParticulars pins what a person reads of the commonest cases.
func TestParticulars(t *testing.T) {
	keyed := func(id byte) edit {
		return func(c *x509.Certificate) { c.SubjectKeyId = []byte{0x1f, 0x3a, 5, 6, 7, id} }
	}
	ca := issue(t, nil, "hook-ca", asCA, keyed(0x9c))
	renewed := issue(t, nil, "hook-ca", asCA, keyed(0x07))
	leaf := issue(t, renewed, "hook", forDNS("hook.ns.svc", "hook"), forIP("10.0.0.2"), valid(-50*time.Hour, -49*time.Hour))
	v := new(chainCache).judge(ask("10.0.0.1", trusting(ca), leaf))
	var got []Problem
	for _, p := range v.problems {
		got = append(got, Problem{Detail: p.Detail, Expected: p.Expected, Received: p.Received, Notes: p.Notes})
	}
	want := []Problem{{
		Detail:   "certificate 0 of the chain (CN=hook) expired 2 days ago, at 2026-11-19T11:00:00Z",
		Expected: "valid at 2026-11-21T12:00:00Z",
		Received: "CN=hook valid from 2026-11-19T10:00:00Z to 2026-11-19T11:00:00Z",
	}, {
		Detail:   "the certificate is for other addresses than 10.0.0.1",
		Expected: "a subject alternative name IP:10.0.0.1",
		Received: "DNS:hook.ns.svc, DNS:hook, IP:10.0.0.2",
	}, {
		Detail:   "CN=hook-ca is in the caBundle, with another key than signed certificate 0 of the chain (CN=hook)",
		Expected: "CN=hook-ca key 1f3a..9c until 2026-11-22 (the caBundle, 1 certificate)",
		Received: "CN=hook issued by CN=hook-ca key 1f3a..07",
		Notes:    []string{"same CA name, different key: the caBundle is newer than the certificate, which the peer has not renewed"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestHostileNames has as many names as fit into a handshake. The bounds are on
// what is kept; that the time is linear shows in that the test ends.
func TestHostileNames(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	var names []string
	for i := range 8000 {
		names = append(names, fmt.Sprintf("%s%d.\x1b[31m.example", strings.Repeat("*.", 3), i))
	}
	long := strings.Repeat("\x1b]0;long\a\u202e", 4000)
	leaf := issue(t, ca, long, forDNS(names...), func(c *x509.Certificate) {
		for range 3000 {
			c.IPAddresses = append(c.IPAddresses, net.IPv4(10, 0, 0, 9))
			c.Subject.ExtraNames = append(c.Subject.ExtraNames, pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: long[:100]})
		}
	})
	for _, name := range []string{"10.0.0.1", webhook, strings.Repeat("a.", 120) + "b"} {
		v := new(chainCache).judge(ask(name, trusting(), leaf))
		if len(v.problems) == 0 {
			t.Errorf("%q: no problem", name)
		}
		checkBounds(t, v)
		f := v.chain[0]
		if f.SANs != 11000 || len(f.DNSNames) != maxSANs || len(f.IPAddresses) != 0 || len(f.Subject) > maxText {
			t.Errorf("%q: %d SANs, kept %d and %d, subject of %d bytes", name, f.SANs, len(f.DNSNames), len(f.IPAddresses), len(f.Subject))
		}
	}
	if v := new(chainCache).judge(ask("10.0.0.9", trusting(ca), leaf)); len(v.problems) != 0 {
		t.Errorf("the last of many names fits, but there are problems: %v", reasonIDs(v))
	}
}
