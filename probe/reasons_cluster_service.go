package probe

// What is wrong with a Service, as far as the objects show it.

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
})

var _ = register(Reason{
	ID:       "service_port_not_found",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the service has no such port",
	Meaning: "An object names a port that the Service's spec.ports does not have. Who follows the reference " +
		"looks the port up there, not at the pods, and gives up before it connects.",
	Breaks: "The webhook, aggregated API or ingress path that names the port. With failurePolicy Fail the " +
		"webhook's requests are refused; an ingress answers 404 or 503.",
	OtherSide: "Nothing: no connection reaches the other side.",
	Causes: []string{
		"The container's port is named (8443) where the Service's belongs (443).",
		"A webhook or APIService without a port means 443, and the Service listens on another.",
		"The Service's port was renumbered or renamed, and who refers to it was not.",
	},
	Fixes: []string{
		"See the Service's ports: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{range .spec.ports[*]}" +
			"{.name} {.port} to {.targetPort}{\"\\n\"}{end}'",
		"A webhook: kubectl patch validatingwebhookconfiguration WEBHOOK --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/service/port\",\"value\":PORT}]'",
		"An aggregated API: kubectl patch apiservice APISERVICE --type merge -p " +
			"'{\"spec\":{\"service\":{\"port\":PORT}}}'",
		"An ingress: kubectl -n NAMESPACE edit ingress INGRESS, at spec.rules[].http.paths[].backend.service.port",
	},
	Cite: "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `no service port \S+ found for service` +
				`|service/\S+ in "[^"]+" is not listening on port|\bServicePortError\b` +
				`|Service \S+ does not have a service port`,
			Sample: "failed calling webhook \"v.example.com\": failed to call webhook: Post " +
				"\"https://wh.default.svc:443/v?timeout=3s\": no service port 443 found for service \"wh\"",
		},
		{
			Side: ProxySide,
			Pattern: `unable to find (?:port \S+|\S+ port) on service|Unable to find a port defined in the \S+ service` +
				`|no port is mapped for service|Cannot create service:? [^;]*service port not found`,
			Sample: "{\"level\":\"error\",\"ts\":1619810612.4101973,\"logger\":\"controller\",\"msg\":\"Reconciler " +
				"error\",\"controller\":\"targetGroupBinding\",\"error\":\"unable to find port 8443 on service " +
				"kube-system/kubernetes-dashboard\"}",
		},
	},
})

var _ = register(Reason{
	ID:       "target_port_not_found",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "no container has the port that the service names",
	Meaning: "The Service's targetPort is a name, and no container of the ready pods has a port of that name " +
		"and protocol. The pods are ready, yet nobody stands behind this port of the Service.",
	Breaks: "This port of the Service: connections to it are refused. Its other ports may work, which hides " +
		"the fault.",
	OtherSide: "Nothing: no connection reaches the pods.",
	Causes: []string{
		"A new version of the manifest renamed the container's port, or dropped it from the container's ports.",
		"A typing error in targetPort or in the container's ports[].name.",
		"The protocols differ: the Service says TCP and the container UDP.",
	},
	Fixes: []string{
		"Compare the names: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{.spec.ports}'; kubectl -n " +
			"NAMESPACE get pods -l LABEL=VALUE -o jsonpath='{.items[*].spec.containers[*].ports}'",
		"See which ports have endpoints: kubectl -n NAMESPACE get endpointslices -l " +
			"kubernetes.io/service-name=SERVICE -o jsonpath='{.items[*].ports}'",
		"Name the port by number: kubectl -n NAMESPACE patch svc SERVICE --type json -p " +
			"'[{\"op\":\"replace\",\"path\":\"/spec/ports/0/targetPort\",\"value\":8443}]'",
	},
	Cite: "https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `no suitable port for manifest|Pod '[^']+' does not have a named port`,
			Sample: "I1121 08:00:00.000000 1 utils.go:89] \"Failed to find port for service\" service=\"shop/web\" " +
				"err=\"no suitable port for manifest: 7f3c1d2e-0000-4000-8000-000000000001\"",
		},
	},
})

var _ = register(Reason{
	ID:       "no_endpoints",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the service has no ready endpoint",
	Meaning: "The Service exists, but no ready pod stands behind it. There is nobody to connect to: " +
		"connections to its address are refused, or get no answer.",
	Breaks: "Everything behind this Service is down. Admission webhooks with failurePolicy Fail block " +
		"every request they match; aggregated APIs and ingresses answer 503.",
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
			Pattern: `endpoint(?:slice)?s for service/\S+ in "[^"]+" have no addresses` +
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
})

var _ = register(Reason{
	ID:       "port_name_hides_protocol",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "the port's name hides its protocol from the mesh",
	Meaning: "A mesh learns what a port speaks from its appProtocol, or from a name like grpc or " +
		"grpc-SUFFIX. This port has neither, so Istio guesses by the first bytes, and treats what it cannot " +
		"guess as plain TCP.",
	Breaks: "Often nothing that shows. Taken for TCP, gRPC is spread by connection instead of by request: " +
		"one pod gets all of a client's telemetry, without the mesh's retries, metrics and policies for HTTP.",
	OtherSide: "The sidecar's access log has bytes of a connection where requests should be.",
	Causes: []string{
		"The port is called otlp, metrics or telemetry, or has no name: none tells a protocol that Istio knows.",
		"The chart or operator that makes the Service sets no appProtocol.",
	},
	Fixes: []string{
		"Say it: kubectl -n NAMESPACE patch svc SERVICE --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/spec/ports/0/appProtocol\",\"value\":\"grpc\"}]' (4317 is grpc, 4318 http)",
		"Or by the port's name: grpc-otlp for 4317, http-otlp for 4318",
		"Let Istio look: istioctl analyze -n NAMESPACE",
	},
	Cite: "https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection/",
	Logs: []LogPattern{
		{
			Side:    ProxySide,
			Pattern: `\bIST0118\b|follow the naming convention of Istio port`,
			Sample: "Info [IST0118] (Service monitoring/collector) Port name telemetry (port: 4317, targetPort: 4317) " +
				"doesn't follow the naming convention of Istio port.",
		},
	},
})
