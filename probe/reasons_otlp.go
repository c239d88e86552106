package probe

// How an export of telemetry fails where the port is open.

// What ends a quarrel about mTLS between a mesh and those outside of it.
const (
	fixMeshServer = "Mesh, the server's side, accept plain text on some ports (here OTLP's): kubectl apply -f - <<< " +
		"'{\"apiVersion\": \"security.istio.io/v1\", \"kind\": \"PeerAuthentication\", \"metadata\": {\"name\": \"NAME\", " +
		"\"namespace\": \"NAMESPACE\"}, \"spec\": {\"selector\": {\"matchLabels\": {\"app\": \"APP\"}}, \"portLevelMtls\": " +
		"{\"4317\": {\"mode\": \"PERMISSIVE\"}, \"4318\": {\"mode\": \"PERMISSIVE\"}}}}'"
	fixMeshClients = "Mesh, the clients' side, send no mTLS to it: kubectl apply -f - <<< '{\"apiVersion\": " +
		"\"networking.istio.io/v1\", \"kind\": \"DestinationRule\", \"metadata\": {\"name\": \"NAME\", \"namespace\": " +
		"\"NAMESPACE\"}, \"spec\": {\"host\": \"SERVICE.NAMESPACE.svc.cluster.local\", \"trafficPolicy\": {\"tls\": " +
		"{\"mode\": \"DISABLE\"}}}}'"
)

var reasonOTLPProtocolMismatch = register(Reason{
	ID:       "otlp_protocol_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the port speaks OTLP by the other protocol",
	Meaning: "OTLP is spoken over gRPC and over HTTP, on a port each. An export over the one came to the port " +
		"of the other: gRPC is 4317, HTTP is 4318.",
	Breaks: "Traces, metrics and logs of that exporter are dropped. Some agents end their process with it.",
	OtherSide: "grpc-go \"bogus greeting from client: POST /v1/...\"; the HTTP receiver answers 404 or 415 and " +
		"logs nothing.",
	Causes: []string{
		"4317 and 4318 are swapped in the exporter's endpoint.",
		"The SDK's default protocol is not what was thought: most speak http/protobuf, some gRPC.",
		"The Service maps a port to the other targetPort.",
		"The collector has only one of the two protocols switched on.",
	},
	Fixes: []string{
		"The exporter: OTEL_EXPORTER_OTLP_PROTOCOL=grpc with port 4317, or http/protobuf with port 4318",
		"See the mapping: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{range .spec.ports[*]}{.name}{\" " +
			"\"}{.port}{\"->\"}{.targetPort}{\"\\n\"}{end}'",
		"The collector: receivers: {otlp: {protocols: {grpc: {endpoint: 0.0.0.0:4317}, http: {endpoint: " +
			"0.0.0.0:4318}}}}",
	},
	Cite: "https://opentelemetry.io/docs/specs/otlp/",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=otlp_protocol_mismatch\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=collector reason=otlp_protocol_mismatch",
		},
	},
})

var reasonOTLPExpectation = register(Reason{
	ID:       "otlp_expectation",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the port speaks otherwise than the target expects",
	Meaning: "The target says what the port must speak: TLS with client certificates (mtls), or plaintext as " +
		"well as TLS (permissive). The port was tried, and speaks something else. OTLP itself may work.",
	Breaks: "With permissive: the clients on one side of the mesh, whose telemetry is dropped. With mtls: " +
		"nothing, but anybody can send.",
	OtherSide: "Istio STRICT, to plaintext: \"NR filter_chain_not_found\" in the sidecar's access log.",
	Causes: []string{
		"The mesh's PeerAuthentication for this workload or port is STRICT, PERMISSIVE or DISABLE where " +
			"another mode was meant.",
		"The collector's pod has no sidecar, or the port is excluded from it (excludeInboundPorts).",
		"The collector's TLS has no client_ca_file, so that it asks for no client certificate.",
		"The target's expect is out of date.",
	},
	Fixes: []string{
		"See the modes that are in force: kubectl get peerauthentication -A; istioctl x describe pod POD -n NAMESPACE",
		fixMeshServer,
		fixMeshClients,
		"The collector, to demand client certificates: protocols: {grpc: {tls: {cert_file: CERT_FILE, key_file: " +
			"KEY_FILE, client_ca_file: CA_FILE}}}",
		"If it is right as it is, say so to tlsprobe: expect: plaintext, tls, mtls or permissive in the module",
	},
	Cite: "https://istio.io/latest/docs/reference/config/security/peer_authentication/",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=otlp_expectation\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=collector reason=otlp_expectation",
		},
	},
})
