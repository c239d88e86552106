package probe

// Why THEIR certificate is not trusted although its names and dates fit. Verification
// reports every fault; the order is which to mend first.

var reasonSelfSigned = register(Reason{
	ID:       "self_signed",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is self-signed and not trusted",
	Meaning: "THEIR certificate is signed by its own key, or its chain ends in a root that we do not have, " +
		"and it is not among the trusted roots.",
	Breaks: "Every client that verifies and does not have this certificate as a root.",
	OtherSide: "Go \"remote error: tls: bad certificate\"; OpenSSL and nginx \"alert unknown ca\"; a Go server " +
		"with an OpenSSL client \"bad record MAC\".",
	Causes: []string{
		"A server that makes its own certificate at start: kubelet, many webhooks, metrics-server.",
		"A private root that was not given to this client.",
		"A TLS intercepting proxy; then many unrelated targets show it.",
	},
	Fixes: []string{
		"See who signed: openssl s_client -connect HOST:PORT -servername NAME -showcerts </dev/null | openssl " +
			"x509 -noout -subject -issuer",
		"kubelet: set serverTLSBootstrap: true, systemctl restart kubelet, then kubectl get csr and kubectl " +
			"certificate approve CSR",
		"Trust it: put it into ca_file of the target (curl --cacert, caBundle, SSL_CERT_FILE)",
		"Better: have it signed by a CA that the clients have (cert-manager with a CA issuer)",
	},
	Cite: "RFC 5280, Section 6.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `(?:problem|failed|error|reason|exception|\d): ?self[- ]signed certificate` +
				`|\(self[- ]signed certificate|self[- ]signed certificate in (?:certificate )?chain` +
				`|^self[- ]signed certificate$|Self-signed certificate encountered` +
				`|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UntrustedRoot` +
				`|MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT|X509_V_ERR_(?:DEPTH_ZERO_SELF|SELF_SIGNED)` +
				`|CaUsedAsEndEntity|SEC_E_UNTRUSTED_ROOT|CERT_E_UNTRUSTEDROOT|selfsigned[_ ]peer`,
			Sample: "curl: (60) SSL certificate problem: self-signed certificate",
		},
	},
})

var reasonStaleCA = register(Reason{
	ID:       "stale_ca",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the trusted CA has the right name but another key",
	Meaning: "We trust a CA with the issuer's name, but its key did not sign THEIR certificate. One of the " +
		"two was made anew and the other was not replaced.",
	Breaks:    "Webhooks and aggregated APIs after an upgrade or rotation: the API server cannot call them.",
	OtherSide: "\"remote error: tls: bad certificate\", again and again.",
	Causes: []string{
		"Helm or an operator made a new CA; the webhook's caBundle still holds the old one (cainjector off, " +
			"or two controllers fight over it).",
		"The pod has not loaded the new certificate from its Secret.",
		"Each replica made a CA of its own.",
		"A rotation is just going on: a Secret takes up to two minutes to reach a pod.",
	},
	Fixes: []string{
		"Compare the two: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | openssl x509 -noout -subject " +
			"-fingerprint -sha256; kubectl -n NAMESPACE get secret SECRET -o jsonpath='{.data.ca\\.crt}' | base64 " +
			"-d | openssl x509 -noout -subject -fingerprint -sha256",
		"Inject it anew: kubectl annotate validatingwebhookconfiguration WEBHOOK " +
			"cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE --overwrite; kubectl -n cert-manager rollout " +
			"restart deployment/cert-manager-cainjector",
		"By hand: kubectl patch validatingwebhookconfiguration WEBHOOK --type json -p " +
			"'[{\"op\":\"replace\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"BASE64_OF_CA\"}]'",
		"Load the served certificate: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
		"Compare the replicas: for ip in POD_IPS; do openssl s_client -connect $ip:PORT </dev/null " +
			"2>/dev/null | openssl x509 -noout -fingerprint -sha256; done",
	},
	Cite: "RFC 5280, Section 4.2.1.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `possibly because of \W*(?:x509: )?(?:ECDSA verification failure|crypto/rsa: verification error|Ed25519 verification failure|signature)[^;]*candidate authority` +
				`|does not chain with any of the trust anchors|signature check failed` +
				`|(?:x509: )(?:ECDSA verification failure|Ed25519 verification failure)` +
				`|crypto/rsa: verification error`,
			Sample: "x509: certificate signed by unknown authority (possibly because of \"x509: ECDSA verification " +
				"failure\" while trying to verify candidate authority certificate \"webhook-ca\")",
		},
	},
})

