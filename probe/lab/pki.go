package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Host is the name that the lab's good certificates are for; they also cover
// 127.0.0.1, ::1 and localhost.
const Host = "good.lab.test"

// A CA signs the lab's certificates. Keys are made at run time and are P-256.
type CA struct {
	Cert  *x509.Certificate
	Key   crypto.Signer
	chain [][]byte // DER, from this CA up to below the root: what a server has to send
}

// An Edit changes a certificate's template before it is signed.
type Edit func(*x509.Certificate)

// NewCA makes a self-signed root CA of this common name.
func NewCA(name string, edits ...Edit) (*CA, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := caTemplate(name, edits)
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &CA{Cert: cert, Key: key}, nil
}

// Intermediate makes a CA below ca. What it issues is served with its own
// certificate behind.
func (ca *CA) Intermediate(name string, edits ...Edit) (*CA, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := sign(caTemplate(name, edits), ca.Cert, key.Public(), ca.Key)
	if err != nil {
		return nil, err
	}
	return &CA{Cert: cert, Key: key, chain: append([][]byte{cert.Raw}, ca.chain...)}, nil
}

// PEM returns the CA's certificate for a [probe.Trust].
func (ca *CA) PEM() string { return certificatePEM(ca.Cert.Raw) }

// Issue makes a server certificate for [Host], valid from an hour ago for a day
// unless an edit says otherwise, with the chain to send behind it.
func (ca *CA) Issue(edits ...Edit) (tls.Certificate, error) {
	key, err := newKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	return ca.IssueFor(key, edits...)
}

// IssueFor is [CA.Issue] for a key that exists already.
func (ca *CA) IssueFor(key crypto.Signer, edits ...Edit) (tls.Certificate, error) {
	cert, err := sign(leafTemplate(edits), ca.Cert, key.Public(), ca.Key)
	if err != nil {
		return tls.Certificate{}, err
	}
	chain := append([][]byte{cert.Raw}, ca.chain...)
	return tls.Certificate{Certificate: chain, PrivateKey: key, Leaf: cert}, nil
}

// IssueClient makes a client certificate of this common name.
func (ca *CA) IssueClient(name string, edits ...Edit) (tls.Certificate, error) {
	asClient := func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: name}
		c.DNSNames, c.IPAddresses = nil, nil
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	return ca.Issue(append([]Edit{asClient}, edits...)...)
}

// SelfSigned makes a server certificate that is signed by its own key.
func SelfSigned(edits ...Edit) (tls.Certificate, error) {
	key, err := newKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	return selfSignedFor(key, edits...)
}

func selfSignedFor(key crypto.Signer, edits ...Edit) (tls.Certificate, error) {
	template := leafTemplate(edits)
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, nil
}

// WriteKeyPair writes cert and its key as PEM files NAME.crt and NAME.key below
// dir, the key readable by the owner only.
func WriteKeyPair(dir, name string, cert tls.Certificate) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return "", "", fmt.Errorf("encoding the key of %q: %w", name, err)
	}
	if err := os.WriteFile(certFile, []byte(certificatePEM(cert.Certificate...)), 0o644); err != nil {
		return "", "", err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	return certFile, keyFile, os.WriteFile(keyFile, keyPEM, 0o600)
}

func caTemplate(name string, edits []Edit) *x509.Certificate {
	return apply(edits, &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"tlsprobe lab"}, CommonName: name},
		NotBefore:             time.Now().Add(-2 * time.Hour),
		NotAfter:              time.Now().Add(48 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
}

func leafTemplate(edits []Edit) *x509.Certificate {
	return apply(edits, &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"tlsprobe lab"}, CommonName: Host},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:              []string{Host, "localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
}

func apply(edits []Edit, template *x509.Certificate) *x509.Certificate {
	for _, edit := range edits {
		edit(template)
	}
	return template
}

// sign makes a certificate. A template without a serial number gets a random one.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	if template.SerialNumber == nil {
		serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
		if err != nil {
			return nil, fmt.Errorf("making a serial number: %w", err)
		}
		template.SerialNumber = serial.Add(serial, big.NewInt(1))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %q: %w", template.Subject, err)
	}
	return x509.ParseCertificate(der)
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

func certificatePEM(chain ...[]byte) string {
	var out []byte
	for _, der := range chain {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return string(out)
}

// dnsNames is an [Edit] that makes names the only ones of a certificate; the
// first is its common name too.
func dnsNames(names ...string) Edit {
	return func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: names[0]}
		c.DNSNames, c.IPAddresses = names, nil
	}
}
