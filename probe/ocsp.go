package probe

import (
	"bytes"
	"crypto/x509"
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
	j.ocsp.ThisUpdate, j.ocsp.NextUpdate = response.ThisUpdate, response.NextUpdate
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