var reasonUnknownAuthority = register(Reason{
	ID:       "unknown_authority",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate's issuer is not trusted",
	Meaning: "None of the roots we trust has signed THEIR certificate, directly or through the " +
		"intermediates it sent.",
	Breaks: "Every client with these roots. A webhook in this state is not called: failurePolicy Fail " +
		"blocks requests, Ignore skips the check.",
	OtherSide: "The server logs this as \"remote error: tls: bad certificate\" (Go client) or \"unknown " +
		"certificate authority\" (others).",
	Causes: []string{
		"Webhook: no caBundle, or one of another CA (cainjector is not running or not annotated).",
		"The server does not send its intermediate certificate.",
		"The client image has no CA bundle, or not the company's CA.",
		"A TLS intercepting proxy; then many unrelated targets show the same issuer.",
	},
	Fixes: []string{
		"See chain and issuer: openssl s_client -connect HOST:PORT -servername NAME -showcerts </dev/null | " +
			"grep -E ' s:| i:'",
		"See the caBundle: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | openssl x509 -noout -subject -dates",
		"Let cert-manager inject it: kubectl annotate validatingwebhookconfiguration WEBHOOK " +
			"cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE --overwrite; kubectl -n cert-manager get pods " +
			"-l app.kubernetes.io/name=cainjector",
		"Would this CA do? openssl verify -CAfile CA_FILE -untrusted CHAIN_FILE CERT_FILE",
		"Send the intermediate: put leaf, then intermediates, into tls.crt of the Secret",
		"Give the client the CA: mount it and set SSL_CERT_FILE (Go, OpenSSL), NODE_EXTRA_CA_CERTS (Node), " +
			"REQUESTS_CA_BUNDLE (Python)",
	},
	Cite: "RFC 5280, Section 6.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `unable to get (?:local )?issuer certificate|unable to verify the first certificate` +
				`|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE` +
				`|unable to find valid certification path|PKIX path building failed|UnknownIssuer\b` +
				`|PartialChain|ERR_CERT_AUTHORITY_INVALID|SEC_ERROR_UNKNOWN_ISSUER` +
				`|doesn't have a known issuer|certificate issuer is unknown` +
				`|certificate is not trusted\b[^;]*issuer|issuer of the certificate is unknown` +
				`|CERT_TRUST_IS_PARTIAL_CHAIN|CERT_E_CHAINING|unknown CA in (?:the )?chain` +
				`|errSSLUnknownRootCert|X509_V_ERR_UNABLE_TO_GET_ISSUER|is not issued by a trusted` +
				`|unknown root certificate|NSURLErrorDomain Code=-1202` +
				`|SSL certificate problem: unable to get|could not find issuer` +
				`|certificate chain was issued by an authority that is not trusted|signed by an untrusted` +
				`|InvalidCertificate\(UnknownIssuer|not signed by the (?:appropriate|expected) CA` +
				`|Unable to locally verify the issuer`,
			Sample: "curl: (60) SSL certificate problem: unable to get local issuer certificate",
		},
		{
			Side:    ClientSide,
			Vague:   true,
			Pattern: `signed by unknown authority`,
			Sample:  "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
	},
})

