package probe

// What client and server could not agree on. Order counts: classify takes the first
// match.

var reasonProtocolVersion = register(Reason{
	ID:       "protocol_version",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no TLS version in common",
	Meaning: "Client and server share no TLS version (alert 70), or a fallback was refused (alert 86). " +
		"Both speak TLS: this is not wrong_version_number.",
	Breaks: "Clients that are older, or stricter, than the server.",
	OtherSide: "Go \"tls: client offered only unsupported versions\"; OpenSSL \"unsupported protocol\"; JSSE " +
		"\"protocol versions ... are not accepted by server preferences\".",
	Causes: []string{
		"One side's minimum version is above the other's maximum (ssl-protocols of ingress-nginx, " +
			"tlsMinVersion of a component).",
		"An old client: Java 7, early Java 8, Python with an old OpenSSL.",
		"An old server that knows only TLS 1.0 or 1.1; today's clients refuse it.",
		"A middlebox answers in the server's place.",
	},
	Fixes: []string{
		"Find the range: openssl s_client -connect HOST:PORT -tls1_2 </dev/null; openssl s_client -connect " +
			"HOST:PORT -tls1_3 </dev/null",
		"ingress-nginx: kubectl -n ingress-nginx patch configmap ingress-nginx-controller --type merge -p " +
			"'{\"data\":{\"ssl-protocols\":\"TLSv1.2 TLSv1.3\"}}'",
		"A Kubernetes component: set --tls-min-version=VersionTLS12",
		"Better than lowering the server: update the client",
	},
	Cite: "RFC 8446, Section 4.1.3",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `client offered (?:only unsupported versions|TLS version older)` +
				`|supported protocol versions \[.*are not accepted` +
				`|client using inappropriate protocol fallback|no mutually supported protocol versions` +
				`|inappropriate fallback.*SSL routines|peer is incompatible: .*TLS ?1\.[0-3]` +
				`|Tls1[23]NotOffered|SupportedVersionsExtensionRequired`,
			Sample: "http: TLS handshake error from 10.128.0.1:50718: tls: client offered only unsupported versions: [303 " +
				"302 301]",
		},
		{
			Side: ClientSide,
			Pattern: `alert protocol version|selected unsupported protocol version|server selected TLS 1\.3 ` +
				`|downgrade attempt detected|TLS13_DOWNGRADE|DOWNGRADE_DETECTED` +
				`|No appropriate protocol \(protocol is disabled` +
				`|Server chose \S+, but (?:that|this) protocol version is not enabled` +
				`|ERR_SSL_VERSION_OR_CIPHER_MISMATCH` +
				`|SSL_ERROR_(?:UNSUPPORTED_VERSION|PROTOCOL_VERSION_ALERT)` +
				`|did not support a suitable TLS version|\bUNSUPPORTED_SSL_PROTOCOL\b` +
				`|unsupported (?:SSL|TLS) protocol version` +
				`|A packet with illegal or unsupported version was received|wrong ssl version` +
				`|unsupported ssl version|VERSION_TOO_(?:LOW|HIGH)|version too (?:low|high)` +
				`|ServerDoesNotSupportTls`,
			Sample: "javax.net.ssl.SSLHandshakeException: No appropriate protocol (protocol is disabled or cipher suites " +
				"are inappropriate)",
		},
		{
			Side: EitherSide,
			Pattern: `\bunsupported protocol\b.*(?:SSL|error:)|(?:SSL|error:).*\bunsupported protocol\b` +
				`|(?:^|[\s:\[_])UNSUPPORTED_PROTOCOL\b`,
			Sample: "ssl.SSLError: [SSL: UNSUPPORTED_PROTOCOL] unsupported protocol (_ssl.c:1129)",
		},
	},
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertProtocolVersion, alertInappropriateFallback) ||
			e.says("selected unsupported protocol version", "downgrade attempt detected")
	},
})

