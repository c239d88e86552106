package lab

import (
	"io"
	"net/http"
	"strings"

	"tlsprobe/probe"
)

// The challenge of the lab, with a key as the RFC's examples have them (RFC 8555,
// Sections 8.1 and 8.3).
const (
	challengeToken      = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"
	challengeThumbprint = "9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI"
)

// acmeScenarios are an HTTP-01 challenge, whose key the ingress gets or does not
// get from the solver.
func acmeScenarios() []Scenario {
	ingress := func(name, summary string, handler http.Handler, reasons ...string) Scenario {
		return Scenario{Name: name, Summary: summary, Reasons: reasons,
			start: func(i *Instance) error {
				url, err := i.serveHTTP(handler)
				i.challengeAt(url)
				return err
			}}
	}
	return append([]Scenario{
		ingress("acme-ingress-timeout", "is an ingress that cannot reach the solver's node",
			answerStatus(http.StatusGatewayTimeout), "acme_challenge_failed", "http_status"),
		ingress("acme-wrong-backend", "is an ingress that sends the challenge elsewhere",
			http.NotFoundHandler(), "acme_challenge_failed", "http_status"),
		ingress("acme-other-account", "answers the token with another account's key",
			solver(challengeToken+".NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"), "acme_challenge_failed"),
		ingress("acme-good", "answers with the key, and a line break", solver(challengeToken+"."+challengeThumbprint+"\n")),
		{Name: "acme-redirect-self-signed", Summary: "redirects to https with a default certificate, which no ACME server minds",
			start: startChallengeBehindHTTPS},
		{Name: "acme-redirect-plain-http", Summary: "redirects to https, where plain http is spoken",
			Reasons: []string{"acme_challenge_failed", "wrong_version_number"},
			start:   startChallengeAstray},
	}, linuxACMEScenarios()...)
}

// solver answers with the key.
func solver(key string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, key) })
}

// challengeAt makes the target the challenge at this base URL.
func (i *Instance) challengeAt(url string) {
	i.Target.Address = url + "/.well-known/acme-challenge/" + challengeToken
	i.Target.Module = httpModule(func(p *probe.HTTPProber) { p.ACMEKey = challengeToken + "." + challengeThumbprint })
	i.Target.Labels = probe.LabelsOf(map[string]string{"kind": "acme", "namespace": "default", "challenge": "hskim-tls-1-3047"})
}

func startChallengeBehindHTTPS(i *Instance) error {
	cert, err := SelfSigned(ingressFake)
	if err != nil {
		return err
	}
	https, err := i.serveHTTPSWith(withCertificate(cert), solver(challengeToken+"."+challengeThumbprint))
	if err != nil {
		return err
	}
	return i.challengeRedirectedTo(https)
}

func startChallengeAstray(i *Instance) error {
	url, err := i.serveHTTP(solver(challengeToken + "." + challengeThumbprint))
	if err != nil {
		return err
	}
	return i.challengeRedirectedTo(strings.Replace(url, "http:", "https:", 1))
}

// challengeRedirectedTo makes the target a challenge that redirects to this base URL.
func (i *Instance) challengeRedirectedTo(to string) error {
	url, err := i.serveHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusPermanentRedirect)
	}))
	i.challengeAt(url)
	return err
}
