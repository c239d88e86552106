package probe

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// skewSuspected is how soon a certificate that is not valid yet must become so
// for our clock to be the likelier fault: issuers backdate by as much, or not at
// all.
const skewSuspected = 10 * time.Minute

// checkValidity judges every certificate of the path at the present time.
func (j *judgement) checkValidity() {
	var expired, early []*x509.Certificate
	for _, c := range j.path() {
		if j.now.After(c.NotAfter) {
			expired = append(expired, c)
		} else if j.now.Before(c.NotBefore) {
			early = append(early, c)
		}
	}
	if len(expired) > 0 {
		j.add(j.validityProblem(reasonCertExpired, expired, func(c *x509.Certificate) string {
			return fmt.Sprintf("%s expired %s ago, at %s", j.place(c), span(j.now.Sub(c.NotAfter)), timeText(c.NotAfter))
		}))
	}
	if len(early) > 0 {
		p := j.validityProblem(reasonCertNotYetValid, early, func(c *x509.Certificate) string {
			return fmt.Sprintf("%s becomes valid in %s, at %s", j.place(c), span(c.NotBefore.Sub(j.now)), timeText(c.NotBefore))
		})
		if early[0].NotBefore.Sub(j.now) <= skewSuspected {
			p.Notes = append(p.Notes, "it is a matter of minutes: this node's clock may be slow, or the issuer's fast")
		}
		j.add(p)
	}
}

func (j *judgement) validityProblem(r *Reason, outside []*x509.Certificate, text func(*x509.Certificate) string) Problem {
	c := outside[0]
	p := r.problem("%s", text(c))
	p.Expected = "valid at " + timeText(j.now)
	p.Received = fmt.Sprintf("%s valid from %s to %s", subjectOf(c), timeText(c.NotBefore), timeText(c.NotAfter))
	for _, other := range outside[1:] {
		p.Notes = append(p.Notes, "also "+text(other))
	}
	p.Err = textError(x509.CertificateInvalidError{Cert: c, Reason: x509.Expired, Detail: text(c)})
	return p
}

// excludesServers reports whether c lists what it may be used for and servers
// are not among it. Go, as everyone, lets a CA restrict what it signs.
func excludesServers(c *x509.Certificate) bool {
	return len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) > 0 &&
		!slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth) && !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

func (j *judgement) checkKeyUsage() {
	i := slices.IndexFunc(j.path(), excludesServers)
	if i < 0 {
		return
	}
	c := j.path()[i]
	p := reasonWrongKeyUsage.problem("%s is not for servers", j.place(c))
	p.Expected = "extended key usage serverAuth"
	p.Received = usagesText(c)
	if slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageClientAuth) {
		p.Notes = append(p.Notes, "it is a client certificate: the peer may have been given the wrong pair of files")
	}
	p.Err = textError(x509.CertificateInvalidError{Cert: c, Reason: x509.IncompatibleUsage})
	j.add(p)
}

var usageNames = map[x509.ExtKeyUsage]string{
	x509.ExtKeyUsageClientAuth: "clientAuth", x509.ExtKeyUsageCodeSigning: "codeSigning",
	x509.ExtKeyUsageEmailProtection: "emailProtection", x509.ExtKeyUsageTimeStamping: "timeStamping",
	x509.ExtKeyUsageOCSPSigning: "OCSPSigning",
}

// usagesText lists the usages that have names (RFC 5280, Section 4.2.1.12) and
// counts the others.
func usagesText(c *x509.Certificate) string {
	var known []string
	others := len(c.UnknownExtKeyUsage)
	for _, usage := range c.ExtKeyUsage {
		switch name := usageNames[usage]; {
		case name == "":
			others++
		case !slices.Contains(known, name):
			known = append(known, name)
		}
	}
	text := "extended key usage"
	for _, name := range known {
		text += " " + name
	}
	if others > 0 {
		text += fmt.Sprintf(" and %d others", others)
	}
	return text
}

// checkConstraints asks for name constraints and policies apart, on a path that
// breaks no other rule.
func (j *judgement) checkConstraints() {
	if j.strict == nil || j.trusted == nil {
		return
	}
	_, err := j.relaxedSearch(relaxed{constraints: true})
	var invalid x509.CertificateInvalidError
	if !errors.As(err, &invalid) {
		return
	}
	p := reasonChainInvalid.problem("%s", err)
	if invalid.Reason == x509.CANotAuthorizedForThisName {
		p = reasonNameConstraint.problem("%s", invalid.Detail)
		p.Expected = "names that every CA of the chain may sign for"
		p.Received = namesText(j.leaf())
	}
	p.Err = textError(err)
	j.add(p)
}

