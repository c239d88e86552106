package probe

// How a request fails once TLS is up. Order counts: classify takes the first match.

var reasonACMEChallengeFailed = register(Reason{
	ID:       "acme_challenge_failed",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the ACME challenge is not answered with its key",
	Meaning: "Whoever fetches http://HOST/.well-known/acme-challenge/TOKEN, as the CA does and cert-manager " +
		"before it, gets no answer, or another one than the key. The problem that follows says what is in " +
		"the way; if none does, somebody else answered. No certificate is issued until it is gone.",
	Breaks: "Issuing and renewing that certificate. The ingress goes on with the old one, or with its " +
		"default certificate.",
	OtherSide: "The solver pod logs nothing, as the request does not reach it. The ingress logs the request if it " +
		"got that far.",
	Causes: []string{
		"The solver pod is on a node that the ingress cannot reach: its own address fails from some nodes, " +
			"and from others not.",
		"Another ingress class or a catch-all host takes the path, and answers 404, 503 or its own page.",
		"DNS does not point to this ingress, or cluster DNS answers otherwise.",
		"The load balancer's address does not work from inside (hairpin, PROXY protocol, " +
			"externalTrafficPolicy: Local).",
		"A redirect leads to https that does not work, or asks for a login.",
	},
	Fixes: []string{
		"See what fails: kubectl get challenges -A; kubectl -n NAMESPACE describe challenge CHALLENGE",
		"Where does the solver sit, and is it ready? kubectl -n NAMESPACE get pods -l " +
			"acme.cert-manager.io/http01-solver=true -o wide",
		"Which class has its Ingress? kubectl -n NAMESPACE get ingress -l acme.cert-manager.io/http01-solver=true; " +
			"kubectl get ingressclass",
		"Fetch it from a node that fails, past the ingress and through it: curl -v -H 'Host: HOST' " +
			"http://POD_IP:8089/.well-known/acme-challenge/TOKEN; curl -vL " +
			"http://HOST/.well-known/acme-challenge/TOKEN",
		"Bring the solver to the ingress node: in the Issuer, " +
			"solvers[].http01.ingress.podTemplate.spec.affinity.nodeAffinity (or nodeSelector: " +
			"{kubernetes.io/hostname: NODE})",
		"Or validate by DNS: solvers[].dns01",
	},
	Cite: "RFC 8555, Section 8.3",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `failed to perform self check GET request|propagation check failed` +
				`|presented key \([^)]*\) did not match|Waiting for HTTP-01 challenge propagation` +
				`|wrong status code '\d+', expected '200'` +
				`|urn:ietf:params:acme:error:(?:connection|unauthorized|dns|tls|incorrectResponse|caa|malformed)` +
				`|acme[^;]{0,80}(?:challenge|authorization)[^;]{0,60}(?:fail|invalid|error)` +
				`|Invalid response from https?://[^ ]*/\.well-known/acme-challenge` +
				`|(?:Fetching|Timeout during connect)[^;]*acme-challenge|Failed to finalize Order` +
				`|Error accepting (?:challenge|authorization)|order is in "?(?:invalid|errored)"? state`,
			Sample: "propagation check failed: presented key () did not match expected " +
				"(Fo3CAWzk0UsEhB0jxlI6jVAiPCjrWWYh2P60AjGdcJ4)",
		},
	},
})

