package probe

// What lies between us and the answer: proxies, credentials, HTTP/3 beside TCP.

var reasonProxyRefused = register(Reason{
	ID:       "proxy_refused",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "the proxy does not connect to the target",
	Meaning: "The connection to the proxy of proxy_url is up, and the proxy was asked for one to the target " +
		"(CONNECT, or SOCKS). It said no, or nothing. Of the target nothing is known.",
	Breaks:    "Whatever goes through this proxy to this target.",
	OtherSide: "The proxy logs the refusal, with its rule or the error of its own connection.",
	Causes: []string{
		"The proxy's rules do not allow the host or the port (403).",
		"It wants credentials (407).",
		"It cannot resolve or reach the target itself (502, 503, 504).",
		"proxy_url is no proxy, but a web server (400, 405).",
	},
	Fixes: []string{
		"Try it: curl -v -x PROXY https://HOST:PORT/",
		"Credentials go into the URL (proxy_url: http://USER:PASSWORD@HOST:3128) or into proxy_connect_header",
		"Around the proxy for this target: no_proxy: HOST",
	},
	Cite: "RFC 9110, Section 9.3.6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `CONNECT tunnel failed|Received HTTP code \d+ from proxy after CONNECT|proxyconnect tcp: [^;]*(?:Forbidden|Bad Gateway|Required)` +
				`|Tunnel connection failed: \d+|ERR_TUNNEL_CONNECTION_FAILED|ERR_PROXY_CONNECTION_FAILED` +
				`|Unable to tunnel through proxy|tunneling socket could not be established`,
			Sample: "curl: (56) CONNECT tunnel failed, response 403",
		},
	},
})

var reasonCredentialsUnavailable = register(Reason{
	ID:       "credentials_unavailable",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "what to send could not be had",
	Meaning: "The module names a file with a secret or a body, or an authorization server that hands out " +
		"tokens, and that failed. Nothing was sent: the target is not to blame.",
	Breaks:    "This target's probes only.",
	OtherSide: "Nothing at the target. The authorization server logs why it hands out no token.",
	Causes: []string{
		"The file is missing, or not readable by tlsprobe's user: a Secret is not mounted.",
		"The authorization server does not know the client (401), or cannot be reached.",
	},
	Fixes: []string{
		"Can the file be read? kubectl -n NAMESPACE exec POD -- ls -l FILE",
		"Ask for a token: curl -sS -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials TOKEN_URL",
	},
	Cite: "RFC 6749, Section 4.4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `oauth2: cannot fetch token|oauth2: "?(?:invalid_client|unauthorized_client|invalid_grant)` +
				`|unable to read (?:basic auth|authorization credentials|oauth2 client secret|bearer token)`,
			Sample: `Get "https://api.lab/": oauth2: cannot fetch token: 401 Unauthorized`,
		},
	},
})

var reasonHTTP3Unreachable = register(Reason{
	ID:       "http3_unreachable",
	Phase:    PhaseRequest,
	Severity: Warning,
	Title:    "the HTTP/3 that is advertised does not answer",
	Meaning: "The server's Alt-Svc header says that HTTP/3 is to be had over UDP, and a QUIC handshake there " +
		"fails. Browsers remember the header, try UDP first, and fall back.",
	Breaks:    "Nothing at once: clients lose time before they fall back to TCP, and HTTP/3 is not in use.",
	OtherSide: "Nothing: no packet arrives.",
	Causes: []string{
		"A firewall, security group or NetworkPolicy lets TCP through only: here, or at the server.",
		"The Service or load balancer maps the TCP port only.",
		"The server advertises a port that only others see (behind NAT or a CDN).",
	},
	Fixes: []string{
		"Try it: curl --http3-only -v https://HOST/",
		"Add the UDP port to the Service: kubectl -n NAMESPACE edit svc SERVICE (protocol: UDP, port 443)",
		"Or stop advertising it: nginx: remove add_header Alt-Svc; Caddy: servers { protocols h1 h2 }",
	},
	Cite: "RFC 9114, Section 3.1.1",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=http3_unreachable\b|ALT_SVC_[A-Z_]*BROKEN|marking alternative service[^;]*broken`,
			Sample:  `level=WARN msg="Target warns" target=shop reason=http3_unreachable`,
		},
	},
})