var reasonHandshakeFailure = register(Reason{
	ID:       "handshake_failure",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no cipher suite, group or signature algorithm in common",
	Meaning: "The peer found nothing acceptable in what WE offered (alert 40 or 71), or the log says that " +
		"client and server share no cipher suite, group or signature algorithm.",
	Breaks: "The clients whose offer does not fit.",
	OtherSide: "Go \"tls: no cipher suite supported by both client and server\"; OpenSSL \"no shared cipher\"; " +
		"BoringSSL NO_SHARED_CIPHER.",
	Causes: []string{
		"The server wants a client certificate (TLS 1.2 servers of Go and OpenSSL say it with this alert).",
		"The server's certificate is ECDSA and the client offers RSA only, or the reverse.",
		"Cipher suites were narrowed on one side (ssl-ciphers, tlsCipherSuites, FIPS).",
		"An old server or load balancer without a certificate for this server name.",
	},
	Fixes: []string{
		"Find what it takes: nmap --script ssl-enum-ciphers -p PORT HOST",
		"Try by key type: openssl s_client -connect HOST:PORT -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256 " +
			"</dev/null; the same with ECDHE-ECDSA-AES128-GCM-SHA256",
		"Does it ask for a client certificate? openssl s_client -connect HOST:PORT -tls1_2 </dev/null | grep " +
			"-i 'client certificate'",
		"ingress-nginx: see ssl-ciphers in kubectl -n ingress-nginx get configmap ingress-nginx-controller -o " +
			"yaml",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `no cipher suite supported by both|no key exchanges supported` +
				`|no supported elliptic curves|only incompatible point formats` +
				`|no shared (?:cipher|group|signature algorithm)` +
				`|NO_SHARED_(?:CIPHER|GROUP|SIGNATURE_ALGORITHMS)` +
				`|no suitable (?:key share|signature algorithm|groups|digest)` +
				`|NO_COMMON_SIGNATURE_ALGORITHMS|no cipher suites in common` +
				`|HANDSHAKE_FAILURE_ON_CLIENT_HELLO|NO_CIPHERS? ?_?(?:SPECIFIED|MATCH)\b` +
				`|client doesn't support (?:ECDHE|certificate curve|any cipher suites)` +
				`|connection doesn't support Ed25519|not supported before TLS 1\.2` +
				`|missing signature_algorithms` +
				`|peer doesn't support any of the certificate's signature algorithms` +
				`|NoCipherSuitesInCommon|NoKxGroupsInCommon|NoSignatureSchemesInCommon` +
				`|no common (?:encryption algorithm|cipher)|No common TLS|no ciphersuites in common`,
			Sample: "http: TLS handshake error from 10.0.3.17:51274: tls: no cipher suite supported by both client and " +
				"server; client offered: [c02f]",
		},
		{
			Side: ClientSide,
			Pattern: `alert handshake failure|server chose an unconfigured cipher suite` +
				`|server selected (?:unsupported (?:group|curve|compression)|unoffered curve)` +
				`|ERR_SSL_(?:NO_CYPHER_OVERLAP|SSLV3_ALERT_HANDSHAKE_FAILURE)` +
				`|SSL_ERROR_(?:NO_CYPHER_OVERLAP|HANDSHAKE_FAILURE_ALERT)` +
				`|wrong (?:cipher returned|curve|signature type)\b` +
				`|WRONG_(?:CIPHER_RETURNED|CURVE|SIGNATURE_TYPE)|unknown cipher returned` +
				`|do not possess a common algorithm|SEC_E_ALGORITHM_MISMATCH` +
				`|Could not negotiate a supported cipher suite|failed to negotiate an acceptable set` +
				`|legacy sigalg disallowed|no FIPS compatible certificate` +
				`|tls: unsupported (?:public key|key exchange)|custom signature algorithms` +
				`|cannot be used with the selected cipher|incorrect key type for selected` +
				`|requires the use of Extended Master Secret`,
			Sample: "curl: (35) OpenSSL/3.0.22: error:0A000410:SSL routines::sslv3 alert handshake failure",
		},
	},
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertHandshakeFailure, alertInsufficientSecurity, alertExportRestriction)
	},
})

