package cluster

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
	"time"
)

// A CA signs certificates. Keys are P-256 and made at run time.
type CA struct {
	Cert *x509.Certificate
	key  crypto.Signer
}

// NewCA makes a self-signed CA of this common name.
func NewCA(name string) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &CA{Cert: cert, key: key}, nil
}

// PEM returns the CA's certificate, as a caBundle holds it.
func (ca *CA) PEM() []byte { return certificatePEM(ca.Cert.Raw) }

// Server makes a server certificate for hosts, names and IP addresses, valid for a
// day. Edits change it before it is signed.
func (ca *CA) Server(hosts []string, edits ...func(*x509.Certificate)) (tls.Certificate, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return ca.issue(template, edits...)
}

// Client makes a client certificate: for Kubernetes, a user of this name in groups.
func (ca *CA) Client(user string, groups ...string) (tls.Certificate, error) {
	return ca.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (ca *CA) issue(template *x509.Certificate, edits ...func(*x509.Certificate)) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature
	cert, err := sign(template, ca.Cert, key.Public(), ca.key, edits...)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, nil
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer, edits ...func(*x509.Certificate)) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	for _, edit := range edits {
		edit(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %q: %w", template.Subject, err)
	}
	return x509.ParseCertificate(der)
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// keyPEM encodes a private key (PKCS #8).
func keyPEM(key any) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// WritePair writes FILE.crt and FILE.key.
func WritePair(file string, pair tls.Certificate) error {
	key, err := keyPEM(pair.PrivateKey)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".crt", certificatePEM(pair.Certificate[0]), 0o644); err != nil {
		return err
	}
	return os.WriteFile(file+".key", key, 0o600)
}