var reasonEOFAfterHandshake = register(Reason{
	ID:        "eof_after_handshake",
	Phase:     PhaseRequest,
	Severity:  Error,
	Title:     "the peer closed the connection before it answered",
	Meaning:   "TLS was established, the request was sent, and the peer closed without an answer.",
	Breaks:    "Requests to this server, some or all.",
	OtherSide: "Often a crash or restart at that time; a proxy logs 502 or 499.",
	Causes: []string{
		"The server does not like us, after all: a TLS 1.3 server that wants a client certificate says so " +
			"only now.",
		"The backend behind a load balancer or proxy is gone.",
		"The server crashed, was out of memory, or is being shut down.",
		"An idle connection was reused just as the server closed it.",
	},
	Fixes: []string{
		"Try by hand: curl -v https://HOST:PORT/; curl -v --http1.1 https://HOST:PORT/",
		"Was it restarted? kubectl -n NAMESPACE get pods; kubectl -n NAMESPACE logs POD --previous --tail=50",
		"Does it want a certificate? openssl s_client -connect HOST:PORT </dev/null | grep -i 'Acceptable " +
			"client'",
	},
	Cite: "RFC 9112, Section 9.6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\(56\) [^;]*(?:unexpected eof while reading|SSL_ERROR_SYSCALL, errno ? ?0|EOF)` +
				`|curl: \(52\)|cURL error 52|Empty reply from server|server closed idle connection` +
				`|RemoteDisconnected|Remote end closed connection without response|ERR_EMPTY_RESPONSE` +
				`|end of file before message length reached|connection closed before message completed` +
				`|peer closed connection without sending TLS close_notify` +
				`|SSL_read(?:\(\))?(?: failed|:)[^;]*unexpected eof` +
				`|http2: client conn(?:ection)? (?:could not be established|lost)` +
				`|UND_ERR_SOCKET[^;]*other side closed|NoHttpResponseException|ResponseEnded` +
				`|The response ended prematurely|HTTP/1\.1 header parser received no bytes` +
				`|prematurely closed connection while reading response header from upstream, [^;]*upstream: "https`,
			Sample: "curl: (56) OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndFIN || e.End == EndCloseNotify },
})

var reasonResetAfterHandshake = register(Reason{
	ID:       "reset_after_handshake",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer reset the connection before it answered",
	Meaning: "TLS was established, and then the connection was torn down (RST) before an answer. \"broken " +
		"pipe\" means that our side noticed while it was writing.",
	Breaks: "Requests to this server, some or all.",
	OtherSide: "Go \"http2: server: error reading preface from client ...: connection reset by peer\" is the " +
		"other side of it.",
	Causes: []string{
		"A TLS 1.3 server refused our client certificate, or its absence; the alert was lost.",
		"The server was killed, or its pod removed, while connections were open.",
		"A load balancer cut an idle connection.",
		"A server's log: a prober or health check that closes right after the handshake.",
	},
	Fixes: []string{
		"Does it want a certificate? openssl s_client -connect HOST:PORT </dev/null | grep -i 'Acceptable " +
			"client'",
		"Was it killed? kubectl -n NAMESPACE describe pod POD | grep -A5 -i 'last state'",
		"Drain before the end: lifecycle.preStop sleep, and terminationGracePeriodSeconds above it",
	},
	Cite: "RFC 9293, Section 3.5.2",
	Logs: []LogPattern{
		{
			Side:    ServerSide,
			Pattern: `http2: server: error reading preface from client`,
			Sample: "http2: server: error reading preface from client 192.168.2.13:41264: read tcp " +
				"192.168.2.11:6443->192.168.2.13:41264: read: connection reset by peer",
		},
		{
			Side: ClientSide,
			Pattern: `https://[^;]*(?:write: )?broken pipe` +
				`|\(5[56]\) [^;]*(?:Transport endpoint is not connected|Recv failure|Send failure|Connection (?:was )?reset|Broken pipe|SSL_write|errno 104)` +
				`|SSLException: (?:Connection reset|Broken pipe|readHandshakeRecord)|cURL error 5[56]` +
				`|SSL_read: (?:Connection reset|SSL_ERROR_SYSCALL, errno 104)` +
				`|SSL_write: (?:Broken pipe|SSL_ERROR_SYSCALL)` +
				`|recv\(\) failed \(104: [^)]*\) while reading response header from upstream,[^;]*upstream: "https` +
				`|write EPIPE\b|authentication handshake failed: write[^;]*broken pipe`,
			Sample: "Get \"https://svc.lab/x\": write tcp 10.0.3.17:33218->10.0.9.4:8443: write: broken pipe",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndReset },
})

var reasonHTTPTimeout = register(Reason{
	ID:       "http_timeout",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer did not come in time",
	Meaning: "The connection was fine and the request was sent, but the answer did not come before the " +
		"deadline. If the line says no more than \"context deadline exceeded\", even that is not " +
		"certain: probe the target to see the phase.",
	Breaks:    "Callers that wait: a webhook delays each API request by its timeoutSeconds.",
	OtherSide: "nginx 499, Go \"context canceled\": the client went away.",
	Causes: []string{
		"The server is slow: CPU throttled, locked, waiting for another service.",
		"The timeout is shorter than the work.",
		"Large answers are lost on the way (path_mtu).",
	},
	Fixes: []string{
		"Measure it: curl -o /dev/null -s -w 'tls %{time_appconnect} first byte %{time_starttransfer} total " +
			"%{time_total}\\n' https://HOST:PORT/",
		"See the load: kubectl -n NAMESPACE top pod; kubectl -n NAMESPACE describe pod POD | grep -A5 -i " +
			"limits",
		"Webhook: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[*].timeoutSeconds}'",
	},
	Cite: "RFC 9110, Section 15.6.5",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `(?:awaiting headers|reading body)\)` +
				`|(?:https?://|failed calling webhook)[^;]*context deadline exceeded` +
				`|timeout awaiting response headers|Read timed out|The read operation timed out` +
				`|ReadTimeout(?:Error)?\b|SocketTimeoutException|ESOCKETTIMEDOUT` +
				`|\(28\) Operation timed out after|upstream (?:request|response) timeout` +
				`|upstream_response_timeout|upstream timed out \(110: [^)]*\) while reading` +
				`|HttpTimeoutException: request timed out|HeadersTimeoutError`,
			Sample: "Readiness probe failed: Get \"https://10.244.6.3:8000/health\": context deadline exceeded " +
				"(Client.Timeout exceeded while awaiting headers)",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndTimeout },
})

