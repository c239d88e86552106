package probe

// How a handshake ends without a verdict. Order counts: classify takes the first match.

var reasonLargeClientHello = register(Reason{
	ID:       "large_client_hello",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "something on the way cannot take a large ClientHello",
	Meaning: "A handshake with a small ClientHello succeeds, the usual one of two TCP segments does not. " +
		"Something between here and the peer cannot take a ClientHello that is split. Post-quantum " +
		"key shares (X25519MLKEM768) made it that large.",
	Breaks: "Recent clients: Go 1.24 and later, Chrome, OpenSSL 3.5. Older ones work, which makes it " +
		"puzzling.",
	OtherSide: "Nothing, or EOF or a timeout.",
	Causes: []string{
		"A firewall, DPI or load balancer that reads the SNI from the first segment only.",
		"An old TLS server with a fixed buffer.",
	},
	Fixes: []string{
		"Compare: GODEBUG=tlsmlkem=0 tlsprobe probe HOST:PORT; tlsprobe probe HOST:PORT",
		"As a stop-gap in the client: GODEBUG=tlsmlkem=0 (Go), -curves X25519:P-256 (openssl)",
		"Update or bypass the box; ask its vendor for \"fragmented ClientHello\"",
	},
	Cite: "https://tldr.fail",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=large_client_hello\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=vault reason=large_client_hello",
		},
	},
})

var reasonPathMTU = register(Reason{
	ID:       "path_mtu",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "large packets are lost on the way",
	Meaning: "Small packets get through and full-sized ones do not: the path's MTU is smaller than this " +
		"side thinks, and the ICMP message that would say so is lost. With a smaller segment size " +
		"(MSS 536) the handshake succeeds.",
	Breaks: "All TLS over this path: handshakes hang although connecting works. kubectl logs and exec " +
		"hang too.",
	OtherSide: "A timeout, or nothing.",
	Causes: []string{
		"An overlay (VXLAN, IPIP, WireGuard, VPN) with the MTU of the underlying network.",
		"A firewall that drops ICMP \"fragmentation needed\" or \"packet too big\".",
		"Nodes or clouds with different MTU.",
	},
	Fixes: []string{
		"Find the size: ping -M do -s 1472 ADDRESS; lower it until it answers (MTU is the size + 28)",
		"See the interfaces, on the node: ip link | grep mtu",
		"Lower the CNI's MTU (Calico): kubectl patch installation default --type merge -p " +
			"'{\"spec\":{\"calicoNetwork\":{\"mtu\":1440}}}'",
		"Clamp on the router: iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS " +
			"--clamp-mss-to-pmtu",
	},
	Cite: "RFC 2923, Section 2.1",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=path_mtu\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=apiserver reason=path_mtu",
		},
	},
})

var _ = register(Reason{
	ID:       "bad_record_mac",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "a TLS record could not be decrypted",
	Meaning: "A record failed its check. In a Go server's log (\"local error: tls: bad record MAC\") it is " +
		"mostly no corruption: a client with OpenSSL that distrusts OUR certificate over TLS 1.3 " +
		"sends its alert in plain text, and Go cannot decrypt it.",
	Breaks: "Those clients: curl, Python, Ruby, PHP that do not trust this server. With real corruption: " +
		"single connections, at random.",
	OtherSide: "The client logs \"certificate verify failed\" with the cause.",
	Causes: []string{
		"Go server: an OpenSSL client does not trust the served certificate.",
		"kernel TLS or NIC offload faults, or a middlebox that rewrites.",
		"Damaged memory or network hardware (rare).",
	},
	Fixes: []string{
		"Who is the client? kubectl get pods -A -o wide | grep -w ADDRESS",
		"Look with its eyes: kubectl -n NAMESPACE exec POD -- curl -v https://SERVICE.NAMESPACE.svc:PORT/",
		"Give it the CA: curl --cacert CA_FILE, REQUESTS_CA_BUNDLE, SSL_CERT_FILE",
		"Rule out offload, on the node: ethtool -K IFACE tls-hw-tx-offload off tls-hw-rx-offload off",
	},
	Cite: "RFC 8446, Section 5.2",
	Logs: []LogPattern{
		{
			Side: EitherSide,
			Pattern: `tls: bad record MAC|alert bad record mac` +
				`|(?:SSL routines|OPENSSL_internal)[^ ]*:(?:decryption[ _]failed|bad[ _]record[ _]mac)` +
				`|DECRYPTION_FAILED_OR_BAD_RECORD_MAC|\bbad_record_mac\b` +
				`|decryption failed or bad record mac|ERR_SSL_BAD_RECORD_MAC|SSL_ERROR_BAD_MAC\w*` +
				`|AEADBadTagException|cannot decrypt peer's message|\bDecryptError\b.*rustls` +
				`|Decryption has failed|Tag mismatch`,
			Sample: "http: TLS handshake error from 10.1.2.3:51234: local error: tls: bad record MAC",
		},
	},
	match: func(e *Evidence) bool { return e.Alert == alertBadRecordMAC },
})

