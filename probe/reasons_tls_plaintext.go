package probe

// One side speaks TLS and the other does not. Order counts: classify takes the first
// match.

var reasonWrongVersionNumber = register(Reason{
	ID:       "wrong_version_number",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer does not speak TLS on this port",
	Meaning: "Bytes that are not TLS came where TLS was expected. In a client's log: the server answered " +
		"in plain text. In a server's log: a client sent something that is neither TLS nor a plain " +
		"HTTP request. It does not mean that TLS versions differ; that is protocol_version.",
	Breaks: "Everything that expects TLS on this port: a webhook is not called, telemetry is dropped, a " +
		"readiness probe with scheme HTTPS fails.",
	OtherSide: "nginx access log \"\\x16\\x03\\x01...\" 400; grpc-go \"bogus greeting from client\"; a plain Go " +
		"server logs nothing.",
	Causes: []string{
		"A TLS client talks to a plain port: https URL, OTLP exporter with TLS on by default, probe with " +
			"scheme: HTTPS.",
		"The Service's targetPort or appProtocol points to the plain port.",
		"Mesh: the client's sidecar does mTLS (DestinationRule ISTIO_MUTUAL) to a pod without a sidecar or an " +
			"excluded port.",
		"Ingress annotation backend-protocol: HTTPS before a plain backend.",
		"A webhook started with TLS switched off (Kong: admissionWebhook.tls.enabled: false).",
		"A protocol that starts in plain text (SMTP, PostgreSQL, MySQL) and wants STARTTLS.",
	},
	Fixes: []string{
		"What does it speak? curl -v http://POD_IP:PORT/; openssl s_client -connect POD_IP:PORT </dev/null",
		"See the mapping: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{range .spec.ports[*]}{.port} " +
			"{.targetPort} {.appProtocol}{\"\\n\"}{end}'",
		"OpenTelemetry exporter to a plain collector: tls: {insecure: true}, or " +
			"OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4317",
		fixMeshServer,
		fixMeshClients,
		"Kong: set admissionWebhook.tls.enabled: true in VALUES.yaml, then helm upgrade RELEASE kong/kong -n " +
			"NAMESPACE -f VALUES.yaml",
		"ingress-nginx: annotation nginx.ingress.kubernetes.io/backend-protocol: HTTP",
	},
	Cite: "RFC 8446, Section 5.1",
	Logs: []LogPattern{
		{
			Side: EitherSide,
			Pattern: `first record does not look like a TLS handshake|unsupported SSLv2 handshake` +
				`|wrong version number|(?:^|[\s:\[_])WRONG_VERSION_NUMBER\b` +
				`|Unsupported or unrecognized SSL message|(?:ssl|SSL routines)[^ ]*:unknown protocol` +
				`|packet length too long|WRONG_SSL_VERSION|UNKNOWN_PROTOCOL\b` +
				`|bad (?:legacy )?(?:protocol )?version(?: number)?.*SSL routines`,
			Sample: "ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)",
		},
		{
			Side: ClientSide,
			Pattern: `server gave HTTP response to HTTPS client` +
				`|Cannot determine the frame size or a corrupted frame` +
				`|corrupt message of type InvalidContentType|InvalidContentType\b` +
				`|An unexpected TLS packet was received|RX_RECORD_TOO_LONG|ERR_SSL_PROTOCOL_ERROR` +
				`|SSL_ERROR_BAD_SERVER|received record with version [0-9a-f]+ when expecting` +
				`|SEC_E_INVALID_TOKEN|schannel:.*token supplied to the function is invalid` +
				`|Unrecognized SSL message, plaintext connection` +
				`|The handshake failed due to an unexpected packet format` +
				`|plain ?text (?:response|answer) .*(?:TLS|SSL)`,
			Sample: "Get \"https://svc.lab/x\": http: server gave HTTP response to HTTPS client",
		},
		{
			Side: ServerSide,
			Pattern: `bogus greeting from client: \\*"?\\*x16|"\\*x16\\x03[^"]*" 400|HTTP method \\*x16` +
				`|invalid (?:method|request line|character)[^;]*\\x16\\x03` +
				`|Invalid character found in method name \[?(?:\\?0x16|\\x16|.?\\u0016)` +
				`|HPE_INVALID_METHOD.*\\x16|CNTL=0x16|Illegal character (?:CNTL=)?0x16` +
				`|Invalid HTTP (?:request|method).*(?:\\x16\\x03|0x16)`,
			Sample: "10.0.3.17 - - [21/Nov/2026:08:00:00 +0000] \"\\x16\\x03\\x01\\x02\\x00\\x01\\x00\\x01\\xFC\\x03\\x03\" 400 150 " +
				"\"-\" \"-\"",
		},
	},
	match: func(e *Evidence) bool { return e.PeerProtocol != "" && e.PeerProtocol != "echo" },
})

