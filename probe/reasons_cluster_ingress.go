package probe

// What is wrong with an Ingress or a Challenge, as far as the objects show it.

var _ = register(Reason{
	ID:       "ingress_tls_host_mismatch",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the ingress ends TLS for another host than its rule",
	Meaning: "spec.tls of the Ingress and the hosts of its rules, or the names in its Secret, do not fit " +
		"together. The controller falls back to its default certificate.",
	Breaks:    "Browsers and clients of that host see a wrong certificate.",
	OtherSide: "The ingress controller's log names the host and the Secret.",
	Causes: []string{
		"A typing error: spec.tls[].hosts differs from spec.rules[].host.",
		"The Secret holds a certificate for another name, or none.",
		"The Secret is in another namespace than the Ingress.",
	},
	Fixes: []string{
		"Compare: kubectl -n NAMESPACE get ingress INGRESS -o " +
			"jsonpath='{.spec.tls}{\"\\n\"}{.spec.rules[*].host}{\"\\n\"}'",
		"See the names in the Secret: kubectl -n NAMESPACE get secret SECRET -o jsonpath='{.data.tls\\.crt}' | " +
			"base64 -d | openssl x509 -noout -ext subjectAltName",
		"Correct the host: kubectl -n NAMESPACE edit ingress INGRESS",
	},
	Cite: "https://kubernetes.io/docs/concepts/services-networking/ingress/#tls",
	Logs: []LogPattern{
		{
			Side: ProxySide,
			Pattern: `SSL certificate "[^"]+" does not contain a Common Name or Subject Alternative Name for server` +
				`|Unexpected error validating SSL certificate|error getting SSL certificate "[^"]+"`,
			Sample: "W1121 08:00:00.000000 7 controller.go:1372] SSL certificate \"shop/tls\" does not contain a Common " +
				"Name or Subject Alternative Name for server \"shop.example.com\"",
		},
	},
})

var _ = register(Reason{
	ID:       "ingress_class_not_found",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "no ingress class takes this ingress",
	Meaning: "The Ingress names an IngressClass that does not exist, or names none where no class is the " +
		"default. No controller takes it: its hosts get another one's 404 and default certificate, or nothing.",
	Breaks: "The hosts of this Ingress. If it is the solver's of an ACME challenge, the certificate is never " +
		"issued.",
	OtherSide: "ingress-nginx: \"Ignoring ingress because of error while validating ingress class\". Most " +
		"other controllers say nothing.",
	Causes: []string{
		"No class is named, and no IngressClass is marked as the default one.",
		"The class has another name in this cluster: nginx, nginx-internal, traefik.",
		"The controller was removed or never installed, and its IngressClass with it.",
		"The Issuer's solver names another class: solvers[].http01.ingress.ingressClassName.",
	},
	Fixes: []string{
		"See the classes, and which is the default: kubectl get ingressclasses -o yaml | grep -E " +
			"'^    name:|controller:|is-default-class'",
		"Name one: kubectl -n NAMESPACE patch ingress INGRESS --type merge -p " +
			"'{\"spec\":{\"ingressClassName\":\"CLASS\"}}'",
		"Make one the default, for Ingresses created from then on: kubectl annotate ingressclass CLASS " +
			"ingressclass.kubernetes.io/is-default-class=true",
	},
	Cite: "https://kubernetes.io/docs/concepts/services-networking/ingress/#ingress-class",
	Logs: []LogPattern{
		{
			Side: ProxySide,
			Pattern: `does not contain a valid IngressClass|error while validating ingress class` +
				`|invalid ingress class: |ingressclass\S* "[^"]+" not found`,
			Sample: "I1017 21:58:37.843115 7 store.go:426] \"Ignoring ingress because of error while validating ingress " +
				"class\" ingress=\"shop/web\" error=\"ingress does not contain a valid IngressClass\"",
		},
	},
})