var reasonConnectionReset = register(Reason{
	ID:       "connection_reset",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer reset the connection during the handshake",
	Meaning: "The connection was torn down (RST) before the handshake ended. Nobody said why. In a " +
		"server's log it is the client, or something between, that did it.",
	Breaks: "Clients that take this way. Others may be fine.",
	OtherSide: "Go \"read: connection reset by peer\"; nginx \"(104: Connection reset by peer) while SSL " +
		"handshaking\"; HAProxy \"Connection error during SSL handshake\".",
	Causes: []string{
		"The server does not speak TLS there and gave up on the bytes.",
		"Istio STRICT, an AuthorizationPolicy or a NetworkPolicy engine resets the connection.",
		"A middlebox does not like the ClientHello (its size or the server name).",
		"A stale NAT or conntrack entry: the endpoint behind the Service is gone.",
		"In a server's log: a client that gave up, a port scanner, a TCP health check.",
	},
	Fixes: []string{
		"Does it speak plain text? curl -v http://POD_IP:PORT/",
		"Leave the Service out: openssl s_client -connect POD_IP:TARGET_PORT </dev/null",
		"A small ClientHello: openssl s_client -connect HOST:PORT -tls1_2 </dev/null",
		"See the mesh's rules: kubectl get peerauthentication,authorizationpolicy -A",
		"Who is the client? kubectl get pods -A -o wide | grep -w ADDRESS",
	},
	Cite: "RFC 9293, Section 3.5.2",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `\(35\) (?:OpenSSL[^:]*: )?(?:Recv failure: )?Connection (?:was )?reset` +
				`|SSL_connect[^;]*(?:Connection reset|ECONNRESET|SYSCALL[^;]*errno=104)` +
				`|Connection reset by peer - SSL_connect|write:errno=104` +
				`|(?:TLS|SSL|handshake|https://)[^;]*(?:read|write): connection reset by peer` +
				`|\bread ECONNRESET\b|SocketException: (?:Connection reset|Broken pipe)` +
				`|SSL: Connection reset by peer|transport connection: Connection reset` +
				`|ConnectionResetError\b|ERR_CONNECTION_RESET|PR_CONNECT_RESET_ERROR|CONNECT_RESET` +
				`|Connection reset by peer \(os error`,
			Sample: "curl: (35) Recv failure: Connection reset by peer",
		},
		{
			Side:    EitherSide,
			Vague:   true,
			Pattern: `^(?:read: )?connection reset by peer$`,
			Sample:  "read: connection reset by peer",
		},
		{
			Side: ServerSide,
			Pattern: `\(104: (?:Connection reset by peer|ECONNRESET)\) while SSL handshaking` +
				`|Connection error during SSL handshake` +
				`|TLS handshake error from \S+: (?:read|write) [^;]*connection reset by peer` +
				`|peer closed connection in SSL handshake \(104|OPENSSL_internal:Connection reset by peer` +
				`|SSL_do_handshake\(\)[^;]*104: Connection reset` +
				`|rejected connection from[^;]*connection reset by peer`,
			Sample: "http: TLS handshake error from 10.0.3.17:51240: read tcp 10.0.9.4:8443->10.0.3.17:51240: read: " +
				"connection reset by peer",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndReset },
})