var reasonWrongKeyUsage = register(Reason{
	ID:       "wrong_key_usage",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is not for servers",
	Meaning: "THEIR certificate's extended key usage does not allow the use it is put to: serverAuth is " +
		"missing in a server's, or clientAuth in a client's.",
	Breaks:    "Clients that check it: Go, OpenSSL, Java. etcd members that share one certificate.",
	OtherSide: "\"remote error: tls: bad certificate\" or \"unsupported certificate\".",
	Causes: []string{
		"A client certificate is used as a server's (kubelet's bootstrap certificate).",
		"An etcd or Kafka peer certificate without clientAuth: a peer is both.",
		"The CA's profile sets the wrong usage; public CAs are dropping clientAuth.",
	},
	Fixes: []string{
		"See the usage: openssl x509 -in CERT_FILE -noout -ext extendedKeyUsage",
		"cert-manager: usages: [server auth, client auth] in the Certificate, then cmctl renew CERTIFICATE -n " +
			"NAMESPACE",
		"openssl: -addext extendedKeyUsage=serverAuth,clientAuth",
	},
	Cite: "RFC 5280, Section 4.2.1.12",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `incompatible key usage|not authorized for an extended key usage` +
				`|unsuitable certificate purpose|unsupported certificate purpose` +
				`|Extended key usage does not permit|INVALID_PURPOSE|InvalidPurpose\b` +
				`|SEC_ERROR_INADEQUATE_(?:CERT_TYPE|KEY_USAGE)|KeyUsage does not (?:allow|permit)` +
				`|key usage violation|KEY_USAGE_BIT_INCORRECT|CERT_E_WRONG_USAGE|NotValidForUsage` +
				`|RequiredEkuNotFound|is not (?:for|valid for) (?:server|client) (?:auth|use)`,
			Sample: "x509: certificate specifies an incompatible key usage",
		},
	},
})

var reasonNameConstraint = register(Reason{
	ID:        "name_constraint",
	Phase:     PhaseVerify,
	Severity:  Error,
	Title:     "a CA in the chain may not sign for this name",
	Meaning:   "A CA of THEIR chain carries name constraints, and this name is outside of them.",
	Breaks:    "Every client that verifies.",
	OtherSide: "\"remote error: tls: bad certificate\".",
	Causes: []string{
		"A constrained company CA was used for a name of another zone.",
		"The certificate names an IP address, and the CA allows DNS names only.",
	},
	Fixes: []string{
		"See the constraints: openssl x509 -in CA_FILE -noout -ext nameConstraints",
		"Have the certificate signed by a CA that may sign for this name",
		"Or use a name within the constraint",
	},
	Cite: "RFC 5280, Section 4.2.1.10",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `not authorized to sign for this name|issuer has name constraints` +
				`|(?:permitted|excluded) subtree violation|PERMITTED_VIOLATION|EXCLUDED_VIOLATION` +
				`|is not permitted by any constraint|is excluded by constraint` +
				`|cannot be matched against constraints|name constraints? (?:violation|check failed)` +
				`|NameConstraintViolation|SEC_ERROR_CERT_NOT_IN_NAME_SPACE|CERT_E_INVALID_NAME` +
				`|HasNotPermittedNameConstraint|ERR_CERT_NAME_CONSTRAINT`,
			Sample: "x509: a root or intermediate certificate is not authorized to sign for this name: DNS name \"svc.lab\" " +
				"is not permitted by any constraint",
		},
	},
})

