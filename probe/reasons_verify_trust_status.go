package probe

// What is missing for THEIR certificate to prove that it has not been revoked.

var reasonStapleMissing = register(Reason{
	ID:       "ocsp_staple_missing",
	Phase:    PhaseVerify,
	Severity: Warning,
	Title:    "the certificate demands a stapled OCSP response, and none came",
	Meaning: "THEIR certificate carries the TLS feature status_request (\"must-staple\"): its server promises to " +
		"send an OCSP response in each handshake. It sent none, or one that is out of date or not signed for it.",
	Breaks: "Firefox and programs with GnuTLS, which refuse the certificate. Go, OpenSSL, curl and Java do not " +
		"look at the promise.",
	OtherSide: "nginx \"ssl_stapling\" ignored, at its start, or an error \"while requesting certificate status\"; " +
		"others nothing.",
	Causes: []string{
		"The server does not staple: nginx without ssl_stapling on, most Go servers.",
		"A proxy in front of the server ends TLS, and does not staple.",
		"The server cannot reach the CA's OCSP responder: egress is closed, or the CA has shut it down.",
		"nginx has just started: it staples from the second handshake on, without ssl_stapling_file.",
	},
	Fixes: []string{
		"See what is stapled: openssl s_client -connect HOST:PORT -servername NAME -status </dev/null | " +
			"grep -A3 'OCSP response'",
		"See the promise: openssl s_client -connect HOST:PORT -servername NAME </dev/null | openssl x509 -noout " +
			"-ext tlsfeature",
		"Issue a certificate without it: certbot renew --force-renewal, without --must-staple; openssl: no " +
			"tlsfeature = status_request",
		"nginx: ssl_stapling on; ssl_stapling_verify on; ssl_trusted_certificate CHAIN_FILE; resolver ADDRESS",
	},
	Cite: "RFC 7633, Section 4.3.3",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `REQUIRED_TLS_FEATURE_MISSING|requires the server to include an OCSP status` +
				`|No OCSP response received|missing (?:a )?(?:required )?stapled OCSP response|GNUTLS_CERT_MISSING_OCSP_STATUS`,
			Sample: "*** PKI verification of server certificate failed: The certificate requires the server to include " +
				"an OCSP status in its response, but the OCSP status is missing.",
		},
	},
})