var reasonEOF = register(Reason{
	ID:       "eof",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer closed the connection during the handshake",
	Meaning: "The other side closed before the handshake ended and gave no reason. In a server's log the " +
		"CLIENT went away. In a client's log the SERVER, or a load balancer before it, did.",
	Breaks: "In a server's log often nothing: a health check. If a webhook's calls fail at the same " +
		"times, admission. In a client's log: that server cannot be used.",
	OtherSide: "The other side often logs nothing, or its own timeout or verification error.",
	Causes: []string{
		"Server log: a TCP health check (kubelet tcpSocket, load balancer) that connects and closes, at an " +
			"even period, from one or two addresses.",
		"Server log: the client gave up, because this server was slow (CPU throttled) or its request was " +
			"cancelled. For a webhook the client is the API server, or konnectivity in its place.",
		"Server log: a Node.js client does not trust the certificate; over TLS 1.3 it closes without an " +
			"alert.",
		"Client log: a load balancer without a healthy backend accepts and closes.",
		"Client log: the server expects a PROXY protocol header, or does not speak TLS.",
		"A tunnel (konnectivity, SSH, VPN) lost the alert and passed on the close only.",
	},
	Fixes: []string{
		"Who is the peer? kubectl get pods,nodes -A -o wide | grep -w ADDRESS",
		"Is it a health check? kubectl -n NAMESPACE get deploy DEPLOYMENT -o yaml | grep -A4 tcpSocket",
		"Make it an HTTPS check: httpGet: {scheme: HTTPS, port: PORT, path: /healthz} in place of tcpSocket",
		"Does the webhook work? kubectl get --raw '/metrics' | grep " +
			"apiserver_admission_webhook_fail_open_count",
		"Was it throttled? kubectl -n NAMESPACE top pod; kubectl -n NAMESPACE describe pod POD | grep -A3 -i " +
			"'last state'",
		"Leave out what is between: openssl s_client -connect POD_IP:PORT -servername NAME </dev/null",
	},
	Cite: "RFC 8446, Section 6.1",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `TLS handshake error from [^;]*: (?:unexpected )?EOF\b` +
				`|(?:client|peer) closed connection (?:in SSL handshake )?while SSL handshaking` +
				`|Connection closed during SSL handshake|SSL handshake stopped: connection was closed` +
				`|tlsClientError[^;]*(?:ECONNRESET|socket hang up)` +
				`|rejected connection from[^;]*\(?error \\?"(?:unexpected )?EOF|AH02006` +
				`|could not accept SSL connection: EOF detected` +
				`|rejected connection[^;]*"?error"?:? ?\(?"?(?:unexpected )?EOF` +
				`|ServerHandshake\([^)]*\) failed: (?:unexpected )?EOF` +
				`|(?:TLS|SSL) handshake[^;]{0,80}: (?:unexpected )?EOF$`,
			Sample: "2025/07/23 05:54:05 http: TLS handshake error from 10.244.0.233:44430: EOF",
		},
		{
			Side: ClientSide,
			Pattern: `SSL_ERROR_SYSCALL in connection to|Client network socket disconnected before secure TLS` +
				`|non-properly terminated|SSLEOFError|UNEXPECTED_EOF_WHILE_READING` +
				`|unexpected eof while reading` +
				`|Remote host (?:terminated|closed) (?:the handshake|connection during handshake)` +
				`|SSL peer shut down incorrectly|unexpected EOF or 0 bytes from the transport` +
				`|tls handshake eof|ERR_CONNECTION_CLOSED|PR_END_OF_FILE_ERROR` +
				`|(?:close_notify|closed) during handshake|Received close_notify during handshake` +
				`|EOF occurred in violation of protocol` +
				`|schannel: (?:server closed the connection|failed to receive handshake)` +
				`|authentication handshake failed: (?:unexpected )?EOF` +
				`|(?:sslv3|tlsv1|ssl/tls)[_ ]alert[_ ]close[_ ]notify|fatal alert: CloseNotify` +
				`|tls: close notify|write:errno=0$` +
				`|closed connection during (?:the )?(?:TLS|SSL)? ?handshake|handshake interrupted` +
				`|SSL_connect SYSCALL returned=5 errno=0`,
			Sample: "curl: (35) OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to svc.lab:443",
		},
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `https://[^ ]*"?: (?:unexpected )?EOF(?:["')\s,]|$)|tls: (?:unexpected )?EOF\b` +
				`|(?:failed calling webhook|error dialing backend)[^;]*: EOF\b`,
			Sample: "Get \"https://svc.lab/x\": unexpected EOF",
		},
		{
			Side:    EitherSide,
			Vague:   true,
			Pattern: `^"?(?:unexpected )?EOF"?$|^SSL_ERROR_SYSCALL$`,
			Sample:  "EOF",
		},
		{
			Side:    ProxySide,
			Vague:   true,
			Pattern: `reset reason: (?:connection termination|(?:remote )?connection failure(?:, transport failure reason: ?)?"?$)`,
			Sample:  "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndFIN || e.End == EndCloseNotify },
})

