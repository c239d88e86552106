package probe

// What is wrong with the probe itself: its target, its files, its rights.

var reasonTargetMisconfigured = register(Reason{
	ID:       "target_misconfigured",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the target's configuration cannot be probed",
	Meaning: "The target's settings contradict each other or name something that cannot be used. Nothing " +
		"was dialled.",
	Breaks:    "This target is not watched at all.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"A file that the target or module names does not exist or cannot be read.",
		"The address fits the prober badly: a URL for tls, a bare host for http.",
		"The settings changed on disk after the configuration was loaded.",
	},
	Fixes: []string{
		"Check the file: tlsprobe check-config CONFIG.yaml",
		"Try the one target: tlsprobe probe --config.file=CONFIG.yaml TARGET",
		"See the mounted files: kubectl -n NAMESPACE exec POD -- ls -l PATH",
	},
	Cite: "config.example.yaml",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=target_misconfigured\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=kubelet-node5 reason=target_misconfigured",
		},
	},
})

var reasonCABundleInvalid = register(Reason{
	ID:       "ca_bundle_invalid",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the trusted CA bundle holds no usable certificate",
	Meaning: "The roots we were told to trust could not be read: empty, not PEM, or no certificate in it. " +
		"This is about OUR side; the peer was not judged.",
	Breaks: "Every connection that should be verified with this bundle. A webhook with such a caBundle is " +
		"never called.",
	OtherSide: "Nothing, or a handshake that ends with bad_certificate.",
	Causes: []string{
		"caBundle is base64 twice, or has line breaks inside.",
		"The ConfigMap or Secret key is empty: cert-manager's cainjector or trust-manager has not filled it " +
			"yet.",
		"A private key or a DER file was put where PEM certificates belong.",
	},
	Fixes: []string{
		"Look into it: openssl storeutl -noout -text -certs CA_FILE",
		"A webhook's bundle: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | openssl x509 -noout -subject -dates",
		"Let cert-manager fill it: kubectl annotate validatingwebhookconfiguration WEBHOOK " +
			"cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE --overwrite",
		"By hand, on one line: kubectl get secret -n NAMESPACE SECRET -o jsonpath='{.data.ca\\.crt}'",
	},
	Cite: "RFC 7468, Section 5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `unable to load root certificates|unable to parse bytes as PEM block` +
				`|failed to load system roots and no roots provided` +
				`|error setting certificate (?:verify locations|file)` +
				`|data does not contain any valid RSA or ECDSA certificates`,
			Sample: "error: unable to load root certificates: unable to parse bytes as PEM block",
		},
		{
			Side: ClientSide,
			Pattern: `trustAnchors parameter must be non-empty` +
				`|(?:failed|unable|cannot|could not) (?:to )?(?:parse|append|load|read|add) (?:the )?(?:root )?ca[ -]?(?:cert|bundle|file|pem)` +
				`|caBundle: Invalid value|no valid certificates? (?:found )?in (?:the )?ca`,
			Sample: "java.security.InvalidAlgorithmParameterException: the trustAnchors parameter must be non-empty",
		},
	},
})

var reasonBadKeypair = register(Reason{
	ID:       "bad_keypair",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "our client certificate and key cannot be loaded",
	Meaning: "A certificate and its private key cannot be used together: a file is missing, empty, swapped " +
		"or for another key. This is about the key pair of whoever wrote the line, not about its " +
		"peer's.",
	Breaks: "The program cannot present its certificate: a server serves none or the old one, a client " +
		"fails where mTLS is required.",
	OtherSide: "Nothing, or a failed handshake.",
	Causes: []string{
		"Certificate and key were renewed one after the other and read in between.",
		"The Secret's tls.crt and tls.key belong to different requests.",
		"The two files are swapped, or the chain stands before the leaf.",
		"The key is encrypted or of a kind the program does not know.",
	},
	Fixes: []string{
		"Compare the keys: openssl x509 -in CERT_FILE -noout -pubkey | sha256sum; openssl pkey -in KEY_FILE " +
			"-pubout | sha256sum",
		"The same in a Secret: kubectl -n NAMESPACE get secret SECRET -o jsonpath='{.data.tls\\.crt}' | base64 " +
			"-d | openssl x509 -noout -pubkey | sha256sum",
		"Issue it anew: cmctl renew CERTIFICATE -n NAMESPACE",
		"Make the program read it: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
	},
	Cite: "RFC 8446, Section 4.4.2",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `private key does not match (?:the )?(?:certificate )?public key` +
				`|private key type does not match|key values mismatch|KEY_VALUES_MISMATCH` +
				`|KEY_TYPE_MISMATCH|certificate and private key mismatch`,
			Sample: "tls: private key does not match public key",
		},
		{
			Side: ServerSide,
			Pattern: `failed to find (?:any |certificate )?PEM (?:data|block)` +
				`|PEM inputs may have been switched|found a certificate rather than a key` +
				`|tls: failed to parse private key` +
				`|x509: (?:failed to parse|decryption password|malformed DEK|unknown encryption mode)[^;]*(?:private key|password|DEK|mode)`,
			Sample: "tls: failed to find any PEM data in key input",
		},
		{
			Side: ServerSide,
			Pattern: `PEM_read_bio\w*\(|cannot load certificate(?: key)? "|bad end line` +
				`|SSL_CTX_use_(?:PrivateKey|certificate)\w*(?:\(\S*\))? failed` +
				`|unable to (?:load|set) (?:SSL )?(?:client )?(?:certificate|private key)` +
				`|could not load PEM client certificate|does not implement crypto\.Signer`,
			Sample: "nginx: [emerg] cannot load certificate key \"/etc/tls/tls.key\": PEM_read_bio_PrivateKey() failed " +
				"(SSL: error:0480006C:PEM routines::no start line)",
		},
	},
})