var reasonPlaintextOnTLSPort = register(Reason{
	ID:       "plaintext_on_tls_port",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "plain text was sent to a port that speaks TLS",
	Meaning: "A client sent plain text to a port that expects TLS. The server is fine; the client's URL, " +
		"scheme or setting is wrong.",
	Breaks: "That client: a health check that stays red, a scrape without data, a redirect that never " +
		"works.",
	OtherSide: "Go \"client sent an HTTP request to an HTTPS server\"; OpenSSL \"http request\"; BoringSSL and " +
		"Envoy HTTP_REQUEST; nginx answers 400 \"The plain HTTP request was sent to HTTPS port\"; Istio " +
		"\"NR filter_chain_not_found\".",
	Causes: []string{
		"A probe or scrape without scheme: HTTPS on an https port.",
		"An http:// URL for an https Service.",
		"A load balancer forwards port 80 to the TLS port.",
		"A gRPC client with \"insecure\" towards a TLS server.",
		"Istio STRICT: a client without a sidecar speaks plain text.",
	},
	Fixes: []string{
		"Try both: curl -v http://HOST:PORT/; curl -vk https://HOST:PORT/",
		"Probe: kubectl -n NAMESPACE patch deployment DEPLOYMENT --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/0/readinessProbe/httpGet/scheme\",\"value\":\"HTTPS\"}]'",
		"Prometheus: scheme: https in the scrape job or ServiceMonitor endpoint",
		"ingress-nginx before a TLS backend: annotation nginx.ingress.kubernetes.io/backend-protocol: HTTPS",
		"gRPC: use TLS credentials; for OpenTelemetry tls: {insecure: false}",
		fixMeshServer,
	},
	Cite: "RFC 9110, Section 4.2.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `sent an HTTP request to an HTTPS server` +
				`|(?:client sent )?plain HTTP request (?:was sent )?to (?:the )?(?:HTTPS|TLS) port` +
				`|speaking plain HTTP to an SSL-enabled server port` +
				`|Bad Request\W+This combination of host and port requires TLS` +
				`|malformed HTTP response "\\x15\\x03|Received HTTP/0\.9 when not allowed` +
				`|error reading server preface: (?:EOF|unexpected EOF|(?:read tcp [^:]*(?::\d+)?[^ ]* ?(?:read: )?)?connection reset)` +
				`|Illegal character .*\\x15\\x03|HPE_INVALID_CONSTANT.*\\x15` +
				`|Parse Error: Expected HTTP/.*|BadStatusLine\('?\\x15\\x03` +
				`|(?:could not parse|Invalid) (?:HTTP )?(?:status line|version)[^;]*\\x15\\x03` +
				`|net::ERR_INVALID_HTTP_RESPONSE`,
			Sample: "Readiness probe failed: Get \"http://10.1.2.3:8443/ready\": net/http: HTTP/1.x transport connection " +
				"broken: malformed HTTP response \"\\x15\\x03\\x01\\x00\\x02\\x02\"",
		},
		{
			Side: ServerSide,
			Pattern: `(?:SSL routines:[^:]*:|error:[0-9A-F]{8}:[^:]*:[^:]*:|\[SSL: HTTP_REQUEST\] ?)https? (?:proxy )?request\b` +
				`|OPENSSL_internal:HTTPS?_(?:PROXY_)?REQUEST\b|ERR_SSL_HTTPS?_(?:PROXY_)?REQUEST` +
				`|\[SSL: HTTPS?_(?:PROXY_)?REQUEST\]|NR filter_chain_not_found|filter_chain_not_found` +
				`|AH01996: SSL handshake failed: HTTP spoken on HTTPS port` +
				`|ServerHandshake\("[^"]+"\) failed: tls: first record|HTTP spoken on HTTPS port`,
			Sample: "ssl.SSLError: [SSL: HTTP_REQUEST] http request (_ssl.c:1006)",
		},
	},
})

var reasonProxyProtocolMismatch = register(Reason{
	ID:       "proxy_protocol_mismatch",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants a PROXY protocol header first",
	Meaning: "One side uses the PROXY protocol and the other does not. A server that wants the header " +
		"closes the connection right after our ClientHello; one that does not want it sees garbage.",
	Breaks: "Clients that do not come through the load balancer; often those inside the cluster, such as " +
		"cert-manager's self check.",
	OtherSide: "nginx \"broken header: ... while reading PROXY protocol\". An empty header is a TCP health " +
		"check.",
	Causes: []string{
		"Traffic inside the cluster to the load balancer's address is short-cut by kube-proxy and lacks the " +
			"header.",
		"use-proxy-protocol was switched on at the controller but not at the load balancer, or the reverse.",
		"A health check of the load balancer sends no header (the header in the line is empty): noise.",
	},
	Fixes: []string{
		"Try with a header: curl -vk --haproxy-protocol https://HOST:PORT/",
		"ingress-nginx: kubectl -n ingress-nginx get configmap ingress-nginx-controller -o " +
			"jsonpath='{.data.use-proxy-protocol}'",
		"Switch it on at an AWS load balancer: kubectl -n NAMESPACE annotate svc SERVICE " +
			"service.beta.kubernetes.io/aws-load-balancer-proxy-protocol='*'",
		"Keep cluster traffic from the short cut: the provider's hostname annotation on the Service, or " +
			"status.loadBalancer.ingress[].ipMode: Proxy",
	},
	Cite: "https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `broken header: "[^"]*"? ?while reading PROXY protocol|while reading PROXY protocol` +
				`|(?:invalid|bad|missing|malformed|no|unexpected) PROXY protocol (?:v\d )?(?:header|signature)` +
				`|PROXY protocol (?:header )?(?:error|not found|missing)` +
				`|Received something which does not look like a PROXY protocol header` +
				`|proxyproto: (?:did not|invalid|can)|failed to read (?:the )?proxy (?:protocol )?header` +
				`|error reading proxy-?protocol|AH0355\d: RemoteIPProxyProtocol`,
			Sample: "2021/03/25 00:50:06 [error] 36#36: *225344 broken header: \"\" while reading PROXY protocol, client: " +
				"10.42.1.0, server: 0.0.0.0:443",
		},
	},
})
