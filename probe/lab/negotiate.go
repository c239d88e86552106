package lab

import (
	"crypto/tls"
	"errors"

	"tlsprobe/probe"
)

// negotiationScenarios are Go servers that have nothing in common with the
// client, or nothing to serve.
func negotiationScenarios() []Scenario {
	return []Scenario{
		{Name: "negotiate-version-new", Summary: "speaks TLS 1.3 only, to a client of TLS 1.2",
			Reasons: []string{"protocol_version"},
			start: func(i *Instance) error {
				i.Target.Module = tlsModule(func(p *probe.TLSProber) { p.TLSConfig.MaxVersion = tls.VersionTLS12 })
				return i.serveGood(func(cfg *tls.Config) { cfg.MinVersion = tls.VersionTLS13 })
			}},
		{Name: "negotiate-version-old", Summary: "speaks TLS 1.1 at most",
			Reasons: []string{"protocol_version"},
			start: func(i *Instance) error {
				return i.serveGood(func(cfg *tls.Config) {
					cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
				})
			}},
		{Name: "negotiate-cipher", Summary: "has no cipher suite in common with the client",
			Reasons: []string{"handshake_failure"},
			start: func(i *Instance) error {
				return i.serveGood(func(cfg *tls.Config) {
					cfg.MaxVersion = tls.VersionTLS12
					cfg.CipherSuites = []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}
				})
			}},
		{Name: "negotiate-alpn", Summary: "speaks acme-tls/1 only", Reasons: []string{"no_application_protocol"},
			start: func(i *Instance) error {
				return i.serveGood(func(cfg *tls.Config) { cfg.NextProtos = []string{"acme-tls/1"} })
			}},
		{Name: "negotiate-alpn-ignored", Summary: "agrees on no ALPN protocol where h2 is required",
			Reasons: []string{"alpn_mismatch"},
			start: func(i *Instance) error {
				i.Target.Module = tlsModule(func(p *probe.TLSProber) { p.RequireALPN = []string{"h2"} })
				return i.serveGood(func(cfg *tls.Config) { cfg.NextProtos = nil })
			}},
		{Name: "negotiate-no-certificate", Summary: "has no certificate at all", Reasons: []string{"unrecognized_name"},
			start: func(i *Instance) error { return i.serveTLS(&tls.Config{}) }},
		{Name: "negotiate-certificate-error", Summary: "fails to load its certificate", Reasons: []string{"alert_internal_error"},
			start: func(i *Instance) error { return i.serveNoCertificate("no certificate available for " + Host) }},
	}
}

// serveGood is serveTLS for a server that has nothing wrong but for edit.
func (i *Instance) serveGood(edit func(*tls.Config)) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	edit(cfg)
	return i.serveTLS(cfg)
}

// serveNoCertificate runs a server that fails with these words when it looks for
// its certificate.
func (i *Instance) serveNoCertificate(words string) error {
	return i.serveTLS(&tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New(words) },
		NextProtos:     []string{"h2", "http/1.1"},
	})
}
