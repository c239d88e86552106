package kubernetes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// challengeYAML is a Challenge in progress.
func challengeYAML(status string) string {
	return `
kind: Challenge
metadata: {name: shop-1-2-3, namespace: shop, uid: c1}
spec: {type: HTTP-01, dnsName: shop.example.com, token: tok, key: tok.thumb}
status: {` + status + `}
---`
}

// solverYAML is the Service of a solver, and its pod.
func solverYAML(metadata string) string {
	return `
kind: Service
metadata: {name: cm-acme-http-solver-x, namespace: shop, ` + metadata + `}
spec: {clusterIP: 10.96.0.9, selector: {a: b}, ports: [{name: http, port: 8089, targetPort: 8089}]}
---
kind: EndpointSlice
metadata: {name: s, namespace: shop, labels: {kubernetes.io/service-name: cm-acme-http-solver-x}}
addressType: IPv4
ports: [{name: http, port: 8089}]
endpoints: [{addresses: [10.244.3.3], nodeName: storage, targetRef: {kind: Pod, name: cm-acme-http-solver-abc}}]
---`
}

const (
	pending    = `processing: true, presented: true, state: pending`
	challenged = `
acme/shop/shop-1-2-3 acme/shop/shop-1-2-3 http://shop.example.com/.well-known/acme-challenge/tok
  cluster DNS shop.example.com:80`
	toSolver = `
  ClusterIP of shop/cm-acme-http-solver-x 10.96.0.9:8089
  pod cm-acme-http-solver-abc on storage 10.244.3.3:8089`
)

func TestChallenge(t *testing.T) {
	owned := solverYAML(`ownerReferences: [{kind: Challenge, name: shop-1-2-3, uid: c1}]`)
	for _, tt := range []struct{ name, documents, want string }{
		{"its owner", challengeYAML(pending) + owned, challenged + toSolver},
		{"of another challenge", challengeYAML(pending) + strings.ReplaceAll(owned, "uid: c1", "uid: c2"), challenged + `
  challenge_stuck: Challenge shop/shop-1-2-3: status.presented is true, and no Service leads to a solver of the challenge`},
		// adler32 of shop.example.com and tok, as cert-manager writes them
		{"its labels", challengeYAML(pending) + solverYAML(`labels: {acme.cert-manager.io/http01-solver: "true", acme.cert-manager.io/http-domain: "903284290", acme.cert-manager.io/http-token: "44564815"}`),
			challenged + toSolver},
		{"its labels, and an owner that is none", challengeYAML(pending) + solverYAML(`ownerReferences: [{kind: App, uid: a1}], labels: {acme.cert-manager.io/http01-solver: "true", acme.cert-manager.io/http-domain: "903284290", acme.cert-manager.io/http-token: "44564815"}`),
			challenged + toSolver},
		{"labels of another", challengeYAML(pending) + solverYAML(`labels: {acme.cert-manager.io/http01-solver: "true", acme.cert-manager.io/http-domain: "1", acme.cert-manager.io/http-token: "44564815"}`), challenged + `
  challenge_stuck: Challenge shop/shop-1-2-3: status.presented is true, and no Service leads to a solver of the challenge`},
		{"labels of something else", challengeYAML(pending) + solverYAML(`labels: {acme.cert-manager.io/http-domain: "903284290", acme.cert-manager.io/http-token: "44564815"}`), challenged + `
  challenge_stuck: Challenge shop/shop-1-2-3: status.presented is true, and no Service leads to a solver of the challenge`},
		{"in another namespace", challengeYAML(pending) + strings.ReplaceAll(owned, "namespace: shop", "namespace: other"), challenged + `
  challenge_stuck: Challenge shop/shop-1-2-3: status.presented is true, and no Service leads to a solver of the challenge`},
		{"not set up yet", challengeYAML(`processing: true`), ""},
		{"being set up", challengeYAML(`processing: true`) + owned, ""},
		{"cannot be set up", challengeYAML(`processing: true, reason: pods is forbidden`), `
acme/shop/shop-1-2-3 tls shop.example.com:443 undialled
  challenge_stuck: Challenge shop/shop-1-2-3: status.reason says: pods is forbidden`},
		{"stuck", challengeYAML(pending+`, reason: "wrong status code '404', expected '200'"`) + owned, challenged + toSolver + `
  challenge_stuck: Challenge shop/shop-1-2-3: status.reason says: wrong status code '404', expected '200'`},
		{"valid", challengeYAML(`state: valid`) + owned, ""},
		{"invalid", challengeYAML(`state: invalid`) + owned, ""},
		{"errored", challengeYAML(`state: errored, reason: over`) + owned, ""},
		{"by DNS", strings.ReplaceAll(challengeYAML(pending), "HTTP-01", "DNS-01"), ""},
		{"by DNS, stuck", strings.ReplaceAll(challengeYAML(pending+`, reason: no such zone`), "HTTP-01", "DNS-01"), `
acme/shop/shop-1-2-3 tls shop.example.com:443 undialled
  challenge_stuck: Challenge shop/shop-1-2-3: status.reason says: no such zone`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantLines(t, ofKind(t, kindACME, parse(t, tt.documents)), tt.want)
		})
	}
}

