package probe

// What is left of a handshake's failures. These stand last among those of TLS: classify
// takes the first match.

var _ = register(Reason{
	ID:       "alert_other",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer ended the handshake with an alert",
	Meaning: "The peer refused with an alert that has no entry of its own (the number is in the detail). " +
		"It is about what WE sent. decrypt_error (51) means a signature that does not fit the key; " +
		"access_denied (49) is a policy.",
	Breaks:    "Clients like this one. Others may be accepted.",
	OtherSide: "The peer's log knows why.",
	Causes: []string{
		"The client's certificate and key do not belong together, or a PSS signature is not understood (51).",
		"A policy of the server or mesh forbids this identity (49).",
		"The user or program cancelled (90).",
		"Encrypted ClientHello is required or was rejected (121).",
	},
	Fixes: []string{
		"Read the peer's log at that time: kubectl -n NAMESPACE logs POD --since=10m | grep -i -E " +
			"'tls|ssl|handshake'",
		"Check the client's pair: openssl x509 -in CERT_FILE -noout -pubkey | sha256sum; openssl pkey -in " +
			"KEY_FILE -pubout | sha256sum",
		"See the mesh's policies: kubectl get authorizationpolicy -A",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `Received fatal close_notify alert|server rejected ECH|ECH_REJECTED` +
				`|SSL_ERROR_(?:ACCESS_DENIED|DECRYPT_ERROR|USER_CANCELED)_ALERT|received fatal alert:? ` +
				`|fatal alert (?:message )?was received|Unknown alert description` +
				`|TLS fatal alert has been received|remote party sent a TLS alert`,
			Sample: "javax.net.ssl.SSLException: Received fatal close_notify alert",
		},
		{
			Side:    ClientSide,
			Vague:   true,
			Pattern: `remote error: tls: (?:access denied|error decrypting message|user canceled|encrypted client hello required|alert\(\d+\))`,
			Sample:  "remote error: tls: access denied",
		},
	},
	match: func(e *Evidence) bool {
		return e.AlertFrom == Peer && !e.protocolAlert()
	},
})

var _ = register(Reason{
	ID:       "tls_protocol_error",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer broke the TLS protocol",
	Meaning: "TLS was spoken, but against the rules: an unexpected message, a length or signature that is " +
		"wrong, an extension that may not be there. One of the two sides, or a box between them, is " +
		"faulty.",
	Breaks: "This pair of client and server. Other clients may work.",
	OtherSide: "The alert that was sent: unexpected_message, decode_error, illegal_parameter, " +
		"record_overflow.",
	Causes: []string{
		"A middlebox rewrites or bridges TLS.",
		"A load balancer mixes backends within one connection.",
		"An echo service or a loop: our own bytes came back.",
		"A fault of a TLS library, or FIPS rules on one side.",
	},
	Fixes: []string{
		"Leave out what is between: openssl s_client -connect POD_IP:PORT -servername NAME -msg </dev/null",
		"Try one version at a time: openssl s_client -connect HOST:PORT -tls1_2 </dev/null; openssl s_client " +
			"-connect HOST:PORT -tls1_3 </dev/null",
		"Record it: tcpdump -i any -w handshake.pcap host ADDRESS and port PORT",
		"Update the TLS library of the older side",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `oversized record received` +
				`|tls: (?:received unexpected handshake message|unexpected message|unsupported (?:message|extension)|missing extension|record overflow|decompression failure|decryption failed|illegal parameter|error decoding message|invalid (?:signature|Finished|server|client|key)|server (?:sent|selected|resumed|changed|accepted|'?s)|client (?:sent|hello)|certificate unobtainable|bad certificate (?:status response|hash value)|unknown PSK identity|handshake message of length|too many (?:ignored|non-advancing|key updates)|incorrect|malformed|(?:server|client)(?:'s)? [a-z])` +
				`|error decoding message`,
			Sample: "Get \"https://svc.lab/x\": tls: oversized record received with length 65535",
		},
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `SSLProtocolException` +
				`|(?:SSL routines|OPENSSL_internal)[^ ]*:(?:unexpected[ _](?:message|record|ccs message|extension)|decode[ _]error|bad[ _](?:signature|extension|packet[ _]length|change[ _]cipher[ _]spec|ecpoint|key[ _]share|hello[ _]request)|digest[ _]check[ _]failed|length[ _]mismatch|data[ _]length[ _]too[ _]long|encrypted[ _]length[ _]too[ _]long|excessive[ _]message[ _]size|ccs[ _]received[ _]early|got[ _]a[ _]fin|missing[ _]extension|unsolicited[ _]extension|parse[ _]tlsext)` +
				`|InappropriateHandshakeMessage|InappropriateMessage|PeerMisbehaved` +
				`|received corrupt message|SEC_E_(?:ILLEGAL_MESSAGE|DECRYPT_FAILURE|MESSAGE_ALTERED)` +
				`|SSL_ERROR_(?:RX_UNEXPECTED|RX_MALFORMED|ILLEGAL_PARAMETER|DECODE_ERROR|BAD_HANDSHAKE)\w*` +
				`|An illegal parameter has been received|An unexpected TLS handshake packet`,
			Sample: "error:0A0000F4:SSL routines::unexpected message",
		},
		{
			Side:    ServerSide,
			Vague:   true,
			Pattern: `TLS handshake error from [^;]*: (?:tls: |unsupported signature algorithm|expected an? \w+ public key|\w+ verification failure)`,
			Sample:  "http: TLS handshake error from 10.0.3.17:51296: tls: client sent an invalid key share",
		},
	},
	match: func(e *Evidence) bool { return true },
})