var reasonTLSTimeout = register(Reason{
	ID:       "tls_timeout",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the handshake did not end in time",
	Meaning: "The connection was opened, but the handshake did not finish before the deadline. Something " +
		"accepts connections and does not answer.",
	Breaks: "Everything that needs this server; clients wait the full timeout each time.",
	OtherSide: "Go \"i/o timeout\"; nginx \"client timed out (110...) while SSL handshaking\"; HAProxy \"Timeout " +
		"during SSL handshake\".",
	Causes: []string{
		"Large packets are lost (path_mtu), or a box chokes on the ClientHello (large_client_hello).",
		"The server is overloaded or stuck: it accepts in the kernel only.",
		"The server waits for another protocol in which the client speaks first.",
		"A firewall or load balancer answers the SYN in the server's place.",
	},
	Fixes: []string{
		"Where does it stop? curl -v --max-time 10 https://HOST:PORT/; openssl s_client -connect HOST:PORT " +
			"-tls1_2 </dev/null",
		"Leave the Service out: openssl s_client -connect POD_IP:TARGET_PORT </dev/null",
		"See the load: kubectl -n NAMESPACE top pod; kubectl -n NAMESPACE describe pod POD | grep -i -A5 " +
			"limits",
		"Try the path: ping -M do -s 1472 ADDRESS",
	},
	Cite: "RFC 8446, Section 4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `TLS handshake timeout|handshake operation timed out|handshake (?:has )?timed ?out` +
				`|\(28\) (?:SSL )?connection time(?:d )?-?out|SSL connection timeout` +
				`|tls: DialWithDialer timed out|SslHandshakeTimeoutException` +
				`|authentication handshake failed: context deadline exceeded|_ssl\.c:\d+: The handshake` +
				`|Timeout during SSL handshake|cURL error 28: SSL|Handshake did not complete` +
				`|tls handshake: deadline|TLS negotiation timed out|handshake timer expired`,
			Sample: "net/http: TLS handshake timeout",
		},
		{
			Side:    EitherSide,
			Vague:   true,
			Pattern: `^i/o timeout$|tls: i/o timeout$`,
			Sample:  "tls: i/o timeout",
		},
		{
			Side: ServerSide,
			Pattern: `timed out \(110: (?:Connection|Operation) timed out\) while SSL handshaking` +
				`|TLS handshake error from [^;]*: (?:read tcp [^;]*)?i/o timeout` +
				`|Timeout during SSL handshake|Layer6 timeout|READ_TIMEOUT_EXPIRED` +
				`|TLS handshake error from [^;]*: context deadline exceeded` +
				`|rejected connection from[^;]*i/o timeout`,
			Sample: "2026/11/21 02:20:59 [info] 17968#17968: *20 client timed out (110: Connection timed out) while SSL " +
				"handshaking, client: 10.0.3.17, server: 0.0.0.0:443",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndTimeout },
})