var reasonNoApplicationProtocol = register(Reason{
	ID:       "no_application_protocol",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no ALPN protocol in common",
	Meaning:  "The peer speaks none of the application protocols WE offered (alert 120).",
	Breaks: "Clients of that protocol: gRPC against a server that has only HTTP/1.1, HTTP/3 against one " +
		"without h3.",
	OtherSide: "Go \"tls: client requested unsupported application protocols\"; OpenSSL \"no application " +
		"protocol\".",
	Causes: []string{
		"A gRPC client meets a server or proxy without HTTP/2.",
		"The server's list of protocols was narrowed (http2 off, alpn missing).",
		"QUIC: the server has no h3.",
		"An acme-tls/1 validation meets a server that does not do it.",
	},
	Fixes: []string{
		"See which it takes: for p in h2 http/1.1; do openssl s_client -connect HOST:PORT -alpn $p </dev/null " +
			"2>&1 | grep -i alpn; done",
		"nginx: http2 on; HAProxy: bind ... alpn h2,http/1.1; AWS NLB: an ALPN policy of HTTP2Preferred",
		"ingress-nginx with gRPC behind it: annotation nginx.ingress.kubernetes.io/backend-protocol: GRPCS",
	},
	Cite: "RFC 7301, Section 3.2",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `client requested unsupported application protocols|\bNoApplicationProtocol\b` +
				`|OPENSSL_internal:NO_APPLICATION_PROTOCOL|No Application Protocol in common` +
				`|no supported application protocols?|ALPN (?:negotiation failed|protocol not supported)`,
			Sample: "http: TLS handshake error from 10.0.3.17:51278: tls: client requested unsupported application " +
				"protocols ([\"foo/1\"])",
		},
		{
			Side: ClientSide,
			Pattern: `(?:alert|tls:|error:.*) ?no application protocol` +
				`|did not support any of the offered application protocols` +
				`|No supported application protocol could be negotiated` +
				`|SSL_ERROR_NEXT_PROTOCOL_NO_PROTOCOL|CRYPTO_ERROR \(?0x178|QUIC_STATUS_ALPN_NEG_FAILURE`,
			Sample: "curl: (35) OpenSSL/3.0.22: error:0A000460:SSL routines::tlsv1 alert no application protocol",
		},
	},
	match: func(e *Evidence) bool { return e.receivedAlert(alertNoApplicationProtocol) },
})

var reasonALPNMismatch = register(Reason{
	ID:       "alpn_mismatch",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer did not agree on a wanted ALPN protocol",
	Meaning: "The handshake succeeded, but the peer chose no application protocol, or another than the one " +
		"needed. gRPC needs h2.",
	Breaks:    "gRPC clients: grpc-go refuses such a server since 1.67.",
	OtherSide: "grpc-go logs \"cannot check peer: missing selected ALPN property\" on both sides.",
	Causes: []string{
		"A proxy ends TLS without ALPN (HAProxy without alpn, an AWS NLB or ELB TLS listener).",
		"A Go server uses tls.NewListener instead of gRPC's credentials, without NextProtos.",
		"HTTP/2 is switched off on the server.",
	},
	Fixes: []string{
		"See what is chosen: openssl s_client -connect HOST:PORT -alpn h2 </dev/null 2>&1 | grep -i alpn",
		"HAProxy: bind :443 ssl crt FILE alpn h2,http/1.1; nginx: http2 on; AWS NLB: ALPN policy " +
			"HTTP2Preferred",
		"Go server: tls.Config{NextProtos: []string{\"h2\"}}",
		"Until that is done, for grpc-go clients: GRPC_ENFORCE_ALPN_ENABLED=false",
	},
	Cite: "RFC 9113, Section 3.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `missing selected ALPN property|server did not select an ALPN` +
				`|server (?:advertised unrequested|selected unadvertised) ALPN` +
				`|malformed HTTP response "\\x00\\x00[^"]{0,8}\\x04|unexpected ALPN protocol` +
				`|Protocol error.*ALPN|did not negotiate (?:HTTP/2|h2)|(?:HTTP/2|h2) was not negotiated` +
				`|ALPN.*(?:not h2|mismatch)`,
			Sample: "credentials: cannot check peer: missing selected ALPN property",
		},
		{
			Side: ServerSide,
			Pattern: `client did not request an application protocol|ALPN_MISMATCH_ON_EARLY_DATA` +
				`|INVALID_ALPN_PROTOCOL\b`,
			Sample: "tls: client did not request an application protocol",
		},
	},
})