var _ = register(Reason{
	ID:       "tls_unspecified",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "TLS failed, and the log line does not say how",
	Meaning: "The program logs only that TLS failed. The cause is in its debug log, in the other side's " +
		"log, or found by probing.",
	Breaks:    "The connection of the line. What is behind it cannot be told from it.",
	OtherSide: "Perhaps the cause: read it at the same time.",
	Causes: []string{
		"Clients that do not trust the certificate.",
		"No version, cipher suite or server name in common.",
		"A health check or scanner that does not speak TLS.",
	},
	Fixes: []string{
		"Probe it: tlsprobe probe HOST:PORT",
		"HAProxy: show the cause with option error-log-format, %[ssl_fc_err_str] in the log-format; or echo " +
			"'show errors' | socat stdio /run/haproxy/admin.sock",
		"Apache: LogLevel ssl:debug; Envoy: curl -XPOST localhost:15000/logging?connection=debug",
	},
	Cite: "https://docs.haproxy.org/3.0/configuration.html#8.2.5",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `TLS[ _]error:[ _]?\|?\d+|handshake failed with (?:fatal )?error` +
				`|The SSL connection could not be established|Could not create SSL/TLS secure channel` +
				`|An SSL error has occurred|SSL_ERROR_SSL\b|SSL routines:[^:]*:ssl handshake failure` +
				`|CURLE_SSL_CONNECT_ERROR|curl: \(35\)|cURL error 35` +
				`|transport: authentication handshake failed|SSL negotiation failed|GnuTLS error ` +
				`|SSL connect attempt failed|SSLHandshakeException|SSLException: |Failure in SSL library`,
			Sample: "TLS error: 33556294:system library:OPENSSL_internal:unknown error",
		},
		{
			Side:  ServerSide,
			Vague: true,
			Pattern: `SSL handshake failure\b|SSL[_ ]accept\w*[^;]{0,60}(?:failed|error)|AH02008|AH02007` +
				`|SSL library error \d+ in handshake|could not accept SSL connection` +
				`|TLS handshake error from ` +
				`|(?:TLS|SSL)[ _-]?handshake[^;]{0,40}(?:fail|error|abort|reject)` +
				`|(?:fail|error)[^;]{0,40}(?:TLS|SSL)[ _-]?handshake|ERR_TLS_HANDSHAKE`,
			Sample: "127.0.0.1:47196 [21/Nov/2026:02:22:08.018] plainlog/1: SSL handshake failure",
		},
		{
			Side:    ProxySide,
			Vague:   true,
			Pattern: `Layer6 invalid response|SSL_do_handshake\(\) failed[^;]*to upstream`,
			Sample: "Server chk/plain is DOWN, reason: Layer6 invalid response, info: \"SSL handshake failure\", check " +
				"duration: 0ms.",
		},
	},
	LogOnly: true,
})
