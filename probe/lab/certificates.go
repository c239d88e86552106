package lab

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"net"
	"time"
)

// certificateScenarios are servers with nothing wrong but their certificate.
func certificateScenarios() []Scenario {
	return append([]Scenario{
		certificate("cert-expired", "has a certificate that expired a minute ago", expired, "cert_expired"),
		certificate("cert-not-yet-valid", "has a certificate that is valid from tomorrow", notYetValid, "cert_not_yet_valid"),
		certificate("cert-other-name", "has a certificate for another name", dnsNames("other.lab.test"), "hostname_mismatch"),
		certificate("cert-no-names", "has a certificate with a URI and no names", onlyURI, "hostname_mismatch"),
		certificate("cert-common-name", "has its name in the common name only", onlyCommonName, "legacy_common_name"),
		certificate("cert-client-usage", "has a certificate that is for clients", clientUsage, "wrong_key_usage"),
		certificate("cert-several-faults", "has an expired certificate for another name and for clients", severalFaults,
			"cert_expired", "hostname_mismatch", "wrong_key_usage"),
		{Name: "cert-no-ip", Summary: "has a certificate without IP addresses, and is reached by one",
			Reasons: []string{"missing_ip_san"},
			start: func(i *Instance) error {
				i.Target.ServerName = ""
				return i.serveIssued(dnsNames(Host))
			}},
		{Name: "cert-other-ip", Summary: "has a certificate for another IP address",
			Reasons: []string{"hostname_mismatch"},
			start: func(i *Instance) error {
				i.Target.ServerName = ""
				return i.serveIssued(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)} })
			}},
	}, issuerScenarios()...)
}

// certificate is a scenario of a certificate of the lab's CA with one edit.
func certificate(name, summary string, edit Edit, reasons ...string) Scenario {
	return Scenario{Name: name, Summary: summary, Reasons: reasons,
		start: func(i *Instance) error { return i.serveIssued(edit) }}
}

func (i *Instance) serveIssued(edits ...Edit) error {
	cert, err := i.lab.CA.Issue(edits...)
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}

// serveIssuedBy is serveIssued for a CA that was just made.
func (i *Instance) serveIssuedBy(ca *CA, err error) error {
	if err != nil {
		return err
	}
	cert, err := ca.Issue()
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}

func expired(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(-24*time.Hour), time.Now().Add(-time.Minute)
}

func notYetValid(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour)
}

func onlyURI(c *x509.Certificate) {
	c.Subject = pkix.Name{}
	c.DNSNames, c.IPAddresses = nil, nil
	c.URIs = spiffe("default", "server")
}

func onlyCommonName(c *x509.Certificate) {
	c.Subject = pkix.Name{CommonName: Host}
	c.DNSNames, c.IPAddresses = nil, nil
}

func clientUsage(c *x509.Certificate) {
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
}

func severalFaults(c *x509.Certificate) {
	expired(c)
	clientUsage(c)
	c.DNSNames, c.IPAddresses = []string{"other.lab.test"}, nil
}