var _ = register(Reason{
	ID:       "no_renegotiation",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants to renegotiate",
	Meaning: "The peer asked to negotiate again within a TLS 1.2 connection, and one side does not do that " +
		"(alert 100). Mostly it wants a client certificate for one path only.",
	Breaks:    "Requests to the paths that the server protects this way.",
	OtherSide: "IIS and Schannel log nothing useful; Apache logs \"Re-negotiation handshake failed\".",
	Causes: []string{
		"IIS or Apache asks for a client certificate after the request has shown the path.",
		"A very old server renegotiates keys.",
	},
	Fixes: []string{
		"IIS: netsh http update sslcert ipport=0.0.0.0:443 certhash=HASH appid=APPID " +
			"clientcertnegotiation=enable",
		"Apache: move SSLVerifyClient from Location to the virtual host",
		"Give the client its certificate from the start: curl --cert CERT_FILE --key KEY_FILE " +
			"https://HOST:PORT/PATH",
	},
	Cite: "RFC 5746, Section 4.5",
	Logs: []LogPattern{
		{
			Side: EitherSide,
			Pattern: `tls: no renegotiation|alert no renegotiation` +
				`|(?:SSL routines|OPENSSL_internal)[^ ]*:no[ _]renegotiation` +
				`|Re-?negotiation (?:handshake failed|is not allowed|request denied|not allowed)` +
				`|RENEGOTIATION_(?:MISMATCH|EMS_MISMATCH|ENCODING_ERR)` +
				`|renegotiation (?:mismatch|encoding err)|A TLS rehandshake is requested` +
				`|SSL_ERROR_RENEGOTIATION_NOT_ALLOWED`,
			Sample: "local error: tls: no renegotiation",
		},
	},
	match: func(e *Evidence) bool { return e.Alert == alertNoRenegotiation },
})

var _ = register(Reason{
	ID:       "legacy_renegotiation",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server lacks secure renegotiation",
	Meaning: "The server does not know RFC 5746 (2010). Clients with OpenSSL 3 refuse it; Go and older " +
		"clients do not notice.",
	Breaks:    "curl, Python, Ruby, PHP and Node of recent images, towards that server.",
	OtherSide: "Nothing of use.",
	Causes: []string{
		"An old appliance, load balancer or Windows Server.",
		"A TLS intercepting proxy of that age.",
	},
	Fixes: []string{
		"Confirm: openssl s_client -connect HOST:PORT -tls1_2 </dev/null 2>&1 | grep -i renegotiation",
		"Update the server or its TLS library",
		"As a stop-gap, in the client's openssl.cnf: Options = UnsafeLegacyServerConnect",
	},
	Cite: "RFC 5746, Section 4.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `unsafe legacy renegotiation (?:disabled)?|UNSAFE_LEGACY_RENEGOTIATION_DISABLED` +
				`|SSL_ERROR_UNSAFE_NEGOTIATION|ERR_SSL_UNSAFE_LEGACY|Unsafe legacy renegotiation`,
			Sample: "error:0A000152:SSL routines::unsafe legacy renegotiation disabled",
		},
	},
	LogOnly: true,
})

var _ = register(Reason{
	ID:       "malformed_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer's certificate cannot be parsed",
	Meaning: "A certificate in the handshake is not well formed, by the reader's rules. This is about " +
		"THEIR certificate. Other libraries may be laxer.",
	Breaks: "Go clients (since 1.23 they refuse negative serial numbers) and rustls ones; curl often " +
		"still works.",
	OtherSide: "bad_certificate or decode_error, if anything.",
	Causes: []string{
		"A home-made CA wrote a negative or empty serial number, or a wrong encoding.",
		"A proprietary appliance's certificate.",
		"The file served is damaged.",
	},
	Fixes: []string{
		"Look at it: openssl s_client -connect HOST:PORT -showcerts </dev/null | openssl x509 -noout -text",
		"Issue it anew with a current tool (cert-manager, step, openssl 3)",
		"As a stop-gap for a negative serial number in Go: GODEBUG=x509negativeserial=1",
	},
	Cite: "RFC 5280, Section 4.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `failed to parse certificate from (?:server|client)` +
				`|x509: (?:malformed|negative serial number|invalid (?:version|basic constraints|RDNSequence|certificate)|cannot parse|failed to parse (?:certificate|dnsName|URI|\w+ extension))` +
				`|invalid (?:peer )?certificate: Bad(?:DER|Encoding)|\bBadDer(?:Time)?\b` +
				`|InvalidCertificate\(BadEncoding\)|CANNOT_PARSE_LEAF_CERT|UnsupportedCertVersion` +
				`|Could not parse certificate: java|UNKNOWN_CERTIFICATE_TYPE` +
				`|(?:ssl|SSL routines)[^ ]*:x509[ _]lib\b|SEC_ERROR_BAD_DER|ASN1? ?(?:parsing|bad) ` +
				`|asn1: (?:structure|syntax) error|unknown certificate type`,
			Sample: "tls: failed to parse certificate from server: x509: negative serial number",
		},
	},
	match: func(e *Evidence) bool { return e.says("failed to parse certificate from server") },
})
