package probe

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"golang.org/x/crypto/ocsp"
)

const ocspInvalid = "invalid"

// readStaple judges the stapled response about the leaf (RFC 6960, Section 3.2).
// Without an issuer in sight there is no telling who signed it: it is invalid.
func (j *judgement) readStaple() {
	if len(j.stapled) == 0 {
		return
	}
	j.ocsp = &OCSP{Status: ocspInvalid}
	issuer := j.issuerOfLeaf()
	if issuer == nil {
		return
	}
	response, err := ocsp.ParseResponseForCert(j.stapled, j.leaf(), issuer)
	if err != nil {
		return
	}
	j.ocsp.ProducedAt, j.ocsp.ThisUpdate, j.ocsp.NextUpdate = response.ProducedAt, response.ThisUpdate, response.NextUpdate
	j.boundary(response.ThisUpdate, response.NextUpdate)
	if !j.mayRespond(response.Certificate, issuer) || !j.isCurrent(response) {
		return
	}
	switch response.Status {
	case ocsp.Good:
		j.ocsp.Status = "good"
	case ocsp.Revoked:
		j.ocsp.Status, j.ocsp.RevokedAt = "revoked", response.RevokedAt
	default:
		j.ocsp.Status = "unknown"
	}
}

// issuerOfLeaf returns the certificate that signed the leaf, nil if it is
// neither in the chain nor trusted.
func (j *judgement) issuerOfLeaf() *x509.Certificate {
	path := j.path()
	switch {
	case len(path) > 1:
		return path[1]
	case isSelfSigned(j.leaf()):
		return j.leaf()
	}
	return nil
}

// mayRespond reports whether the certificate within the response, which the
// issuer has signed, may speak for the issuer: x/crypto/ocsp leaves that to its
// caller (RFC 6960, Section 4.2.2.2). Without one the issuer signed itself.
func (j *judgement) mayRespond(responder, issuer *x509.Certificate) bool {
	if responder == nil || bytes.Equal(responder.Raw, issuer.Raw) {
		return true
	}
	j.boundary(responder.NotBefore, responder.NotAfter)
	return slices.Contains(responder.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) &&
		!j.now.Before(responder.NotBefore) && !j.now.After(responder.NotAfter)
}

func (j *judgement) isCurrent(response *ocsp.Response) bool {
	return !j.now.Before(response.ThisUpdate) &&
		(response.NextUpdate.IsZero() || !j.now.After(response.NextUpdate))
}

func (j *judgement) checkRevocation() {
	if j.ocsp == nil || j.ocsp.Status != "revoked" {
		return
	}
	p := reasonCertRevoked.problem("the stapled OCSP response says that %s is revoked since %s",
		j.place(j.leaf()), timeText(j.ocsp.RevokedAt))
	p.Expected = "an OCSP status of good"
	p.Received = "revoked " + span(j.now.Sub(j.ocsp.RevokedAt)) + " ago, serial " + cut(j.leaf().SerialNumber.Text(16))
	j.add(p)
}

// tlsFeature is the extension by which a certificate demands extensions of TLS
// from its server (RFC 7633, Section 4).
var tlsFeature = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}

// statusRequest is the TLS extension that carries a stapled response (RFC 6066,
// Section 8). Go's client always asks for it.
const statusRequest = 5

// mustStaple reports whether c demands a stapled response from its server.
func mustStaple(c *x509.Certificate) bool {
	for _, extension := range c.Extensions {
		var features []int
		if extension.Id.Equal(tlsFeature) {
			rest, err := asn1.Unmarshal(extension.Value, &features)
			return err == nil && len(rest) == 0 && slices.Contains(features, statusRequest)
		}
	}
	return false
}

// checkStaple finds a staple that the certificate demands and the server does
// not deliver. One that nobody could judge, as the issuer is not known, is left
// to what is said of the issuer.
func (j *judgement) checkStaple() {
	if !mustStaple(j.leaf()) {
		return
	}
	received := ""
	switch {
	case j.ocsp == nil:
		received = "no OCSP response"
	case j.ocsp.Status == ocspInvalid && j.issuerOfLeaf() != nil:
		received = "an OCSP response that is not valid"
		if next := j.ocsp.NextUpdate; !next.IsZero() && j.now.After(next) {
			received = "an OCSP response that was to be renewed by " + timeText(next)
		}
	default:
		return
	}
	p := reasonStapleMissing.problem("%s demands a stapled OCSP response, and the server sent %s", j.place(j.leaf()), received)
	p.Expected = "a valid stapled OCSP response (TLS feature status_request)"
	p.Received = received
	j.add(p)
}