// checkRules judges the path by the rules for CAs, and makes sure that nothing
// which Go refuses passes as good.
func (j *judgement) checkRules() {
	if j.sent > maxChain {
		p := reasonChainInvalid.problem("the peer sent %d certificates; the first %d were judged", j.sent, maxChain)
		p.Expected = fmt.Sprintf("at most %d certificates", maxChain)
		p.Received = fmt.Sprintf("%d certificates", j.sent)
		j.add(p)
	}
	for i, c := range j.path() {
		if rule := brokenRule(j.path(), i); rule != "" {
			p := reasonChainInvalid.problem("%s %s", j.place(c), rule)
			if j.strict != nil {
				p.Err = textError(j.strict)
			}
			j.add(p)
		}
	}
	if j.strict != nil && !j.explained() {
		p := reasonChainInvalid.problem("%s", j.strict)
		p.Err = textError(j.strict)
		j.add(p)
	}
}

// explained reports whether a problem says why x509.Verify refuses the chain.
func (j *judgement) explained() bool {
	return slices.ContainsFunc(j.problems, func(p Problem) bool {
		switch p.Reason {
		case reasonCertExpired, reasonCertNotYetValid, reasonSelfSigned, reasonStaleCA, reasonUnknownAuthority,
			reasonNameConstraint, reasonChainInvalid:
			return true
		}
		return false
	})
}

// brokenRule names the rule of RFC 5280, Section 6.1.4, that the i-th
// certificate of path breaks, "" if it keeps them. A trust anchor may be of
// version 1, which knows no extensions.
func brokenRule(path []*x509.Certificate, i int) string {
	c := path[i]
	isAnchor := i == len(path)-1 && i > 0
	switch {
	case len(c.UnhandledCriticalExtensions) > 0:
		return fmt.Sprintf("has a critical extension that is not understood, %s", c.UnhandledCriticalExtensions[0])
	case i < len(path)-1 && isWeakSignature(c):
		return fmt.Sprintf("is signed with %s, which Go does not accept", c.SignatureAlgorithm)
	case i == 0:
		return ""
	case isRefusedKey(c):
		return fmt.Sprintf("signs another certificate with the key %s, which Go does not accept", keyText(c))
	case c.BasicConstraintsValid && !c.IsCA, !c.BasicConstraintsValid && (!isAnchor || c.Version == 3):
		return "signs another certificate but is no CA (basicConstraints)"
	case c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
		return "signs another certificate but its key usage does not allow that (keyCertSign)"
	case c.BasicConstraintsValid && c.MaxPathLen >= 0 && i-1 > c.MaxPathLen:
		return fmt.Sprintf("allows %d CAs below it and has %d (pathLenConstraint)", c.MaxPathLen, i-1)
	}
	return ""
}

const (
	leastStrongRSA = 2048 // bits; NIST SP 800-131A, Section 3
	leastStrongEC  = 224
)

// checkStrength warns of keys and signatures that newer clients refuse. The
// signature of a trust anchor proves nothing and is left alone.
func (j *judgement) checkStrength() {
	path := j.path()
	var weak []string
	for i, c := range path {
		if isWeakKey(c) {
			weak = append(weak, fmt.Sprintf("%s has the key %s", j.place(c), keyText(c)))
		}
		if isWeakSignature(c) && (i == 0 || !isSelfSigned(c) && i < len(path)-1) {
			weak = append(weak, fmt.Sprintf("%s is signed with %s", j.place(c), c.SignatureAlgorithm))
		}
	}
	if len(weak) == 0 {
		return
	}
	p := reasonWeakCrypto.problem("%s", weak[0])
	p.Expected = fmt.Sprintf("RSA of %d bits or more, or ECDSA or Ed25519; signatures with SHA-256 or better", leastStrongRSA)
	p.Notes = weak[1:]
	j.add(p)
}

func isWeakKey(c *x509.Certificate) bool {
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() < leastStrongRSA
	case *ecdsa.PublicKey:
		return key.Params().BitSize < leastStrongEC
	}
	return c.PublicKeyAlgorithm == x509.DSA
}

func isWeakSignature(c *x509.Certificate) bool {
	switch c.SignatureAlgorithm {
	case x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.DSAWithSHA256, x509.ECDSAWithSHA1:
		return true
	}
	return false
}
