package probe

// What the API server itself says, and what carries its connections.

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
