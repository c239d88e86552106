package probe

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"math"
	"slices"
	"time"
)

// search finds the path from the leaf to a trust anchor.
func (j *judgement) search() {
	paths, err := verifyAt(j.now, j.chain, j.roots.pool)
	j.strict = err
	if err == nil {
		j.paths, j.trusted = paths, pickPath(paths)
		return
	}
	j.linked = j.link()
	j.trusted, _ = j.relaxedSearch(relaxed{})
	if j.trusted == nil {
		j.trusted = j.anchor()
	}
}

// verifyAt is x509.Verify without the name and the key usage.
func verifyAt(now time.Time, chain []*x509.Certificate, pool *x509.CertPool) ([][]*x509.Certificate, error) {
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	return chain[0].Verify(x509.VerifyOptions{
		Roots:         pool,
		Intermediates: intermediates,
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
}

// maxPaths bounds the paths that are kept: a peer can send certificates that
// make many.
const maxPaths = 4

// longestLived returns the paths that x509.Verify accepts, the one that holds
// longest first, at most maxPaths.
func (j *judgement) longestLived() [][]*x509.Certificate {
	slices.SortStableFunc(j.paths, func(a, b []*x509.Certificate) int { return pathEnd(b).Compare(pathEnd(a)) })
	return j.paths[:min(len(j.paths), maxPaths)]
}

// pathEnd is when the first certificate of a path expires.
func pathEnd(path []*x509.Certificate) time.Time {
	first := slices.MinFunc(path, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return first.NotAfter
}

// pickPath prefers a path whose every certificate may be used by a server.
func pickPath(paths [][]*x509.Certificate) []*x509.Certificate {
	for _, path := range paths {
		if !slices.ContainsFunc(path, excludesServers) {
			return path
		}
	}
	return paths[0]
}

// relaxed says which rules a search keeps, besides signatures and names.
type relaxed struct{ constraints bool }

// relaxedSearch searches as x509.Verify does, on copies of the certificates whose
// contents break no rule: so an expired leaf does not hide a missing CA, nor the
// other way round.
func (j *judgement) relaxedSearch(keep relaxed) (path []*x509.Certificate, err error) {
	original := map[*x509.Certificate]*x509.Certificate{}
	relax := func(c *x509.Certificate) *x509.Certificate {
		r := relaxCopy(c, keep)
		original[r] = c
		return r
	}
	chain := make([]*x509.Certificate, len(j.chain))
	for i, c := range j.chain {
		chain[i] = relax(c)
	}
	anchors := x509.NewCertPool()
	for _, c := range j.roots.certs {
		anchors.AddCert(relax(c))
	}
	paths, err := verifyAt(j.now, chain, anchors)
	for _, at := range j.times() {
		if err == nil || isConstraint(err) {
			break
		}
		paths, err = verifyAt(at, chain, j.roots.pool)
	}
	if err != nil {
		return nil, err
	}
	return j.soundest(paths, original), nil
}

// times are when to ask the system's roots, which cannot be copied: now, and a
// time at which all that was sent was valid, as a root may have ended since.
func (j *judgement) times() []time.Time {
	at := j.leaf().NotBefore
	for _, c := range j.chain {
		if c.NotBefore.After(at) && !c.NotBefore.After(j.leaf().NotAfter) {
			at = c.NotBefore
		}
	}
	return []time.Time{j.now, at}
}

// soundest returns the path with the fewest faults, in the certificates as they
// are.
func (j *judgement) soundest(paths [][]*x509.Certificate, original map[*x509.Certificate]*x509.Certificate) []*x509.Certificate {
	var best []*x509.Certificate
	fewest := math.MaxInt
	for _, path := range paths {
		for i, c := range path {
			if o := original[c]; o != nil {
				path[i] = o
			}
		}
		if faults := j.faults(path); faults < fewest {
			best, fewest = path, faults
		}
	}
	return best
}

func (j *judgement) faults(path []*x509.Certificate) (n int) {
	for i, c := range path {
		if j.now.Before(c.NotBefore) || j.now.After(c.NotAfter) {
			n++
		}
		if excludesServers(c) {
			n++
		}
		if brokenRule(path, i) != "" {
			n++
		}
	}
	return n
}

// relaxCopy returns a copy of c that breaks no rule a path is built by.
func relaxCopy(c *x509.Certificate, keep relaxed) *x509.Certificate {
	r := *c
	r.NotBefore, r.NotAfter = time.Time{}, time.Unix(1<<40, 0)
	r.Version, r.BasicConstraintsValid, r.IsCA, r.MaxPathLen = 3, true, true, -1
	r.KeyUsage, r.UnhandledCriticalExtensions = 0, nil
	if keep.constraints {
		return &r
	}
	r.PermittedDNSDomains, r.ExcludedDNSDomains = nil, nil
	r.PermittedIPRanges, r.ExcludedIPRanges = nil, nil
	r.PermittedURIDomains, r.ExcludedURIDomains = nil, nil
	r.PermittedEmailAddresses, r.ExcludedEmailAddresses = nil, nil
	r.RequireExplicitPolicy, r.RequireExplicitPolicyZero = 0, false
	return &r
}

// link follows the chain from the leaf by names and signatures as far as it
// goes.
func (j *judgement) link() []*x509.Certificate {
	linked := []*x509.Certificate{j.leaf()}
	for !isSelfSigned(linked[len(linked)-1]) {
		issuer := slices.IndexFunc(j.chain, func(c *x509.Certificate) bool {
			return !slices.Contains(linked, c) && isIssuer(linked[len(linked)-1], c) && signedBy(linked[len(linked)-1], c)
		})
		if issuer < 0 {
			break
		}
		linked = append(linked, j.chain[issuer])
	}
	return linked
}

// anchor completes what is linked with a trust anchor, across signatures that
// x509.Verify does not accept: checkRules names them. nil if no anchor signed it.
func (j *judgement) anchor() []*x509.Certificate {
	top := j.linked[len(j.linked)-1]
	i := slices.IndexFunc(j.roots.certs, func(c *x509.Certificate) bool { return isIssuer(top, c) && signedBy(top, c) })
	if i < 0 {
		return nil
	}
	if bytes.Equal(top.Raw, j.roots.certs[i].Raw) {
		return j.linked
	}
	return append(slices.Clip(j.linked), j.roots.certs[i])
}

// isIssuer reports whether the names of two certificates say that the one
// issued the other (RFC 5280, Section 6.1.3 (a)(4)).
func isIssuer(c, issuer *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, issuer.RawSubject) }

// sameKeyID reports whether c names the issuer's key by its identifier.
func sameKeyID(c, issuer *x509.Certificate) bool {
	return len(c.AuthorityKeyId) > 0 && bytes.Equal(c.AuthorityKeyId, issuer.SubjectKeyId)
}

// signedBy reports whether c is signed by the issuer's key. What Go does not
// verify at all, as MD5, is judged by the key's identifier.
func signedBy(c, issuer *x509.Certificate) bool {
	err := issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
	var insecure x509.InsecureAlgorithmError
	if errors.As(err, &insecure) || errors.Is(err, x509.ErrUnsupportedAlgorithm) || isRefusedKey(issuer) {
		return len(c.AuthorityKeyId) == 0 || sameKeyID(c, issuer)
	}
	return err == nil
}

// isRefusedKey reports whether crypto/rsa refuses to verify with the key of c.
func isRefusedKey(c *x509.Certificate) bool {
	key, isRSA := c.PublicKey.(*rsa.PublicKey)
	return isRSA && key.N.BitLen() < leastRSA
}

const leastRSA = 1024 // bits

func isConstraint(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && (invalid.Reason == x509.CANotAuthorizedForThisName || invalid.Reason == x509.NoValidChains)
}
