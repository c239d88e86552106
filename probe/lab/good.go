package lab

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"

	"tlsprobe/probe"
)

// goodScenarios are servers with nothing wrong: a probe must find no reason and
// leave no line in their log.
func goodScenarios() []Scenario {
	return []Scenario{
		{Name: "good-tls", Summary: "a TLS server with nothing wrong",
			start: func(i *Instance) error {
				cfg, err := i.goodConfig()
				if err != nil {
					return err
				}
				return i.serveTLS(cfg)
			}},
		{Name: "good-chain", Summary: "a TLS server whose certificate is signed by an intermediate CA",
			start: func(i *Instance) error {
				intermediate, err := i.lab.CA.Intermediate("tlsprobe lab intermediate CA")
				if err != nil {
					return err
				}
				cert, err := intermediate.Issue()
				if err != nil {
					return err
				}
				return i.serveCertificate(cert)
			}},
		{Name: "good-https", Summary: "an HTTPS server that answers 200",
			start: func(i *Instance) error {
				return i.requestAt(http.HandlerFunc(answerOK))
			}},
		{Name: "good-mtls", Summary: "a server that requires a client certificate, and gets one",
			start: func(i *Instance) error { return startMutualTLS(i, tls.VersionTLS13) }},
		{Name: "good-redirect", Summary: "an http server that redirects to https",
			start: startGoodRedirect},
	}
}

// requestAt serves handler over good TLS and makes it the target of an http
// module.
func (i *Instance) requestAt(handler http.Handler, edits ...func(*probe.HTTPProber)) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	return i.requestWith(cfg, handler, edits...)
}

// requestWith is requestAt for TLS as cfg says.
func (i *Instance) requestWith(cfg *tls.Config, handler http.Handler, edits ...func(*probe.HTTPProber)) error {
	url, err := i.serveHTTPSWith(cfg, handler)
	i.Target.Address = url + "/"
	i.Target.Module = httpModule(edits...)
	return err
}

// startMutualTLS runs a server that requires a client certificate of the lab's
// CA, and gives the target one.
func startMutualTLS(i *Instance, maxVersion uint16) error {
	client, err := i.lab.CA.IssueClient("tlsprobe")
	if err != nil {
		return err
	}
	return startWithClientCert(i, client, func(cfg *tls.Config) { cfg.MaxVersion = maxVersion })
}

// startWithClientCert runs a server that requires a client certificate of the
// lab's CA, with cfg edited, and makes the target present client.
func startWithClientCert(i *Instance, client tls.Certificate, edit func(*tls.Config)) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	cfg.ClientAuth = tls.RequireAndVerifyClientCert
	cfg.ClientCAs = x509.NewCertPool()
	cfg.ClientCAs.AddCert(i.lab.CA.Cert)
	edit(cfg)
	if err := i.present(client); err != nil {
		return err
	}
	return i.serveTLS(cfg)
}

// present makes the target use a tls module with this client certificate.
func (i *Instance) present(client tls.Certificate) error {
	dir, err := i.lab.mkdir()
	if err != nil {
		return err
	}
	certFile, keyFile, err := WriteKeyPair(dir, "client", client)
	i.Target.Module = tlsModule(func(p *probe.TLSProber) {
		p.TLSConfig.CertFile, p.TLSConfig.KeyFile = certFile, keyFile
	})
	return err
}

func startGoodRedirect(i *Instance) error {
	https, err := i.serveHTTPS(http.HandlerFunc(answerOK))
	if err != nil {
		return err
	}
	plain, err := i.serveHTTP(http.RedirectHandler(https+"/", http.StatusMovedPermanently))
	if err != nil {
		return err
	}
	i.Target.Address = plain + "/"
	i.Target.Module = httpModule(func(p *probe.HTTPProber) { p.RequireHTTPS = true })
	return nil
}