var reasonChainInvalid = register(Reason{
	ID:       "chain_invalid",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the chain breaks the rules for CAs",
	Meaning: "THEIR chain leads to a trusted root, but one of its certificates may not sign the next: it " +
		"is no CA, its path length is used up, or it carries a critical extension nobody knows.",
	Breaks:    "Every client that verifies.",
	OtherSide: "\"remote error: tls: bad certificate\".",
	Causes: []string{
		"The caBundle holds the server's leaf certificate and not its CA.",
		"An intermediate CA was made without CA:TRUE or keyCertSign.",
		"One intermediate more than the root's path length allows.",
	},
	Fixes: []string{
		"See the chain's constraints: openssl storeutl -noout -text -certs CHAIN_FILE | grep -E " +
			"'Subject:|CA:|pathlen|Certificate Sign'",
		"Put the CA, not the leaf, into the caBundle: kubectl -n NAMESPACE get secret SECRET -o " +
			"jsonpath='{.data.ca\\.crt}'",
		"Make the intermediate anew: basicConstraints=critical,CA:TRUE and " +
			"keyUsage=critical,keyCertSign,cRLSign (cert-manager: isCA: true)",
	},
	Cite: "RFC 5280, Section 6.1.4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `parent certificate cannot sign this kind|not authorized to sign other certificates` +
				`|too many intermediates|unhandled critical (?:CA )?extension` +
				`|issuer name does not match subject|invalid CA certificate|INVALID_CA\b` +
				`|path length constraint exceeded|PATH_LENGTH_EXCEEDED|certificate signature failure` +
				`|CERT_SIGNATURE_FAILURE|key usage does not include certificate signing` +
				`|signature check attempts limit|certificate chain too long|CERT_CHAIN_TOO_LONG` +
				`|basic constraints check failed|(?:is not|not) a CA certificate` +
				`|SEC_ERROR_CA_CERT_INVALID|SEC_ERROR_PATH_LEN|no valid chains built` +
				`|invalid peer certificate: BadSignature|InvalidCertificate\(BadSignature` +
				`|cannot parse (?:dnsName|rfc822Name|URI host)|error fetching intermediate` +
				`|signature algorithm specifies an|UnhandledCriticalExtension` +
				`|unrecognized critical extension|UnsupportedCriticalExtension` +
				`|CERT_TRUST_INVALID_BASIC_CONSTRAINTS|algorithm unimplemented|PathLenConstraintViolated` +
				`|MOZILLA_PKIX_ERROR_CA_CERT_USED|InvalidBasicConstraints`,
			Sample: "x509: certificate signed by unknown authority (possibly because of \"x509: invalid signature: parent " +
				"certificate cannot sign this kind of certificate\" while trying to verify candidate authority " +
				"certificate \"notca\")",
		},
	},
})

var reasonCertRevoked = register(Reason{
	ID:       "cert_revoked",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate has been revoked",
	Meaning: "The OCSP response stapled by the server, or a revocation list, says that THEIR certificate " +
		"was withdrawn by its CA.",
	Breaks:    "Clients that check: browsers, Java and .NET when configured to. Go does not check.",
	OtherSide: "\"alert certificate revoked\".",
	Causes: []string{
		"The key was lost or compromised, or the CA withdrew a batch.",
		"The certificate was replaced and revoked, but is still served.",
	},
	Fixes: []string{
		"See the stapled response: openssl s_client -connect HOST:PORT -servername NAME -status </dev/null | " +
			"grep -A12 'OCSP Response'",
		"Issue a new one: cmctl renew CERTIFICATE -n NAMESPACE",
		"Load it: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
	},
	Cite: "RFC 6960, Section 2.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `[:(] ?certificate revoked|certificate (?:has been|is|was) revoked|CERT_REVOKED\b` +
				`|ERR_CERT_REVOKED|SEC_ERROR_REVOKED_CERTIFICATE|CertificateRevokedException` +
				`|invalid peer certificate: Revoked|CRYPT_E_REVOKED` +
				`|(?:chain|ChainErrors|status)\W+Revoked\b|MOZILLA_PKIX_ERROR_OCSP` +
				`|InvalidCertificate\(Revoked`,
			Sample: "curl: (60) SSL certificate problem: certificate revoked",
		},
	},
})

