package lab

import (
	"crypto/tls"
	"crypto/x509"
	"net"
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
		{Name: "client-cert-required-slow", Summary: "takes a while over TLS 1.3 to say that it requires a client certificate",
			Reasons: []string{"client_cert_required"}, start: startRequiringSlowly},
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

// slowVerdict is longer than a prober waits for a peer's close_notify when there
// is nothing to judge.
const slowVerdict = 1500 * time.Millisecond

func startRequiringSlowly(i *Instance) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	cfg.ClientAuth = tls.RequireAnyClientCert
	return i.serveTLSBehind(cfg, func(c *peerConn) net.Conn { return &slowJudge{peerConn: c} })
}

// slowJudge reads nothing for a while once it has written: the client's last
// flight, and with it the certificate, waits.
type slowJudge struct {
	*peerConn
	written bool
}

func (c *slowJudge) Write(b []byte) (int, error) {
	c.written = true
	return c.peerConn.Write(b)
}

func (c *slowJudge) Read(b []byte) (int, error) {
	if c.written {
		c.written = false
		time.Sleep(slowVerdict)
	}
	return c.peerConn.Read(b)
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
