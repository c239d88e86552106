package probe

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// roots is a parsed trust pool. Read-only.
type roots struct {
	pool   *x509.CertPool      // what to verify against; nil: the system's roots
	certs  []*x509.Certificate // those given explicitly; empty for the system's
	id     [32]byte            // hash of content and origin, which a verdict names
	origin string              // "file /x/ca.crt", "the caBundle", "the system's roots"
}

// A question is one chain to judge.
type question struct {
	chain   []*x509.Certificate // as sent, leaf first
	name    string              // DNS name or IP literal
	roots   *roots
	now     time.Time
	stapled []byte // OCSP response, nil if there was none
}

// A verdict is what there is to say about a chain. It is shared: read-only.
type verdict struct {
	chain    []*Certificate // at most maxChain
	verified [][]*Certificate
	sent     int
	problems []Problem // the one to fix first is first
	ocsp     *OCSP     // nil without a staple
}

// A judgement is a verdict in the making. x509.Verify stops at the first fault,
// so each rule is checked apart: the path to the roots is searched once as Go
// does it and, should that fail, once without the rules that can be checked on
// the path later.
type judgement struct {
	question
	sent int // before the chain was shortened to maxChain

	strict  error                 // what x509.Verify says about all but name and key usage
	trusted []*x509.Certificate   // path from leaf to trust anchor by signatures; nil if there is none
	paths   [][]*x509.Certificate // all that x509.Verify accepts
	linked  []*x509.Certificate   // what of the chain hangs together by signatures, leaf first

	ocsp     *OCSP
	problems []Problem
	until    time.Time // when the answer may change
}

// judge examines the chain, and says until when the verdict holds. facts makes
// the facts of a certificate.
func (q question) judge(facts func(*x509.Certificate) *Certificate) (verdict, time.Time) {
	j := &judgement{question: q, sent: len(q.chain), until: q.now.Add(verdictLifetime)}
	j.chain = q.chain[:min(len(q.chain), maxChain)]
	v := verdict{sent: j.sent}
	if len(q.chain) == 0 {
		j.add(reasonChainInvalid.problem("the peer sent no certificate"))
	} else {
		j.examine()
	}
	v.chain = factsOfAll(j.chain, facts)
	if paths := j.longestLived(); len(paths) > 0 {
		v.verified = make([][]*Certificate, len(paths))
		for i, path := range paths {
			v.verified[i] = factsOfAll(path, facts)
		}
	}
	v.problems, v.ocsp = j.problems, j.ocsp
	return v, j.until
}

func factsOfAll(certs []*x509.Certificate, facts func(*x509.Certificate) *Certificate) []*Certificate {
	all := make([]*Certificate, len(certs))
	for i, c := range certs {
		all[i] = facts(c)
	}
	return all
}

// examine runs every check. Their order is the one in which a person would mend
// the faults.
func (j *judgement) examine() {
	j.search()
	j.readStaple()
	j.noteBoundaries()

	j.checkDefault()
	j.checkValidity()
	j.checkName()
	j.checkTrust()
	j.checkKeyUsage()
	j.checkConstraints()
	j.checkRules()
	j.checkRevocation()
	j.checkStaple()
	j.checkStrength()
}

func (j *judgement) leaf() *x509.Certificate { return j.chain[0] }

// path is what the checks of single certificates look at: up to the trust
// anchor, or as far as the chain hangs together.
func (j *judgement) path() []*x509.Certificate {
	if j.trusted != nil {
		return j.trusted
	}
	return j.linked
}

func (j *judgement) add(p Problem) {
	p.Detail, p.Expected, p.Received = cut(p.Detail), cut(p.Expected), cut(p.Received)
	for i := range p.Notes {
		p.Notes[i] = cut(p.Notes[i])
	}
	j.problems = append(j.problems, p)
	if p.Reason.Severity == Error {
		j.expire(j.now.Add(faultyLifetime))
	}
}

// noteBoundaries notes when any certificate in sight begins or ends: then
// another path may open, or this one close.
func (j *judgement) noteBoundaries() {
	for _, list := range [][]*x509.Certificate{j.chain, j.trusted, j.roots.certs} {
		for _, c := range list {
			j.boundary(c.NotBefore, c.NotAfter)
		}
	}
}

// boundary notes that something is valid from the one time to the other, both
// inclusive (RFC 5280, Section 4.1.2.5).
func (j *judgement) boundary(from, to time.Time) {
	j.expire(from)
	j.expire(to.Add(1))
}

func (j *judgement) expire(at time.Time) {
	if at.After(j.now) && at.Before(j.until) {
		j.until = at
	}
}

// place says which certificate c is.
func (j *judgement) place(c *x509.Certificate) string {
	for i, sent := range j.chain {
		if bytes.Equal(sent.Raw, c.Raw) {
			return fmt.Sprintf("certificate %d of the chain (%s)", i, subjectOf(c))
		}
	}
	return fmt.Sprintf("the trust anchor (%s) of %s", subjectOf(c), j.roots.name())
}

// name says where the roots come from.
func (r *roots) name() string {
	if r.origin == "" {
		return "the system's roots"
	}
	return r.origin
}

// textError is an error of crypto/x509 in words, as other clients log it: the
// error itself would keep its certificates alive for as long as results are kept.
func textError(err error) error { return errors.New(cut(err.Error())) }

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// span is a duration as a person would put it.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}
