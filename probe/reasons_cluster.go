package probe

// What the cluster's own objects and API say, before any connection to the target.

var _ = register(Reason{
	ID:       "no_endpoints",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the service has no ready endpoint",
	Meaning:  "The Service exists, but no ready pod stands behind it. There is nobody to connect to.",
	Breaks: "Everything behind this Service is down. Admission webhooks with failurePolicy Fail block " +
		"every request they match; aggregated APIs answer 503.",
	OtherSide: "Nothing: no connection reaches the other side.",
	Causes: []string{
		"The pods are not ready: crash loop, failing readiness probe, image that cannot be pulled.",
		"The Service's selector matches no pod, often after a rename of labels.",
		"The deployment is scaled to zero, or its pods cannot be scheduled.",
	},
	Fixes: []string{
		"See what stands behind it: kubectl -n NAMESPACE get endpointslices -l " +
			"kubernetes.io/service-name=SERVICE",
		"Compare selector and labels: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{.spec.selector}'; " +
			"kubectl -n NAMESPACE get pods --show-labels",
		"See why pods are not ready: kubectl -n NAMESPACE describe pods -l LABEL=VALUE",
		"A webhook that blocks its own repair: kubectl delete validatingwebhookconfiguration WEBHOOK, then " +
			"apply it again when the pods run",
	},
	Cite: "https://kubernetes.io/docs/concepts/services-networking/service/#endpointslices",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `no endpoints available for service`,
			Sample: "failed calling webhook \"v.example.com\": failed to call webhook: Post " +
				"\"https://hook.ns.svc:443/validate\": no endpoints available for service \"hook\"",
		},
		{
			Side: ClientSide,
			Pattern: `endpoints for service/\S+ in "[^"]+" have no addresses` +
				`|endpoints for service "?\S+ not found|MissingEndpoints|EndpointsNotFound` +
				`|cannot find endpointslices for service|no (?:active|ready|healthy) endpoints?\b`,
			Sample: "endpoints for service/metrics-server in \"kube-system\" have no addresses with port name \"https\" " +
				"(MissingEndpoints)",
		},
		{
			Side: ProxySide,
			Pattern: `Service "[^"]+" does not have any active Endpoint|\bno healthy upstream\b` +
				`|\bno_healthy_upstream\b`,
			Sample: "W1121 08:00:00.000000 7 controller.go:1076] Service \"shop/web\" does not have any active Endpoint.",
		},
	},
	LogOnly: true,
})

var _ = register(Reason{
	ID:       "service_not_found",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the service that is referred to does not exist",
	Meaning:  "An object names a Service that is not there. The API server gives up before it connects.",
	Breaks: "The webhook, aggregated API or ingress that names the Service. With failurePolicy Fail its " +
		"requests are refused.",
	OtherSide: "Nothing: no connection reaches the other side.",
	Causes: []string{
		"The release was removed, but its webhook configuration stayed behind.",
		"Name or namespace in clientConfig.service is wrong.",
		"The configuration was applied before the Service.",
	},
	Fixes: []string{
		"Find the Service: kubectl get svc -A | grep SERVICE",
		"See who names it: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml " +
			"| grep -B2 -A4 'name: SERVICE'",
		"Remove a leftover: kubectl delete validatingwebhookconfiguration WEBHOOK (or " +
			"mutatingwebhookconfiguration WEBHOOK)",
		"A leftover aggregated API: kubectl get apiservices | grep False; kubectl delete apiservice " +
			"APISERVICE",
	},
	Cite: "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\bservices? "[^"]+" not found\b|service/\S+ in "[^"]+" is not present` +
				`|\bServiceNotFound\b`,
			Sample: "failed calling webhook \"webhook.example.com\": failed to call webhook: Post " +
				"\"https://hook.ns.svc:443/validate\": service \"hook\" not found",
		},
		{
			Side: ProxySide,
			Pattern: `no object matching key "[^"]+" in local store.*service` +
				`|Error obtaining Endpoints for Service|service "[^"]+" does not exist`,
			Sample: "W1121 08:00:00.000000 7 controller.go:1044] Error obtaining Endpoints for Service \"shop/web\": no " +
				"object matching key \"shop/web\" in local store",
		},
	},
	LogOnly: true,
})

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
	LogOnly: true,
})

var _ = register(Reason{
	ID:       "api_forbidden",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the API server does not allow the request",
	Meaning: "The API server was reached and knows who asked. RBAC gives that account no right to what it " +
		"asked for. TLS is fine.",
	Breaks: "Whoever asked: a controller, a scraper, or tlsprobe's hub when it lists Services and " +
		"Endpoints.",
	OtherSide: "The API server's audit log has the request with the code 403.",
	Causes: []string{
		"A ClusterRole or its binding is missing, or was lost in an upgrade.",
		"The pod runs under another ServiceAccount than the one that is bound.",
		"A kubelet: the caller lacks nodes/metrics or nodes/proxy.",
	},
	Fixes: []string{
		"Ask what is allowed: kubectl auth can-i list endpointslices.discovery.k8s.io -A " +
			"--as=system:serviceaccount:NAMESPACE:ACCOUNT",
		"Find the bindings: kubectl get clusterrolebindings -o wide | grep ACCOUNT",
		"Bind the role: kubectl create clusterrolebinding NAME --clusterrole=ROLE " +
			"--serviceaccount=NAMESPACE:ACCOUNT",
	},
	Cite: "https://kubernetes.io/docs/reference/access-authn-authz/rbac/",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `is forbidden: User "[^"]*" cannot \w+ resource|Forbidden \(user=[^,)]+, verb=`,
			Sample: "endpointslices.discovery.k8s.io is forbidden: User \"system:serviceaccount:default:probe\" cannot list " +
				"resource \"endpointslices\" in API group \"discovery.k8s.io\" at the cluster scope",
		},
	},
	LogOnly: true,
})

var _ = register(Reason{
	ID:       "tunnel_unavailable",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the API server's tunnel to the nodes is down",
	Meaning: "The API server reaches pods and nodes through a tunnel (konnectivity, or the tunnel of k3s). " +
		"The tunnel has no agent to carry the connection.",
	Breaks: "Webhooks, aggregated APIs, kubectl logs, exec and port-forward: all that the API server " +
		"dials.",
	OtherSide: "Nothing: the connection ends at the tunnel's server.",
	Causes: []string{
		"No konnectivity-agent pod runs, or none can reach the control plane.",
		"A firewall closes the agent's port to the control plane (8132 mostly).",
		"The agents' certificates or tokens have expired.",
	},
	Fixes: []string{
		"See the agents: kubectl -n kube-system get pods -l k8s-app=konnectivity-agent -o wide",
		"Read their log: kubectl -n kube-system logs -l k8s-app=konnectivity-agent --tail=50",
		"Restart them: kubectl -n kube-system rollout restart ds/konnectivity-agent (or " +
			"deployment/konnectivity-agent)",
	},
	Cite: "https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `No (?:backend|agent)s? available` +
				`|failed to (?:get|find) (?:a )?(?:suitable )?(?:backend|remotedialer session)` +
				`|tunnel-uds/|failed to find Session for client|agent not (?:connected|available)`,
			Sample: "error dialing backend: No agent available",
		},
	},
	LogOnly: true,
})
