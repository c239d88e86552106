package probe

// What is wrong with the CAs that an object tells the API server to trust. That a
// bundle cannot be read is ca_bundle_invalid, as of any other.

var _ = register(Reason{
	ID:       "ca_bundle_expired",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "every CA in the bundle has expired",
	Meaning: "All certificates that the other side is to be trusted by have expired, so that none it could " +
		"show can be verified. A client only says \"certificate has expired\", as if the server's own had.",
	Breaks: "Each new connection that is verified by this bundle. The API server no longer calls such a " +
		"webhook: with failurePolicy Fail the requests are refused, with Ignore they go unchecked.",
	OtherSide: "\"remote error: tls: bad certificate\", at each new connection.",
	Causes: []string{
		"A chart or an operator made the CA once, for a year, and never renews it.",
		"The CA was renewed, but caBundle still holds the old one: cainjector is off, or the object has no " +
			"annotation for it.",
		"It expired long ago: the API server went on over connections that it had kept open.",
	},
	Fixes: []string{
		"See the dates: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d >ca.pem; openssl storeutl -noout -text " +
			"-certs ca.pem | grep -E 'Subject:|Not After'",
		"Renew it with cert-manager: cmctl renew -n NAMESPACE CERTIFICATE; cainjector then fills in caBundle",
		"By hand, when the CA has been made anew: kubectl patch validatingwebhookconfiguration WEBHOOK --type " +
			"json -p '[{\"op\":\"replace\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"BASE64_OF_CA\"}]'",
		"Blocked until then? kubectl delete validatingwebhookconfiguration WEBHOOK, and apply it again afterwards",
	},
	Cite: "RFC 5280, Section 4.1.2.5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `error 10 at [1-9]\d* depth lookup|Invalid (?:trust )?anchors?:` +
				`|\S+ not valid anymore\. Expired on`,
			Sample: "error 10 at 1 depth lookup: certificate has expired",
		},
	},
})

var _ = register(Reason{
	ID:       "ca_bundle_missing",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "no caBundle is set, and the system's roots judge",
	Meaning: "The object names no CA. So the API server verifies the certificate by the root CAs of the " +
		"machine it runs on, and a CA made for the cluster is not among them.",
	Breaks: "Nothing while a public CA has signed the certificate. Otherwise each call fails: with " +
		"failurePolicy Fail the requests are refused, with Ignore they go unchecked.",
	OtherSide: "\"remote error: tls: bad certificate\", unless a public CA has signed the certificate.",
	Causes: []string{
		"cert-manager's cainjector has not filled it in: it does not run, or the annotation names no Certificate " +
			"that is ready.",
		"The chart's own job for it has failed or not run yet (kube-webhook-certgen, or a hook of Helm).",
		"Whoever applies the manifest again (GitOps) empties the field that a controller fills in.",
	},
	Fixes: []string{
		"Who should fill it in? kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.metadata.annotations}'",
		"What does cainjector say? kubectl -n cert-manager logs deployment/cert-manager-cainjector --tail=50",
		"Let it: kubectl annotate validatingwebhookconfiguration WEBHOOK " +
			"cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE --overwrite",
		"By hand: kubectl patch validatingwebhookconfiguration WEBHOOK --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"BASE64_OF_CA\"}]'",
	},
	Cite: "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `could not find any ca data in data source for target|\bca ?bundle is (?:empty|missing|not set)\b`,
			Sample: "I0413 15:44:29.651134 1 reconciler.go:117] \"could not find any ca data in data source for target\" " +
				"logger=\"cert-manager\" kind=\"mutatingwebhookconfiguration\" name=\"cert-manager-webhook\"",
		},
	},
})