var _ = register(Reason{
	ID:       "ingress_no_address",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "the ingress has no address",
	Meaning: "The status of the Ingress or Gateway holds no address: no controller serves it, or none yet, or " +
		"the load balancer in front has no address itself. tlsprobe goes by DNS alone.",
	Breaks: "Nothing if its controller never writes addresses. Otherwise the hosts are not served, and " +
		"external-dns makes no records for them.",
	OtherSide: "The controller's log is silent about the Ingress, or says what it waits for.",
	Causes: []string{
		"No controller runs for the class.",
		"The controller's Service of type LoadBalancer is pending: no cloud provider, no free address, a quota.",
		"The controller is not told what to publish: --publish-service of ingress-nginx, ingressEndpoint of Traefik.",
		"It was created a moment ago.",
	},
	Fixes: []string{
		"Read its events: kubectl -n NAMESPACE describe ingress INGRESS (or gateway GATEWAY)",
		"Is a load balancer pending? kubectl get svc -A | grep LoadBalancer; kubectl -n NAMESPACE describe svc " +
			"SERVICE",
		"Who serves the class? kubectl get ingressclass CLASS -o jsonpath='{.spec.controller}'; kubectl get pods " +
			"-A | grep -i ingress",
	},
	Cite: "https://kubernetes.io/docs/reference/kubernetes-api/service-resources/ingress-v1/#IngressStatus",
	Logs: []LogPattern{
		{
			Side: ProxySide,
			Pattern: `Error syncing load balancer: |\bSyncLoadBalancerFailed\b` +
				`|Failed to allocate IP for "[^"]+/[^"]+": `,
			Sample: "Warning  SyncLoadBalancerFailed  2m  service-controller  Error syncing load balancer: failed to " +
				"ensure load balancer: quota exceeded",
		},
		{
			Side:    ProxySide,
			Vague:   true,
			Pattern: `\bFailed (?:build|deploy) model due to |\bFailed(?:Build|Deploy)Model\b`,
			Sample: "Warning  FailedBuildModel  3s  ingress  Failed build model due to couldn't auto-discover subnets: " +
				"unable to resolve at least one subnet",
		},
	},
})

var _ = register(Reason{
	ID:       "challenge_stuck",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "an ACME challenge makes no progress",
	Meaning: "cert-manager has a Challenge open that does not go on: its status says that the solver cannot be " +
		"set up, that cert-manager's own check fails or that the CA refuses, or nothing leads to the solver. No " +
		"certificate is issued until that is mended.",
	Breaks: "Issuing and renewing that certificate. Who uses its Secret goes on with the old one until it " +
		"expires, or with a default certificate.",
	OtherSide: "cert-manager's log, under the name of the Challenge.",
	Causes: []string{
		"HTTP-01: the token cannot be fetched. acme_challenge_failed says what was read, and from which nodes.",
		"DNS-01: the provider's credentials are missing or lack a right, or the record does not show up.",
		"HTTP-01: the solver's Service was deleted, by hand or by a policy of the cluster.",
		"The CA refuses: a rate limit, a CAA record, an account it does not know.",
	},
	Fixes: []string{
		"Read all of it: kubectl get challenges -A -o wide; kubectl -n NAMESPACE describe challenge CHALLENGE",
		"HTTP-01: kubectl -n NAMESPACE get pods,svc,ingress -l acme.cert-manager.io/http01-solver=true -o wide",
		"DNS-01: dig +short TXT _acme-challenge.HOST",
		"See what waits for it: kubectl -n NAMESPACE get certificates,certificaterequests,orders; cmctl status " +
			"certificate -n NAMESPACE CERTIFICATE",
	},
	Cite: "https://cert-manager.io/docs/troubleshooting/acme/",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `Error presenting challenge|\bPresentError\b|Waiting for DNS-01 challenge propagation`,
			Sample: "Warning  PresentError  34s (x5 over 99s)  cert-manager-challenges  Error presenting challenge: error " +
				"getting cloudflare secret: secrets \"cloudflare-api-token\" not found",
		},
	},
})