var reasonHTTPStatus = register(Reason{
	ID:       "http_status",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer has an unexpected status",
	Meaning: "TLS and HTTP work; the status is not one the target allows. 401 and 403 from a kubelet or " +
		"the API server mean that TLS is fine and rights are missing.",
	Breaks:    "What the status says. For tlsprobe the target fails until the status is expected.",
	OtherSide: "The request with that status in its access log.",
	Causes: []string{
		"The path or host is wrong for this server.",
		"The server wants credentials.",
		"The application behind a proxy is down (502, 503, 504).",
	},
	Fixes: []string{
		"See it: curl -ksS -D- -o /dev/null https://HOST:PORT/PATH",
		"Expect it, if it is right: valid_status_codes: [200, 401] in the module",
		"Behind a proxy: kubectl -n NAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE",
	},
	Cite: "RFC 9110, Section 15",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `curl: \(22\) The requested URL returned error: \d+|\breason=http_status\b|cURL error 22`,
			Sample:  "curl: (22) The requested URL returned error: 503",
		},
		{
			Side: ClientSide,
			Pattern: `failed to call webhook: (?:the server (?:could not find|is currently unable|rejected|has asked|does not allow)` +
				`|an error on the server \()`,
			Sample: "Internal error occurred: failed calling webhook \"v.example.com\": failed to call webhook: the server " +
				"could not find the requested resource",
		},
	},
})

var reasonHTTPBodyTooLarge = register(Reason{
	ID:       "http_body_too_large",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the body does not end within the limit",
	Meaning: "The answer was fine so far, but its body is longer than body_size_limit, or, where an " +
		"expression has to be tried on it, than the 10 MiB that are read. The rest was left unread.",
	Breaks:    "Nothing by itself: the body cannot be judged, or is not as small as the module demands.",
	OtherSide: "The server may log that the client went away.",
	Causes: []string{
		"The path serves a large or endless body (a stream, a dump).",
		"The limit is set too low for this path.",
	},
	Fixes: []string{
		"Probe a small path such as /healthz",
		"Raise body_size_limit in the module",
	},
	Cite: "RFC 9110, Section 8.6",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `http: response body too large|\breason=http_body_too_large\b|body size limit exceeded`,
			Sample:  "level=WARN msg=\"Target fails\" target=metrics reason=http_body_too_large",
		},
	},
})

