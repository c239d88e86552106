package lab

import "tlsprobe/probe"

// clusterScenarios are targets whose objects in the cluster show a fault, in the
// words in which package discover's Kubernetes source puts it. Where the fault
// leaves something to dial, that is a good server.
func clusterScenarios() []Scenario {
	const (
		webhook = "ValidatingWebhookConfiguration web-validation: webhooks[0].clientConfig"
		request = "CertificateSigningRequest csr-8x4lz: status.conditions"
	)
	return []Scenario{
		undialled("webhook-no-service", "is a webhook whose Service was deleted",
			"service_not_found", webhook+".service names Service shop/web-webhook, which does not exist"),
		undialled("webhook-no-service-port", "is a webhook that names the pod's port as that of its Service",
			"service_port_not_found", webhook+".service.port names port 9443, which Service shop/web-webhook does not have"),
		undialled("webhook-no-target-port", "is a webhook whose container's port was renamed",
			"target_port_not_found", webhook+".service names port 443 of Service shop/web-webhook, whose targetPort https no container has"),
		undialled("webhook-no-endpoints", "is a webhook whose pods are not ready",
			"no_endpoints", webhook+".service names Service shop/web-webhook, which has no ready endpoint"),
		{Name: "webhook-expired-cabundle", Summary: "is a webhook with a new certificate, and a caBundle that has expired",
			Reasons: []string{"ca_bundle_expired", "cert_expired"},
			start: func(i *Instance) error {
				i.fault("ca_bundle_expired", webhook+".caBundle has expired: CN=web-validation-ca ended at 2026-11-20T08:00:00Z")
				return startExpiredBundle(i)
			}},
		faulty("webhook-no-cabundle", "is a webhook without a caBundle, whose CA the API server's machine happens to trust",
			"ca_bundle_missing", webhook+".caBundle is empty: the API server judges by its system's roots"),
		undialled("ingress-no-class", "is an Ingress whose class does not exist",
			"ingress_class_not_found", "Ingress shop/web: spec.ingressClassName names IngressClass \"nginx-internal\", which does not exist"),
		faulty("webhook-headless", "is a webhook behind a Service without a ClusterIP",
			"headless_service", webhook+".service names Service shop/web-webhook, which has no ClusterIP"),
		faulty("webhook-annotation", "is a webhook whose configuration has an annotation that means nothing",
			"annotation_invalid", "ValidatingWebhookConfiguration web-validation: metadata.annotations[tlsprobe.io/interval] is \"5 minutes\", and has no effect"),
		faulty("ingress-no-address", "is an Ingress that is reached through DNS, and has no address in its status",
			"ingress_no_address", "Ingress shop/web: status.loadBalancer.ingress is empty"),
		faulty("kubelet-csr-waiting", "is a kubelet with a good certificate that waits for the next one",
			"csr_pending", request+" is neither Approved nor Denied; node node5 asked at 2026-11-21T08:00:00Z"),
		faulty("kubelet-csr-denied", "is a kubelet with a good certificate that was denied the next one",
			"csr_denied", request+" is Denied; node node5 asked at 2026-11-21T08:00:00Z"),
		undialled("acme-dns-stuck", "is a DNS-01 challenge without the provider's credentials",
			"challenge_stuck", "Challenge shop/web-tls-1-2: status.reason says: error getting cloudflare secret: secrets \"cloudflare-api-token\" not found"),
		faulty("otlp-port-name", "is an OTLP port whose name tells a mesh nothing",
			"port_name_hides_protocol", "Service monitoring/otel-collector: spec.ports[0] 4317 (telemetry) tells a mesh nothing of what it speaks"),
	}
}

// faulty is a good server, at whose object this is wrong.
func faulty(name, summary, reason, detail string) Scenario {
	return Scenario{Name: name, Summary: summary, Reasons: []string{reason}, start: func(i *Instance) error {
		i.fault(reason, detail)
		return i.serveIssued()
	}}
}

// undialled is a target without a server: what is wrong with its object leaves
// nothing to dial.
func undialled(name, summary, reason, detail string) Scenario {
	return Scenario{Name: name, Summary: summary, Reasons: []string{reason}, start: func(i *Instance) error {
		i.fault(reason, detail)
		i.Target.Address = name + ".shop.svc:443"
		i.Target.Undialled = true
		i.ask(i.lab.dns.Addr()) // should anybody look the name up all the same
		return nil
	}}
}

// fault says what the target's object shows.
func (i *Instance) fault(reason, detail string) {
	i.Target.Faults = append(i.Target.Faults, probe.Problem{Reason: probe.Lookup(reason), Detail: detail})
}

// startExpiredBundle trusts a CA only that has expired since it issued the
// server's certificate.
func startExpiredBundle(i *Instance) error {
	ca, err := NewCA("web-validation-ca", expired)
	if err != nil {
		return err
	}
	i.Target.Trust = probe.Trust{PEM: ca.PEM()}
	return i.serveIssuedBy(ca, nil)
}
