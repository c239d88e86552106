package lab

import (
	"net/http"
	"slices"

	"tlsprobe/probe"
)

// incidentScenarios retell incidents from production clusters: each part of an
// incident is a scenario of its own.
func incidentScenarios() []Scenario {
	return slices.Concat(
		retell("incident 1: an admission webhook nobody can shake hands with", webhookName, webhookScenarios()),
		retell("incident 2: a redirect loop behind a load balancer that ends TLS", siteName, loadBalancerScenarios()),
		retell("incident 3: a certificate never issued, because of where a pod landed", siteName, acmeScenarios()),
		retell("incident 4: telemetry into a mesh that insists on mTLS", collectorName, telemetryScenarios()),
		retell("incident 5: a kubelet whose certificate has no IP", "", kubeletScenarios()),
	)
}

// retell makes scenarios parts of an incident, whose target has this host name,
// "" for an IP address.
func retell(incident, host string, scenarios []Scenario) []Scenario {
	for n := range scenarios {
		start := scenarios[n].start
		scenarios[n].Incident = incident
		scenarios[n].start = func(i *Instance) error {
			i.Target.ServerName = "" // the address says it
			if err := start(i); err != nil {
				return err
			}
			if host != "" {
				i.named(host)
			}
			return nil
		}
	}
	return scenarios
}

// The hosts of the incidents.
const (
	webhookName   = "kong-kong-validation-webhook.kong.svc"
	siteName      = "hskim.example.com"
	collectorName = "otel-collector.monitoring.svc.cluster.local"
)

// webhookScenarios are Kong's validating webhook, judged as the API server judges
// it: by the Service's name, against the configuration's caBundle.
func webhookScenarios() []Scenario {
	return []Scenario{
		{Name: "kong-webhook-stale-cabundle", Summary: "serves a certificate of the new CA; the caBundle is the old one",
			Reasons: []string{"stale_ca"},
			start:   startStaleWebhook},
		{Name: "kong-webhook-plain-http", Summary: "speaks plain http behind port 443, as its TLS is off",
			Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error {
				i.labelWebhook()
				return startPlainHTTP(i)
			}},
		{Name: "kong-webhook-eof", Summary: "closes every connection before the handshake ends",
			Reasons: []string{"eof"},
			start: func(i *Instance) error {
				i.labelWebhook()
				return i.serveAt(afterHello(func(*peerConn) {}))
			}},
	}
}

func (i *Instance) labelWebhook() {
	i.Target.Labels = probe.LabelsOf(map[string]string{
		"kind": "webhook", "namespace": "kong", "service": "kong-kong-validation-webhook",
		"webhook": "kong-kong-kong-validations", "failure_policy": "Ignore",
		"service_port": "443", "target_port": "8080",
	})
}

// startStaleWebhook renews the CA, under the same name, without its caBundle.
func startStaleWebhook(i *Instance) error {
	i.labelWebhook()
	const name = "kong-kong-validations-ca"
	old, err := NewCA(name)
	if err != nil {
		return err
	}
	renewed, err := NewCA(name)
	if err != nil {
		return err
	}
	i.Target.Trust = probe.Trust{PEM: old.PEM()}
	cert, err := renewed.Issue(dnsNames(webhookName))
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}

// loadBalancerScenarios are a site behind a load balancer that ends TLS and
// forwards plain http.
func loadBalancerScenarios() []Scenario {
	return []Scenario{
		{Name: "lb-redirect-loop", Summary: "redirects https to the same https URL, as the backend sees http",
			Reasons: []string{"redirect_loop"},
			start: func(i *Instance) error {
				i.labelIngress()
				return i.siteAt(http.HandlerFunc(toHTTPSUnlessForwarded))
			}},
		{Name: "lb-missing-redirect", Summary: "serves plain http as it is", Reasons: []string{"missing_https_redirect"},
			start: func(i *Instance) error {
				i.labelIngress()
				return i.requirePlain(http.HandlerFunc(answerOK))
			}},
		{Name: "ingress-fake-certificate", Summary: "has a host in spec.tls that differs from the rule's",
			Reasons: []string{"ingress_tls_host_mismatch", "default_cert", "hostname_mismatch", "self_signed"},
			start: func(i *Instance) error {
				i.labelIngress()
				i.fault("ingress_tls_host_mismatch", `Ingress default/hskim: spec.tls[0].hosts[0] "hskim.example" fits no rule, and nothing in spec.tls covers the rule for "hskim.example.com"`)
				return startIngressFakeCertificate(i)
			}},
	}
}

func (i *Instance) labelIngress() {
	i.Target.Labels = probe.LabelsOf(map[string]string{"kind": "ingress", "namespace": "default", "ingress": "hskim"})
}

// siteAt serves handler over TLS with the site's own certificate.
func (i *Instance) siteAt(handler http.Handler) error {
	cert, err := i.lab.CA.Issue(dnsNames(siteName))
	if err != nil {
		return err
	}
	return i.requestWith(withCertificate(cert), handler)
}

// toHTTPSUnlessForwarded is a backend that would answer if it were told that the
// client came by https.
func toHTTPSUnlessForwarded(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Forwarded-Proto") == "https" {
		answerOK(w, r)
		return
	}
	toHTTPS(w, r)
}
