package lab

import (
	"crypto/tls"

	"tlsprobe/probe"
)

// configScenarios are good servers that the target's configuration keeps from
// being probed well.
func configScenarios() []Scenario {
	return []Scenario{
		{Name: "config-no-port", Summary: "an address without a port", Reasons: []string{"target_misconfigured"},
			start: func(i *Instance) error {
				i.Target.Address = "127.0.0.1"
				return nil
			}},
		{Name: "config-ca-bundle", Summary: "a good server, and a CA bundle that is not PEM",
			Reasons: []string{"ca_bundle_invalid"},
			start: func(i *Instance) error {
				i.Target.Trust = probe.Trust{PEM: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}
				return i.serveIssued()
			}},
		{Name: "config-bad-keypair", Summary: "a good server, and a client certificate with the key of another",
			Reasons: []string{"bad_keypair"},
			start:   startBadKeypair},
		{Name: "config-client-cert-expired", Summary: "asks for a client certificate, and ours has expired",
			Reasons: []string{"client_cert_expired"},
			start:   startExpiredClient},
	}
}

func startBadKeypair(i *Instance) error {
	client, err := i.lab.CA.IssueClient("tlsprobe")
	if err != nil {
		return err
	}
	if client.PrivateKey, err = newKey(); err != nil {
		return err
	}
	if err := i.present(client); err != nil {
		return err
	}
	return i.serveIssued()
}

// startExpiredClient runs a server that takes any client certificate, so that
// only we can notice.
func startExpiredClient(i *Instance) error {
	client, err := i.lab.CA.IssueClient("tlsprobe", expired)
	if err != nil {
		return err
	}
	return startWithClientCert(i, client, func(cfg *tls.Config) { cfg.ClientAuth = tls.RequestClientCert })
}