var reasonWeakCrypto = register(Reason{
	ID:       "weak_crypto",
	Phase:    PhaseVerify,
	Severity: Warning,
	Title:    "a certificate uses weak cryptography",
	Meaning: "A key or signature of THEIR chain is weaker than some clients accept: RSA below 2,048 bits, " +
		"SHA-1, MD5, small DH groups. Go takes what OpenSSL 3 refuses.",
	Breaks: "Clients with a strict policy: current Debian, Ubuntu and RHEL images (curl, Python, Node), " +
		"FIPS builds.",
	OtherSide: "\"handshake failure\" or \"bad certificate\".",
	Causes: []string{
		"An old CA or appliance still signs with SHA-1 or small keys.",
		"A dhparam file of 1,024 bits.",
		"The client's security level was raised by an update of its image.",
	},
	Fixes: []string{
		"See key and signature: openssl s_client -connect HOST:PORT -servername NAME </dev/null | openssl " +
			"x509 -noout -text | grep -E 'Public-Key|Signature Algorithm'",
		"Issue it anew: cert-manager privateKey: {algorithm: ECDSA, size: 256}",
		"nginx with DH: openssl dhparam -out dhparam.pem 2048",
		"As a stop-gap, in the client: openssl s_client -cipher DEFAULT@SECLEVEL=1",
	},
	Cite: "NIST SP 800-131A Rev. 2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `insecure algorithm|(?:dh|ee|ca|EE certificate|CA certificate) key too (?:small|weak)` +
				`|key too (?:small|weak)\b|DH_KEY_TOO_SMALL|EE_KEY_TOO_SMALL|ca md too weak` +
				`|CA_MD_TOO_WEAK|signature digest algorithm too weak` +
				`|does not conform to algorithm constraints|Algorithm constraints check failed` +
				`|containing RSA key (?:larger|smaller)|SSL_ERROR_WEAK_SERVER|ERR_SSL_WEAK|ERR_CERT_WEAK` +
				`|WEAK_(?:SIGNATURE|KEY)\w*|insecure (?:signature )?algorithm|bad[_ ]dh[_ ]p[_ ]length` +
				`|DH_P_TOO_LONG|SEC_ERROR_CERT_SIGNATURE_ALGORITHM_DISABLED|tls: RSA key size too small` +
				`|RSA key size too small|INADEQUATE_KEY_SIZE|Diffie-Hellman prime[^;]*not acceptable` +
				`|certificate uses insecure|uses an insecure (?:algorithm|signature)`,
			Sample: "ssl.SSLError: [SSL: DH_KEY_TOO_SMALL] dh key too small (_ssl.c:1129)",
		},
	},
})

var _ = register(Reason{
	ID:       "cert_verify_failed",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate was rejected, and the log line does not say why",
	Meaning: "The program refused THEIR certificate and logs only that. Probe the target: tlsprobe reports " +
		"each fault.",
	Breaks:    "The connection of the line.",
	OtherSide: "\"remote error: tls: bad certificate\", or \"alert unknown ca\".",
	Causes: []string{
		"The issuer is not trusted.",
		"The name does not match.",
		"The certificate has expired.",
		"Mesh: the two sides are of different trust domains, or the root was rotated.",
	},
	Fixes: []string{
		"Probe it: tlsprobe probe --ca-file=CA_FILE --server-name=NAME HOST:PORT",
		"Verify by hand: openssl s_client -connect HOST:PORT -servername NAME -CAfile CA_FILE " +
			"-verify_hostname NAME </dev/null | grep 'Verify return code'",
		"Envoy and Istio: istioctl proxy-config secret POD -n NAMESPACE; curl localhost:15000/certs in the " +
			"sidecar",
	},
	Cite: "RFC 5280, Section 6",
	Logs: []LogPattern{
		{
			Side:  ProxySide,
			Vague: true,
			Pattern: `OPENSSL_internal:CERTIFICATE_VERIFY_FAILED|fail_verify_(?:error|san|cert_hash)` +
				`|SSL client certificate not trusted`,
			Sample: "TLS_error:|268435581:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED:TLS_error_end",
		},
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `certificate[_ ]verify[_ ]failed|remote certificate (?:is|was) (?:invalid|rejected)` +
				`|RemoteCertificateChainErrors|RemoteCertificateValidationCallback` +
				`|certificate verification failed` +
				`|failed to verify (?:the )?(?:server |client's |peer )?certificate|TrustFailure` +
				`|CRYPTO_ERROR 0x12[a-e] \(local\)|Error in the certificate verification` +
				`|certificate is NOT trusted|[Vv]erify return code: [1-9]|peer not authenticated` +
				`|SSLPeerUnverifiedException|CertificateVerifyFailed|errSSLXCertChainInvalid` +
				`|ERR_CERT_INVALID|invalid peer certificate|Error in the certificate\b` +
				`|cannot verify [^ ]+ certificate|The certificate of [^ ]+ is not trusted|x509:`,
			Sample: "The remote certificate is invalid according to the validation procedure.",
		},
	},
	LogOnly: true,
})
