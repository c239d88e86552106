package probe

// What an object asks for in vain, although what it leads to can be probed.

var _ = register(Reason{
	ID:       "annotation_invalid",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "an annotation for tlsprobe says nothing usable",
	Meaning: "The object has an annotation tlsprobe.io/... whose name or value means nothing. The target is probed " +
		"as though it were not there; a Service that asks in no other way to be probed is not.",
	Breaks:    "Nothing: what the annotation should have changed about the probe is not changed.",
	OtherSide: "Nothing: this is about the probe alone.",
	Causes: []string{
		"A misspelt name: tlsprobe.io/intervall.",
		"Annotations of a Service, such as tlsprobe.io/port, without tlsprobe.io/probe, or on another kind of object.",
		"A value of another form: \"5 minutes\" or 300 where 5m is meant, \"yes\" where true is.",
	},
	Fixes: []string{
		"Correct it: kubectl annotate --overwrite KIND NAME tlsprobe.io/interval=5m",
		"Remove it: kubectl annotate KIND NAME tlsprobe.io/interval-",
	},
	Cite: "config.example.yaml",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=annotation_invalid\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=webhook/kong/validations reason=annotation_invalid",
		},
	},
})

var _ = register(Reason{
	ID:       "headless_service",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "the API server is told to call a service without a ClusterIP",
	Meaning: "The Service is headless. The API server dials ClusterIPs, and calls nobody where there is none; " +
		"only with --enable-aggregator-routing=true it dials the endpoints itself.",
	Breaks: "The webhook or aggregated API is never called, unless the API server has that option. With " +
		"failurePolicy Fail its requests are refused.",
	OtherSide: "Nothing: no connection reaches the other side.",
	Causes: []string{
		"clusterIP: None was taken over from the Service of a StatefulSet.",
		"It worked in another cluster, whose API server has the option.",
	},
	Fixes: []string{
		"Look: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{.spec.clusterIP}'",
		"Make it anew without clusterIP: None (the field cannot be changed): kubectl -n NAMESPACE delete svc " +
			"SERVICE; kubectl apply -f SERVICE.yaml",
	},
	Cite: "https://kubernetes.io/docs/concepts/services-networking/service/#headless-services",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `cannot route to service with ClusterIP "?None`,
			Sample: "failed calling webhook \"v.example.com\": failed to call webhook: Post " +
				"\"https://hook.ns.svc:443/validate?timeout=10s\": cannot route to service with ClusterIP \"None\"",
		},
	},
})
