package kubernetes

import (
	"fmt"
	"hash/adler32"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tlsprobe/probe"
)

// What cert-manager marks the Services of its HTTP-01 solvers with.
const (
	labelSolver       = "acme.cert-manager.io/http01-solver"
	labelSolverDomain = "acme.cert-manager.io/http-domain" // Adler-32 of the host
	labelSolverToken  = "acme.cert-manager.io/http-token"  // Adler-32 of the token
)

// solverLabels are those by which the Service of a solver is found.
func solverLabels() []string { return []string{labelSolver, labelSolverDomain, labelSolverToken} }

// challengeInterval is how often a challenge is fetched: it mostly lives for less
// than a minute.
const challengeInterval = 10 * time.Second

// challenges makes a target of each Challenge in progress.
func (b *builder) challenges() {
	for _, c := range b.objects.challenges {
		if !b.wants(kindACME, c) || isFinal(c) {
			continue
		}
		if t := b.challenge(c); t != nil {
			b.add(c, t)
			b.hasten(c, t)
		}
	}
}

// isFinal reports whether nothing will come of the challenge any more (RFC 8555,
// Section 7.1.6; errored is cert-manager's own).
func isFinal(c *challenge) bool {
	return slices.Contains([]string{"valid", "invalid", "expired", "errored"}, c.Status.State)
}

// challenge makes the target of a challenge, nil if there is nothing to say of it
// yet.
func (b *builder) challenge(c *challenge) *probe.Target {
	t := &probe.Target{
		Name:   path.Join(kindACME, c.Namespace, c.Name),
		Labels: probe.LabelsOf(map[string]string{"kind": kindACME, "namespace": c.Namespace, "challenge": c.Name, "host": c.Spec.DNSName}),
	}
	if c.Status.Reason != "" {
		t.Faults = []probe.Problem{at(c, "status.reason").fault("challenge_stuck", "says: %s", c.Status.Reason)}
	}
	switch {
	case c.Spec.Type == "HTTP-01" && c.Status.Presented:
		b.solved(c, t)
	case len(t.Faults) > 0:
		t.Address = hostPort(c.Spec.DNSName, 443)
		t.Module, t.Undialled = b.verified, true
	default: // nobody can answer yet, or the answer is in the DNS
		return nil
	}
	return t
}

// solved leads t to the answer of a challenge, by its host and straight to the pods
// of its solver, whose Service may be missing.
func (b *builder) solved(c *challenge, t *probe.Target) {
	p := probe.NewProber("http").(*probe.HTTPProber)
	p.ACMEKey = c.Spec.Key
	t.Module = &probe.Module{Name: t.Name, Kind: "http", Prober: p}
	t.Address = "http://" + c.Spec.DNSName + "/.well-known/acme-challenge/" + c.Spec.Token
	t.Routes = []probe.Route{{Via: "cluster DNS", Address: hostPort(c.Spec.DNSName, 80)}}
	solver := b.solver(c)
	switch {
	case solver != nil && len(solver.Spec.Ports) > 0:
		port := servicePort(solver.Spec.Ports[0].Port, "")
		behind := b.backend(at(solver, "spec.ports[0].port"), solver.Namespace, solver.Name, port)
		t.Routes = append(t.Routes, behind.routes...)
		t.Faults = append(t.Faults, behind.faults...)
	case !b.objects.unread["services"]:
		p := at(c, "status.presented").fault("challenge_stuck", "is true, and no Service leads to a solver of the challenge")
		p.Expected = fmt.Sprintf("a Service in the namespace %s whose owner is the Challenge", c.Namespace)
		t.Faults = append(t.Faults, p)
	}
}

// solver returns the Service of the challenge's solver, nil if there is none.
func (b *builder) solver(c *challenge) *corev1.Service {
	var found *corev1.Service
	for _, s := range b.objects.services {
		if s.Namespace == c.Namespace && solves(s, c) && (found == nil || s.Name < found.Name) {
			found = s
		}
	}
	return found
}

func solves(s *corev1.Service, c *challenge) bool {
	for _, owner := range s.OwnerReferences {
		if owner.Kind == "Challenge" {
			return owner.UID == c.UID
		}
	}
	return s.Labels[labelSolver] == "true" &&
		s.Labels[labelSolverDomain] == adler(c.Spec.DNSName) && s.Labels[labelSolverToken] == adler(c.Spec.Token)
}

func adler(text string) string { return fmt.Sprint(adler32.Checksum([]byte(text))) }

// hasten has a challenge fetched more often than other targets, as far as the pace
// allows.
func (b *builder) hasten(c *challenge, t *probe.Target) {
	if _, own := ownInterval(c); own || b.config.Interval <= challengeInterval {
		return
	}
	t.Interval = b.paced(challengeInterval, len(b.objects.nodes))
	t.Timeout = min(b.config.Timeout, t.Interval/2)
}
