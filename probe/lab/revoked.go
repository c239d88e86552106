package lab

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"time"

	"golang.org/x/crypto/ocsp"
)

// startRevoked staples a response in which the CA itself says that the
// certificate was revoked an hour ago (RFC 6960).
func startRevoked(i *Instance) error {
	cert, err := i.lab.CA.Issue()
	if err != nil {
		return err
	}
	cert.OCSPStaple, err = i.lab.CA.revoke(cert.Leaf)
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}

func (ca *CA) revoke(cert *x509.Certificate) ([]byte, error) {
	response, err := ocsp.CreateResponse(ca.Cert, ca.Cert, ocsp.Response{
		Status:           ocsp.Revoked,
		SerialNumber:     cert.SerialNumber,
		ThisUpdate:       time.Now().Add(-time.Minute),
		NextUpdate:       time.Now().Add(time.Hour),
		RevokedAt:        time.Now().Add(-time.Hour),
		RevocationReason: ocsp.KeyCompromise,
	}, ca.Key)
	if err != nil {
		return nil, fmt.Errorf("making an OCSP response: %w", err)
	}
	return response, nil
}

// mustStaple adds the TLS feature status_request (RFC 7633, Section 4).
func mustStaple(c *x509.Certificate) {
	c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{
		Id:    asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24},
		Value: []byte{0x30, 3, 2, 1, 5}, // SEQUENCE { INTEGER 5 }
	})
}
