package lab

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// clientCertScenarios are Go servers that require a client certificate of the
// lab's CA and do not get a good one.
func clientCertScenarios() []Scenario {
	return []Scenario{
		{Name: "client-cert-required", Summary: "requires a client certificate over TLS 1.3, where we have none",
			Reasons: []string{"client_cert_required"},
			start:   func(i *Instance) error { return startRequiring(i, tls.VersionTLS13) }},
		{Name: "client-cert-required-tls12", Summary: "requires a client certificate over TLS 1.2, where we have none",
			Reasons: []string{"client_cert_required"},
			start:   func(i *Instance) error { return startRequiring(i, tls.VersionTLS12) }},
		{Name: "client-cert-unknown-ca", Summary: "does not know the CA of our client certificate",
			Reasons: []string{"alert_unknown_ca"},
			start:   func(i *Instance) error { return startUnknownClientCA(i, tls.VersionTLS13) }},
		{Name: "client-cert-unknown-ca-tls12", Summary: "does not know the CA of our client certificate, over TLS 1.2",
			Reasons: []string{"alert_unknown_ca"},
			start:   func(i *Instance) error { return startUnknownClientCA(i, tls.VersionTLS12) }},
		{Name: "client-cert-clock", Summary: "has a clock by which our client certificate has expired",
			Reasons: []string{"alert_certificate_expired"},
			start:   startClockAhead},
		{Name: "client-cert-usage", Summary: "gets a client certificate that is for servers",
			Reasons: []string{"bad_certificate"},
			start:   startServerCertAsClient},
	}
}

func startRequiring(i *Instance, maxVersion uint16) error {
	return i.serveGood(func(cfg *tls.Config) {
		cfg.ClientAuth = tls.RequireAnyClientCert
		cfg.MaxVersion = maxVersion
	})
}

func startUnknownClientCA(i *Instance, maxVersion uint16) error {
	other, err := NewCA("another CA")
	if err != nil {
		return err
	}
	client, err := other.IssueClient("tlsprobe")
	if err != nil {
		return err
	}
	return startWithClientCert(i, client, func(cfg *tls.Config) { cfg.MaxVersion = maxVersion })
}

func startClockAhead(i *Instance) error {
	client, err := i.lab.CA.IssueClient("tlsprobe")
	if err != nil {
		return err
	}
	return startWithClientCert(i, client, func(cfg *tls.Config) {
		cfg.Time = func() time.Time { return time.Now().AddDate(1, 0, 0) }
	})
}

func startServerCertAsClient(i *Instance) error {
	client, err := i.lab.CA.IssueClient("tlsprobe", func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
	if err != nil {
		return err
	}
	return startWithClientCert(i, client, func(*tls.Config) {})
}
