package lab

import (
	"crypto/x509"
	"crypto/x509/pkix"
)

// startIngressFakeCertificate serves what ingress-nginx serves for a host that
// it has no Secret for (internal/net/ssl, GetFakeSSLCert).
func startIngressFakeCertificate(i *Instance) error {
	return i.serveDefaultCertificate(ingressFake)
}

func ingressFake(c *x509.Certificate) {
	c.Subject = pkix.Name{
		Organization: []string{"Acme Co"},
		CommonName:   "Kubernetes Ingress Controller Fake Certificate",
	}
	c.KeyUsage = x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature
	c.DNSNames, c.IPAddresses = []string{"ingress.local"}, nil
}

// startTraefikDefault serves Traefik's (pkg/tls/generate).
func startTraefikDefault(i *Instance) error {
	const hash = "d41d8cd98f00b204e9800998ecf8427e.e9800998ecf8427ed41d8cd98f00b204"
	return i.serveDefaultCertificate(func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: "TRAEFIK DEFAULT CERT"}
		c.DNSNames, c.IPAddresses = []string{hash + ".traefik.default"}, nil
	})
}

// serveDefaultCertificate serves a self-signed certificate with an RSA key of
// 2048 bits, as the products do.
func (i *Instance) serveDefaultCertificate(edit Edit) error {
	key, err := i.lab.rsaKey(2048)
	if err != nil {
		return err
	}
	cert, err := selfSignedFor(key, edit)
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}