var _ = register(Reason{
	ID:       "http_stream_error",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the server ended the request with an error code",
	Meaning: "TLS is up and both sides speak HTTP/2 or HTTP/3, but instead of an answer, or amid it, the " +
		"stream or the connection was ended with an error code (RST_STREAM, GOAWAY, CONNECTION_CLOSE).",
	Breaks:    "This request; the others of that connection as well if it was a GOAWAY.",
	OtherSide: "Often a crash or timeout of the backend; the proxy logs 502 or 504, or the reset.",
	Causes: []string{
		"The backend behind a proxy closed or crashed amid the answer (INTERNAL_ERROR).",
		"The server is overloaded or being shut down (REFUSED_STREAM, ENHANCE_YOUR_CALM, H3_REQUEST_REJECTED).",
		"The server wants HTTP/1.1 for this path (HTTP_1_1_REQUIRED): client certificates asked for late.",
		"One side breaks the protocol (PROTOCOL_ERROR, COMPRESSION_ERROR).",
	},
	Fixes: []string{
		"Try both: curl -v --http2 https://HOST:PORT/; curl -v --http1.1 https://HOST:PORT/",
		"Read the backend's log at that time: kubectl -n NAMESPACE logs POD --since=10m",
		"If only HTTP/2 fails: enable_http2: false in the module shows whether the rest works",
	},
	Cite: "RFC 9113, Section 7; RFC 9114, Section 8.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `stream error: stream ID \d+; [A-Z_0-9]+|server sent GOAWAY and closed the connection;[^;]*ErrCode=(?:[A-MO-Z]|NO_[^E])` +
				`|curl: \(92\)|HTTP/2 stream \d+ was not closed cleanly|ERR_HTTP2_(?:PROTOCOL|SERVER_REFUSED|STREAM)` +
				`|NGHTTP2_[A-Z_]+|\bH3_(?:INTERNAL_ERROR|REQUEST_[A-Z]+|EXCESSIVE_LOAD|MESSAGE_ERROR|GENERAL_PROTOCOL_ERROR)\b`,
			Sample: "Get \"https://svc.lab/\": stream error: stream ID 1; INTERNAL_ERROR; received from peer",
		},
	},
	match: func(e *Evidence) bool { return e.Code != "" },
})

var _ = register(Reason{
	ID:        "http_malformed",
	Phase:     PhaseRequest,
	Severity:  Error,
	Title:     "the answer is not HTTP",
	Meaning:   "TLS is up, but what came inside is not HTTP, or breaks its rules.",
	Breaks:    "HTTP clients of this port.",
	OtherSide: "Its own protocol's complaint about a strange request.",
	Causes: []string{
		"Another protocol runs inside TLS on this port (a database, a broker, SMTP).",
		"The server speaks HTTP/2 only and the client HTTP/1.1, or the reverse.",
		"A broken proxy or application writes bad headers.",
	},
	Fixes: []string{
		"See the bytes: printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect HOST:PORT | head " +
			"-c 200 | xxd",
		"Try HTTP/2: curl -v --http2-prior-knowledge https://HOST:PORT/",
		"Probe it with the tls prober when it is not HTTP",
	},
	Cite: "RFC 9112, Section 2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `malformed HTTP (?:response|status code|version) "[^\\]|curl: \(1\) Received HTTP/0\.9` +
				`|\breason=http_malformed\b|https://[^;]*malformed HTTP (?:response|status)` +
				`|curl: \(8\) (?:Weird server reply|Invalid)|ERR_INVALID_HTTP_RESPONSE` +
				`|upstream sent (?:no valid HTTP/1|invalid header|too big header)[^;]*upstream: "https`,
			Sample: "Get \"https://svc.lab/\": net/http: HTTP/1.x transport connection broken: malformed HTTP response \"220 " +
				"mail.lab ESMTP\"",
		},
	},
	match: func(e *Evidence) bool { return true },
})