// issuerScenarios are certificates with a fault above the leaf, or in how they
// were made.
func issuerScenarios() []Scenario {
	return []Scenario{
		{Name: "cert-expired-intermediate", Summary: "has a valid certificate below an expired intermediate CA",
			Reasons: []string{"cert_expired"},
			start: func(i *Instance) error {
				return i.serveIssuedBy(i.lab.CA.Intermediate("expired intermediate CA", expired))
			}},
		{Name: "cert-self-signed", Summary: "has a self-signed certificate", Reasons: []string{"self_signed"},
			start: func(i *Instance) error {
				cert, err := SelfSigned()
				if err != nil {
					return err
				}
				return i.serveCertificate(cert)
			}},
		{Name: "cert-unknown-ca", Summary: "has a certificate of a CA that is not trusted",
			Reasons: []string{"unknown_authority"},
			start:   func(i *Instance) error { return i.serveIssuedBy(NewCA("another CA")) }},
		{Name: "cert-incomplete-chain", Summary: "does not send its intermediate CA", Reasons: []string{"unknown_authority"},
			start: startIncompleteChain},
		{Name: "cert-stale-ca", Summary: "has a certificate of a CA with the trusted one's name and another key",
			Reasons: []string{"stale_ca"},
			start:   func(i *Instance) error { return i.serveIssuedBy(NewCA(i.lab.CA.Cert.Subject.CommonName)) }},
		{Name: "cert-name-constraint", Summary: "has a CA that may sign for another domain only",
			Reasons: []string{"name_constraint"},
			start:   startNameConstraint},
		{Name: "cert-chain-not-ca", Summary: "has a certificate signed by one that is no CA", Reasons: []string{"chain_invalid"},
			start: func(i *Instance) error {
				return i.serveIssuedBy(i.lab.CA.Intermediate("no CA", func(c *x509.Certificate) {
					c.IsCA, c.KeyUsage = false, x509.KeyUsageDigitalSignature
				}))
			}},
		{Name: "cert-chain-path-length", Summary: "has a chain longer than its CA allows", Reasons: []string{"chain_invalid"},
			start: startPathLength},
		{Name: "cert-revoked", Summary: "staples an OCSP response that says revoked", Reasons: []string{"cert_revoked"},
			start: startRevoked},
		certificate("cert-must-staple", "demands a stapled OCSP response, and staples none", mustStaple, "ocsp_staple_missing"),
		{Name: "cert-weak-rsa", Summary: "has an RSA key of 1024 bits", Reasons: []string{"weak_crypto"},
			start: startWeakRSA},
		certificate("cert-sha1", "has a certificate that is signed with SHA-1", sha1Signature, "chain_invalid", "weak_crypto"),
		{Name: "cert-negative-serial", Summary: "has a certificate with a negative serial number",
			Reasons: []string{"malformed_certificate"},
			start:   startNegativeSerial},
		{Name: "cert-default-ingress-nginx", Summary: "serves the fake certificate of ingress-nginx",
			Reasons: []string{"default_cert", "hostname_mismatch", "self_signed"},
			start:   startIngressFakeCertificate},
		{Name: "cert-default-traefik", Summary: "serves the default certificate of Traefik",
			Reasons: []string{"default_cert", "hostname_mismatch", "self_signed"},
			start:   startTraefikDefault},
	}
}

func startIncompleteChain(i *Instance) error {
	intermediate, err := i.lab.CA.Intermediate("unsent intermediate CA")
	if err != nil {
		return err
	}
	cert, err := intermediate.Issue()
	if err != nil {
		return err
	}
	cert.Certificate = cert.Certificate[:1]
	return i.serveCertificate(cert)
}

func startNameConstraint(i *Instance) error {
	return i.serveIssuedBy(i.lab.CA.Intermediate("constrained CA", func(c *x509.Certificate) {
		c.PermittedDNSDomainsCritical = true
		c.PermittedDNSDomains = []string{"example.com"}
	}))
}

func startPathLength(i *Instance) error {
	last, err := i.lab.CA.Intermediate("last CA", func(c *x509.Certificate) { c.MaxPathLenZero = true })
	if err != nil {
		return err
	}
	return i.serveIssuedBy(last.Intermediate("one CA too many"))
}

func startWeakRSA(i *Instance) error {
	key, err := i.lab.rsaKey(1024)
	if err != nil {
		return err
	}
	cert, err := i.lab.CA.IssueFor(key)
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}

func sha1Signature(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 }

// startNegativeSerial changes the sign of the serial number after signing. Go
// rejects such a certificate when it parses it (RFC 5280, Section 4.1.2.2).
func startNegativeSerial(i *Instance) error {
	cert, err := i.lab.CA.Issue()
	if err != nil {
		return err
	}
	serial, err := asn1.Marshal(cert.Leaf.SerialNumber)
	if err != nil {
		return err
	}
	der := cert.Leaf.Raw
	const tagAndLength = 2
	der[bytes.Index(der, serial)+tagAndLength] |= 0x80
	return i.serveTLS(withCertificate(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: cert.PrivateKey}))
}
