package probe

// How gRPC fails once TLS is up.

var reasonGRPCNotHTTP2 = register(Reason{
	ID:       "grpc_not_http2",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "gRPC met a peer that does not speak HTTP/2",
	Meaning: "One side speaks gRPC over HTTP/2 and the other does not; mostly it speaks HTTP/1.1. Often the " +
		"OTLP ports are swapped: gRPC is 4317, HTTP is 4318.",
	Breaks:    "That gRPC client: telemetry is dropped, calls fail with Unavailable.",
	OtherSide: "grpc-go \"bogus greeting from client: \"POST /v1/...\"; an HTTP/1 server answers 400 or 405.",
	Causes: []string{
		"OTLP over HTTP was sent to 4317, or over gRPC to 4318.",
		"A proxy between them does not pass HTTP/2 on.",
		"The Service port lacks appProtocol or a grpc- name, so the mesh treats it as HTTP/1.",
	},
	Fixes: []string{
		"OpenTelemetry: OTEL_EXPORTER_OTLP_PROTOCOL=grpc with port 4317, or http/protobuf with port 4318",
		"Name the port: kubectl -n NAMESPACE patch svc SERVICE --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/spec/ports/0/appProtocol\",\"value\":\"grpc\"}]'",
		"ingress-nginx: annotation nginx.ingress.kubernetes.io/backend-protocol: GRPC",
	},
	Cite: "RFC 9113, Section 3.4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `frame header looked like an HTTP/1\.1 header|http2: frame too large` +
				`|HTTP/1\.1 header[^;]*preface|Expected HTTP/2|Trying to connect an http1\.x server` +
				`|received http2 header with status: (?:400|405|464)`,
			Sample: "connection error: desc = \"error reading server preface: http2: failed reading the frame payload: " +
				"http2: frame too large, note that the frame header looked like an HTTP/1.1 header\"",
		},
		{
			Side: ServerSide,
			Pattern: `bogus greeting from client: \\*"(?:GET|POST|PUT|HEAD|OPTIONS|DELETE)` +
				`|invalid HTTP/2 (?:preface|connection preface)|not an HTTP/2 preface`,
			Sample: "transport: http2Server.HandleStreams received bogus greeting from client: \"POST /v1/metrics HTTP/1.\"",
		},
		{
			Side:    EitherSide,
			Vague:   true,
			Pattern: `First received frame was not SETTINGS|HTTP/2 client preface string missing or corrupt`,
			Sample: "io.netty.handler.codec.http2.Http2Exception: First received frame was not SETTINGS. Hex dump for " +
				"first 5 bytes: 485454502f",
		},
	},
})

var reasonGRPCStatus = register(Reason{
	ID:       "grpc_status",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the gRPC call was answered with an error",
	Meaning:  "The connection works; the call was answered with a status other than OK.",
	Breaks: "That call. Unimplemented: the server has no such service. Unauthenticated and " +
		"PermissionDenied: rights.",
	OtherSide: "The call with its status in the server's log.",
	Causes: []string{
		"The service or method is not there: an older server, a wrong path, a proxy that answers itself.",
		"The call lacks credentials.",
		"The server is overloaded or starting.",
	},
	Fixes: []string{
		"See what it serves: grpcurl -cacert CA_FILE HOST:PORT list",
		"Ask its health: grpc_health_probe -addr=HOST:PORT -tls -tls-ca-cert=CA_FILE",
		"Is it a proxy's page? curl -v https://HOST:PORT/",
	},
	Cite: "https://grpc.io/docs/guides/status-codes/",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `code = (?:Unimplemented|Unauthenticated|PermissionDenied|ResourceExhausted|Internal|FailedPrecondition)\b` +
				`|StatusCode\.(?:UNIMPLEMENTED|UNAUTHENTICATED|PERMISSION_DENIED|INTERNAL|RESOURCE_EXHAUSTED)` +
				`|unexpected HTTP status code received from server` +
				`|unexpected content-type "text/(?:plain|html)` +
				`|StatusRuntimeException: (?:UNIMPLEMENTED|UNAUTHENTICATED|PERMISSION_DENIED|INTERNAL)`,
			Sample: "rpc error: code = Unimplemented desc = unknown service grpc.health.v1.Health",
		},
	},
})

var reasonGRPCNotServing = register(Reason{
	ID:        "grpc_not_serving",
	Phase:     PhaseRequest,
	Severity:  Error,
	Title:     "the gRPC health check says NOT_SERVING",
	Meaning:   "The server answered its health check: it is up and does not want calls.",
	Breaks:    "Clients and probes that look at health; kubelet takes the pod out of its Services.",
	OtherSide: "The server's log says what it waits for.",
	Causes: []string{
		"The server is starting, or shutting down.",
		"Something it needs is missing: a database, a leader election.",
		"The probe asks for a service name that is not set to SERVING.",
	},
	Fixes: []string{
		"Ask it: grpc_health_probe -addr=HOST:PORT -tls -tls-ca-cert=CA_FILE -service=SERVICE",
		"Read its log: kubectl -n NAMESPACE logs POD --tail=50",
	},
	Cite: "https://github.com/grpc/grpc/blob/master/doc/health-checking.md",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\bNOT_SERVING\b|service unhealthy \(responded with|health rpc failed` +
				`|health check returned (?:SERVICE_UNKNOWN|NOT_SERVING)`,
			Sample: "Readiness probe failed: service unhealthy (responded with \"NOT_SERVING\")",
		},
	},
})