// Where Services may not be read, the host alone is asked.
func TestChallengeWithoutServices(t *testing.T) {
	o := parse(t, challengeYAML(pending))
	o.unread["services"] = true
	wantLines(t, ofKind(t, kindACME, o), challenged)
}

// A solver without a pod is a fault, and the host is asked nevertheless: who answers
// there may not be the solver.
func TestChallengeWithoutSolverPod(t *testing.T) {
	o := parse(t, challengeYAML(pending)+solverYAML(`ownerReferences: [{kind: Challenge, uid: c1}]`))
	o.slices = nil
	wantLines(t, ofKind(t, kindACME, o), challenged+`
  no_endpoints: Service shop/cm-acme-http-solver-x: spec.ports[0].port names Service shop/cm-acme-http-solver-x, which has no ready endpoint`)
}

func TestChallengeModule(t *testing.T) {
	target := ofKind(t, kindACME, parse(t, challengeYAML(pending)))[0]
	p := target.Module.Prober.(*probe.HTTPProber)
	if err := p.Validate(); err != nil || p.ACMEKey != "tok.thumb" {
		t.Errorf("key %q: %v", p.ACMEKey, err)
	}
	want := map[string]string{"kind": "acme", "namespace": "shop", "challenge": "shop-1-2-3", "host": "shop.example.com"}
	if diff := cmp.Diff(want, target.Labels.Map()); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

func TestChallengeInterval(t *testing.T) {
	for _, tt := range []struct {
		name, annotation string
		base, pace, want time.Duration
	}{
		{"hastened", "", 30 * time.Second, 0, 10 * time.Second},
		{"as fast already", "", 5 * time.Second, 0, 5 * time.Second},
		{"its own", "1m", 30 * time.Second, 0, time.Minute},
		{"paced", "", 30 * time.Second, 40 * time.Second, 40 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, challengeYAML(pending))
			if tt.annotation != "" {
				o.challenges[0].Annotations = map[string]string{annotationInterval: tt.annotation}
			}
			c := testConfig()
			c.Interval = tt.base
			if tt.pace > 0 {
				c.Pace = func(base time.Duration, _ int, _ float64) time.Duration { return max(base, tt.pace) }
			}
			target := build(c, o).Common[0]
			if target.Interval != tt.want || target.Timeout != min(c.Timeout, tt.want/2) {
				t.Errorf("every %s within %s, want every %s", target.Interval, target.Timeout, tt.want)
			}
		})
	}
}

func TestChallengeIsStable(t *testing.T) {
	o := parse(t, challengeYAML(pending)+solverYAML(`ownerReferences: [{kind: Challenge, name: shop-1-2-3, uid: c1}]`)+
		strings.ReplaceAll(solverYAML(`labels: {acme.cert-manager.io/http01-solver: "true", acme.cert-manager.io/http-domain: "903284290", acme.cert-manager.io/http-token: "44564815"}`), "solver-x", "solver-y"))
	want := lines(ofKind(t, kindACME, o))
	slices.Reverse(o.services)
	slices.Reverse(o.slices)
	strip := newStripper(testConfig())
	strip.challenge(o.challenges[0])
	for _, s := range o.services {
		strip.service(s)
	}
	if diff := cmp.Diff(want, lines(ofKind(t, kindACME, o))); diff != "" {
		t.Errorf("targets differ (-want +got):\n%s", diff)
	}
}
