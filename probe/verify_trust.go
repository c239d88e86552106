package probe

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// checkTrust says why no path leads to a trust anchor. The reasons exclude each
// other. A stale CA is looked for first: it explains both others, and to trust
// what the peer sent would be the wrong cure.
func (j *judgement) checkTrust() {
	if j.trusted != nil || j.brokenSignature() {
		return
	}
	var p Problem
	top := j.linked[len(j.linked)-1]
	child, stale := j.staleAnchor()
	switch {
	case stale != nil:
		p = j.staleProblem(child, stale)
	case isSelfSigned(top) && len(j.linked) == 1:
		p = reasonSelfSigned.problem("the certificate is signed by its own key, and is not in %s", j.roots.name())
		p.Notes = makerNote(j.leaf())
	case isSelfSigned(top):
		p = reasonSelfSigned.problem("the chain ends in %s, which is self-signed and not in %s", subjectOf(top), j.roots.name())
		p.Notes = makerNote(j.leaf())
	default:
		p = reasonUnknownAuthority.problem("%s is not in %s", nameText(top.Issuer), j.roots.name())
		p.Notes = append(j.incompleteNotes(top), makerNote(j.leaf())...)
	}
	p.Expected = j.anchorsText(stale)
	p.Received = j.issuedText(top)
	p.Notes = append(p.Notes, j.poolNotes()...)
	p.Err = textError(j.strictTrust())
	j.add(p)
}

// strictTrust is the error of a client that gets as far as the trust.
func (j *judgement) strictTrust() error {
	var unknown x509.UnknownAuthorityError
	if errors.As(j.strict, &unknown) {
		return j.strict
	}
	return x509.UnknownAuthorityError{Cert: j.leaf()}
}

// staleAnchor finds a trust anchor that has the name of a certificate's issuer
// and another key.
func (j *judgement) staleAnchor() (child, anchor *x509.Certificate) {
	for _, c := range j.linked {
		for _, root := range j.roots.certs {
			if isIssuer(c, root) && !signedBy(c, root) {
				return c, root
			}
		}
	}
	return nil, nil
}

func (j *judgement) staleProblem(child, anchor *x509.Certificate) Problem {
	p := reasonStaleCA.problem("%s is in %s, with another key than signed %s", subjectOf(anchor), j.roots.name(), j.place(child))
	if child.NotBefore.After(anchor.NotBefore) {
		p.Notes = append(p.Notes, fmt.Sprintf("same CA name, different key: the CA was renewed, %s was not", j.roots.name()))
	} else {
		p.Notes = append(p.Notes, fmt.Sprintf("same CA name, different key: %s is newer than the certificate, which the peer has not renewed", j.roots.name()))
	}
	return p
}

// brokenSignature reports a certificate whose issuer is at hand by name and key
// identifier, and did not sign it.
func (j *judgement) brokenSignature() bool {
	for _, c := range j.linked {
		for _, issuer := range slices.Concat(j.chain, j.roots.certs) {
			if !isIssuer(c, issuer) || !sameKeyID(c, issuer) || signedBy(c, issuer) {
				continue
			}
			p := reasonChainInvalid.problem("the signature of %s does not fit, though it names the key of %s", j.place(c), subjectOf(issuer))
			p.Err = textError(j.strict)
			j.add(p)
			return true
		}
	}
	return false
}

// incompleteNotes says what an intermediate that was not sent looks like.
func (j *judgement) incompleteNotes(top *x509.Certificate) (notes []string) {
	if old := slices.IndexFunc(j.chain, func(c *x509.Certificate) bool { return c != top && isIssuer(top, c) }); old >= 0 {
		return []string{fmt.Sprintf("certificate %d of the chain has the issuer's name and another key: an old chain was kept beside a new certificate", old)}
	}
	sent := "certificates"
	if j.sent == 1 {
		sent = "certificate"
	}
	notes = append(notes, fmt.Sprintf("the peer sent %d %s, and not its issuer: if that is an intermediate CA, the chain is incomplete", j.sent, sent))
	if len(top.IssuingCertificateURL) > 0 {
		notes = append(notes, "the certificate says that its issuer is at "+cut(top.IssuingCertificateURL[0]))
	}
	return notes
}

// poolNotes points out a pool without any CA, as in a container image without
// ca-certificates.
func (j *judgement) poolNotes() []string {
	pool := j.roots.pool
	if pool == nil {
		system, err := x509.SystemCertPool()
		if err != nil {
			return []string{"the system's roots cannot be read: " + err.Error()}
		}
		pool = system
	}
	if pool.Equal(x509.NewCertPool()) {
		return []string{j.roots.name() + " holds no certificate at all"}
	}
	return nil
}

// anchorsText describes the roots: the one that ought to fit, else the first.
func (j *judgement) anchorsText(anchor *x509.Certificate) string {
	if len(j.roots.certs) == 0 {
		return "a chain to one of " + j.roots.name()
	}
	if anchor == nil {
		anchor = j.roots.certs[0]
	}
	count := "1 certificate"
	if n := len(j.roots.certs); n > 1 {
		count = fmt.Sprintf("and %d more", n-1)
	}
	text := withKeyID(subjectOf(anchor), "key", anchor.SubjectKeyId)
	return fmt.Sprintf("%s until %s (%s, %s)", text, anchor.NotAfter.UTC().Format("2006-01-02"), j.roots.name(), count)
}

// issuedText describes who issued what.
func (j *judgement) issuedText(top *x509.Certificate) string {
	text := withKeyID(subjectOf(j.leaf())+" issued by "+nameText(j.leaf().Issuer), "key", j.leaf().AuthorityKeyId)
	if top != j.leaf() && !isSelfSigned(top) {
		text += withKeyID("; the last of the chain by "+nameText(top.Issuer), "key", top.AuthorityKeyId)
	}
	return text
}