var reasonClientCertExpired = register(Reason{
	ID:       "client_cert_expired",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "our own client certificate is out of date",
	Meaning: "The client certificate that we are configured with has expired or is not valid yet. This is " +
		"about OUR certificate.",
	Breaks: "Every server that asks for a client certificate will refuse it, at the latest when it " +
		"checks.",
	OtherSide: "remote peers log an expired client certificate: Go \"tls: failed to verify certificate: x509: " +
		"certificate has expired\", nginx \"client SSL certificate verify error: (10:certificate has " +
		"expired)\".",
	Causes: []string{
		"Nobody renews it: it was made once with openssl or kubeadm.",
		"It was renewed, but the program still holds the old one.",
		"This node's clock is wrong.",
	},
	Fixes: []string{
		"See its dates: openssl x509 -in CERT_FILE -noout -dates -subject",
		"kubeadm's certificates: kubeadm certs check-expiration; kubeadm certs renew all",
		"cert-manager's: cmctl renew CERTIFICATE -n NAMESPACE",
		"Check the clock: chronyc tracking || timedatectl",
	},
	Cite: "RFC 5280, Section 4.1.2.5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `part of the existing bootstrap client certificate .* is expired` +
				`|client certificate \S* ?(?:is expired|has expired)|\breason=client_cert_expired\b` +
				`|Certificate expiration.*(?:client certificate|kubelet-client).*expired`,
			Sample: "Part of the existing bootstrap client certificate in /etc/kubernetes/kubelet.conf is expired: " +
				"2026-11-20 08:00:00 +0000 UTC",
		},
	},
})

var reasonAddressRefused = register(Reason{
	ID:       "address_refused",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the address may not be probed",
	Meaning: "The address is not in probe_endpoint.allow, or the name resolved or redirected to one that " +
		"is not. Nothing was sent to it.",
	Breaks:    "Only this probe on demand. Known targets are not affected.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"/probe was asked for a raw address and the configuration allows none.",
		"The name points to a link-local or metadata address, which no wildcard ever allows.",
		"A redirect led out of the allowed networks.",
	},
	Fixes: []string{
		"Probe it by name: declare it under targets: and use /probe?target=NAME",
		"Allow its network and port: probe_endpoint: {allow: [{network: 10.96.0.0/12, ports: [443]}]}",
		"See what is known: curl http://AGENT:9790/targets",
	},
	Cite: "config.example.yaml",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=address_refused\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=metadata reason=address_refused",
		},
	},
	match: func(e *Evidence) bool { return e.Refused },
})

var reasonProberPanic = register(Reason{
	ID:        "prober_panic",
	Phase:     PhaseConfig,
	Severity:  Error,
	Title:     "the prober itself failed",
	Meaning:   "The probe ended in a fault of tlsprobe's own. It says nothing about the target.",
	Breaks:    "This target is not watched until it is mended. The others go on.",
	OtherSide: "At most a connection that closed early.",
	Causes: []string{
		"A fault in tlsprobe, met by an answer nobody thought of.",
		"Memory ran out while the probe ran.",
	},
	Fixes: []string{
		"Read the stack trace: kubectl -n NAMESPACE logs POD | grep -A30 prober_panic",
		"Try whether the newest version still does it: tlsprobe probe TARGET",
		"Report it with the trace and the output of: tlsprobe probe --format=json TARGET",
	},
	Cite: "https://go.dev/ref/spec#Handling_panics",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=prober_panic\b`,
			Sample:  "level=ERROR msg=\"Target fails\" target=webhook reason=prober_panic",
		},
	},
})
