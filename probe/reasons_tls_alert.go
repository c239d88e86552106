package probe

// Alerts by which the peer refuses what we presented, or itself. A received alert is
// about OUR certificate or parameters, never about the peer's certificate. Order
// counts: classify takes the first match.

var reasonUnrecognizedName = register(Reason{
	ID:       "unrecognized_name",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer has no certificate for this server name",
	Meaning: "The server name (SNI) that we sent is not one the peer serves, and it refuses instead of " +
		"showing a default certificate (alert 112).",
	Breaks:    "All clients of this host name through this address.",
	OtherSide: "nginx \"handshake rejected while SSL handshaking\"; HAProxy \"SSL handshake failure\".",
	Causes: []string{
		"The host is missing in the Ingress, Gateway or virtual host.",
		"A proxy in front drops the SNI (nginx: proxy_ssl_server_name is off by default).",
		"The probe used an IP address or another name than clients do.",
		"The managed API endpoint was deleted or renamed.",
	},
	Fixes: []string{
		"Try with and without the name: openssl s_client -connect HOST:PORT -servername NAME; openssl " +
			"s_client -connect HOST:PORT -noservername",
		"See which hosts are wired: kubectl get ingress,gateway,httproute -A | grep NAME",
		"nginx as a client: proxy_ssl_server_name on; proxy_ssl_name NAME;",
	},
	Cite: "RFC 6066, Section 3",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `handshake rejected while SSL handshaking|ssl_reject_handshake` +
				`|SNI (?:not found|mismatch|\S+ not (?:known|allowed))|no (?:such )?SNI (?:host|match)` +
				`|unable to find (?:a )?virtual host for SNI`,
			Sample: "2026/11/21 02:21:09 [info] 17968#17968: *35 handshake rejected while SSL handshaking, client: " +
				"10.0.3.17, server: 0.0.0.0:443",
		},
		{
			Side: ClientSide,
			Pattern: `tlsv1 (?:alert )?unrecognized name|The server name sent was not recognized` +
				"|did not recognize a name in the `?server_name|SSL_ERROR_UNRECOGNIZED_NAME_ALERT" +
				`|ERR_SSL_UNRECOGNIZED_NAME_ALERT|handshake alert: ?unrecognized_name`,
			Sample: "curl: (35) OpenSSL/3.0.22: error:0A000458:SSL routines::tlsv1 unrecognized name",
		},
	},
	match: func(e *Evidence) bool { return e.receivedAlert(alertUnrecognizedName) },
})

var reasonClientCertRequired = register(Reason{
	ID:       "client_cert_required",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants a client certificate",
	Meaning: "The peer asked for a client certificate and got none (mutual TLS). In TLS 1.3 the refusal " +
		"comes only after the handshake seems done. This is about OUR certificate, which was not " +
		"sent.",
	Breaks: "Every client without a certificate that the peer accepts.",
	OtherSide: "Go \"tls: client didn't provide a certificate\"; nginx \"client sent no required SSL " +
		"certificate\"; BoringSSL and Envoy PEER_DID_NOT_RETURN_A_CERTIFICATE; JSSE \"Empty client " +
		"certificate chain\".",
	Causes: []string{
		"The client has no certificate configured.",
		"A service mesh in STRICT mode: clients without a sidecar have no identity to show.",
		"A Go client has one, but its issuer is not among the CAs the server asked for; Go then sends none.",
		"The Secret with the client certificate is not mounted or not read again.",
	},
	Fixes: []string{
		"See which CAs are acceptable: openssl s_client -connect HOST:PORT </dev/null | sed -n " +
			"'/Acceptable/,/---/p'",
		"Try with the certificate: curl -v --cert CERT_FILE --key KEY_FILE --cacert CA_FILE " +
			"https://HOST:PORT/",
		fixMeshServer,
		fixMeshClients,
		"See what the mesh wants: kubectl get peerauthentication,destinationrule -A; istioctl x describe pod " +
			"POD -n NAMESPACE",
	},
	Cite: "RFC 8446, Section 4.4.2.4",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `client didn't provide a certificate|client sent no required SSL certificate` +
				`|peer did not return a certificate|PEER[_ ]DID[_ ]NOT[_ ]RETURN[_ ]A[_ ]CERTIFICATE` +
				`|Empty (?:client|server) certificate chain|null cert chain|peer sent no certificates` +
				`|NoCertificatesPresented|no client certificate (?:provided|presented|sent)` +
				`|did not (?:send|provide|present) (?:a |any )?(?:client )?certificate` +
				`|TLS_PEER_DID_NOT_RESPOND_WITH_CERTIFICATE`,
			Sample: "http: TLS handshake error from 10.0.3.17:51290: tls: client didn't provide a certificate",
		},
		{
			Side: ClientSide,
			Pattern: `No required (?:SSL|TLS) certificate was sent|(?:tlsv13|tlsv1) alert certificate required` +
				`|TLSV1[3_]*(?:_ALERT)?_CERTIFICATE_REQUIRED|Certificate is required` +
				`|required a client certificate|ERR_BAD_SSL_CLIENT_AUTH_CERT` +
				`|chain is not signed by an acceptable CA|SSL_ERROR_RX_CERTIFICATE_REQUIRED_ALERT` +
				`|client certificate (?:is )?required`,
			Sample: "<head><title>400 No required SSL certificate was sent</title></head>",
		},
	},
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertCertificateRequired) || e.ClientCertRequested && !e.ClientCertSent &&
			e.receivedAlert(alertHandshakeFailure, alertNoCertificate, alertBadCertificate, alertCertificateUnknown)
	},
})

var reasonBadCertificate = register(Reason{
	ID:       "bad_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer rejects the client certificate",
	Meaning: "The peer refused the certificate that WE presented (alert 42, 43, 44 or 46). In a server's " +
		"log it means that clients do not trust the server's own certificate. In a client's log it " +
		"means that the server does not like the client's certificate.",
	Breaks: "In a webhook's log: the API server does not call it; failurePolicy Fail blocks requests, " +
		"Ignore skips the check. In a client's log: mutual TLS to that server.",
	OtherSide: "Its own verification error: a Go client \"x509: ...\", a server \"tls: failed to verify " +
		"certificate: x509: ...\".",
	Causes: []string{
		"Webhook: the caBundle does not sign the served certificate (not injected, stale, or the pod has not " +
			"reloaded).",
		"The certificate lacks the name SERVICE.NAMESPACE.svc.",
		"Certificates were rotated seconds ago and not every side has the new ones; it passes within two " +
			"minutes.",
		"Client log: the client certificate is revoked, has the wrong usage, or its issuer is unknown to the " +
			"server.",
		"A Java server says this also when no client certificate was sent at all.",
	},
	Fixes: []string{
		"Who is the peer? kubectl get pods -A -o wide | grep -w ADDRESS",
		"See the served certificate: openssl s_client -connect POD_IP:PORT -servername SERVICE.NAMESPACE.svc " +
			"-showcerts </dev/null | openssl x509 -noout -subject -issuer -dates -ext subjectAltName",
		"See the caBundle: kubectl get validatingwebhookconfiguration WEBHOOK -o " +
			"jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | openssl x509 -noout -subject -dates " +
			"-fingerprint -sha256",
		"Let cert-manager inject it: kubectl annotate validatingwebhookconfiguration WEBHOOK " +
			"cert-manager.io/inject-ca-from=NAMESPACE/CERTIFICATE --overwrite; kubectl -n cert-manager logs " +
			"deploy/cert-manager-cainjector --tail=20",
		"Make the pods load the new certificate: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
		"Kong: set admissionWebhook.tls.enabled: true in VALUES.yaml, then helm upgrade RELEASE kong/kong -n " +
			"NAMESPACE -f VALUES.yaml",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `400 The (?:SSL|TLS) certificate error|The SSL certificate error` +
				`|certificate was (?:rejected|corrupt)|rejected the certificate as corrupt` +
				`|ERR_SSL_CLIENT_AUTH_CERT` +
				`|SSL peer (?:cannot verify|was unable to verify|rejected) your certificate` +
				`|SSL_ERROR_(?:BAD_CERT|REVOKED_CERT|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERT)\w*_ALERT` +
				`|ERR_BAD_SSL_CLIENT`,
			Sample: "<head><title>400 The SSL certificate error</title></head>",
		},
		{
			Side:    EitherSide,
			Vague:   true,
			Pattern: `remote error: tls: (?:bad|unknown|unsupported|revoked) certificate|^(?:tls: )?bad certificate$`,
			Sample:  "http: TLS handshake error from 10.244.2.23:33000: remote error: tls: bad certificate",
		},
	},
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertNoCertificate, alertBadCertificate, alertUnsupportedCertificate,
			alertCertificateRevoked, alertCertificateUnknown)
	},
})

var _ = register(Reason{
	ID:       "alert_certificate_expired",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer says the client certificate is out of date",
	Meaning: "The peer found the certificate that WE presented expired or not yet valid (alert 45), by its " +
		"own clock.",
	Breaks: "In a client's log: mutual TLS to that server. In a server's log: the clients see the " +
		"server's certificate as expired.",
	OtherSide: "Go \"tls: failed to verify certificate: x509: certificate has expired or is not yet valid\".",
	Causes: []string{
		"The certificate has expired and nobody renewed it.",
		"It was renewed, but the program still presents the old one.",
		"The peer's clock is wrong.",
	},
	Fixes: []string{
		"See its dates: openssl x509 -in CERT_FILE -noout -dates -subject",
		"kubeadm: kubeadm certs check-expiration; kubeadm certs renew all",
		"cert-manager: cmctl renew CERTIFICATE -n NAMESPACE; kubectl -n NAMESPACE rollout restart " +
			"deployment/DEPLOYMENT",
		"Check the peer's clock, on its node: chronyc tracking || timedatectl",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\(60\) SSL certificate verification failed|SSL_ERROR_EXPIRED_CERT_ALERT` +
				`|the peer (?:found|reported|rejected) the certificate (?:as|was|has) expired` +
				`|alert certificate expired`,
			Sample: "error:0A000415:SSL routines::ssl/tls alert certificate expired",
		},
	},
	match: func(e *Evidence) bool { return e.receivedAlert(alertCertificateExpired) },
})

var _ = register(Reason{
	ID:       "alert_unknown_ca",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer does not know the CA of the client certificate",
	Meaning: "The peer does not trust the issuer of the certificate that WE presented (alert 48). In a " +
		"server's log: clients do not know the CA of the server's certificate. In a client's log: the " +
		"server does not know the CA of the client's certificate.",
	Breaks: "In a server's log: those clients cannot use the server. In a client's log: mutual TLS to " +
		"that server.",
	OtherSide: "\"certificate signed by unknown authority\", \"unable to get local issuer certificate\".",
	Causes: []string{
		"The peer's trust store lacks our CA: no caBundle, no client CA, an image without it.",
		"Our CA was renewed and the peer still has the old one.",
		"We send the leaf without its intermediate certificates.",
	},
	Fixes: []string{
		"See what we present: openssl s_client -connect HOST:PORT -showcerts </dev/null | grep -E ' s:| i:'",
		"See what the peer trusts: openssl storeutl -noout -text -certs CA_FILE | grep -E 'Subject:|Not " +
			"After'",
		"Try the pair: openssl verify -CAfile CA_FILE -untrusted CHAIN_FILE CERT_FILE",
		"Give the peer the CA: kubectl -n NAMESPACE create configmap ca --from-file=ca.crt=CA_FILE, mount it, " +
			"restart the peer",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `tlsv1 alert unknown ca|TLSV1_ALERT_UNKNOWN_CA|certificate was not issued by a trusted CA` +
				`|SSL_ERROR_UNKNOWN_CA_ALERT|Unknown CA\b.*alert|alert.*\bUnknown CA\b|CA is unknown`,
			Sample: "curl: (35) OpenSSL/3.0.22: error:0A000418:SSL routines::tlsv1 alert unknown ca",
		},
	},
	match: func(e *Evidence) bool { return e.receivedAlert(alertUnknownCA) },
})

var reasonAlertInternalError = register(Reason{
	ID:       "alert_internal_error",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer could not produce a handshake",
	Meaning: "The peer answered with alert 80: something failed on ITS side, before or while it chose a " +
		"certificate. Our certificate is not the cause. The server's own log has the reason.",
	Breaks: "All clients. For a kubelet: kubectl logs and exec, metrics-server, and everything else that " +
		"reads from that node.",
	OtherSide: "kubelet \"no serving certificate available for the kubelet\" or \"no certificate available\"; Go " +
		"\"http: TLS handshake error from ...: \" and its own error; Traefik and Caddy name the host " +
		"they have no certificate for.",
	Causes: []string{
		"kubelet with serverTLSBootstrap: true, whose serving CSR is still Pending. Nothing approves those by " +
			"itself.",
		"The server has no certificate for this server name and refuses (Caddy, Traefik with strict SNI).",
		"A hosted database that rejects the client's address.",
		"OpenSSL found no fitting signature algorithm (security level 2 and an old client).",
	},
	Fixes: []string{
		"See waiting requests: kubectl get csr | grep Pending",
		"Approve the kubelet's: kubectl certificate approve CSR",
		"All of one kind: kubectl get csr -o name --field-selector " +
			"spec.signerName=kubernetes.io/kubelet-serving | xargs kubectl certificate approve",
		"For good: install kubelet-csr-approver with your node names and networks",
		"Read the server's log: journalctl -u kubelet | grep 'TLS handshake error' (or kubectl -n NAMESPACE " +
			"logs POD)",
	},
	Cite: "RFC 8446, Section 6.2",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `remote error: tls: internal error|alert internal error|TLSV1_ALERT_INTERNAL_ERROR` +
				`|the peer encountered an internal error|SSL_ERROR_INTERNAL_ERROR_ALERT` +
				`|^tls: internal error$`,
			Sample: "Error from server: Get \"https://10.0.0.7:10250/containerLogs/kube-system/p/c\": remote error: tls: " +
				"internal error",
		},
	},
	match: func(e *Evidence) bool { return e.receivedAlert(alertInternalError) },
})

var _ = register(Reason{
	ID:       "no_server_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server has no certificate to serve",
	Meaning: "The server's log says that it has no certificate for the connection. Clients see tls: " +
		"internal error, or unrecognized name.",
	Breaks:    "All clients of that server, or of that one host name.",
	OtherSide: "Clients log \"remote error: tls: internal error\" or \"unrecognized name\".",
	Causes: []string{
		"kubelet: the serving CSR waits for approval.",
		"The Secret is missing or empty, or cert-manager has not issued it yet.",
		"No certificate is configured for the host name that the client asked for.",
	},
	Fixes: []string{
		"kubelet: kubectl get csr | grep kubelet-serving; kubectl certificate approve CSR",
		"cert-manager: kubectl -n NAMESPACE get certificate,certificaterequest,order,challenge",
		"See the Secret: kubectl -n NAMESPACE get secret SECRET -o jsonpath='{.data.tls\\.crt}' | base64 -d | " +
			"openssl x509 -noout -subject -ext subjectAltName",
		"Then: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
	},
	Cite: "RFC 8446, Section 4.4.2.2",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `no serving certificate available|tls: no certificates configured` +
				"|\\bno certificate available\\b|no certificate (?:for|found for|matching) [\"'`]?[\\w.*-]+\\." +
				`|strict SNI enabled|No certificate found for domain` +
				`|neither Certificates, GetCertificate, nor GetConfigForClient` +
				`|\bno certificate (?:assigned|set)\b|NO_CERTIFICATE_(?:SET|ASSIGNED)` +
				`|no "ssl_certificate" is defined|missing server certificate` +
				`|no certificate configured for|acme/autocert: (?:host|missing)` +
				`|No available certificate or key corresponds|NoServerCert\w+` +
				`|Secret is not supplied by SDS`,
			Sample: "http: TLS handshake error from 127.0.0.1:56340: no serving certificate available for the kubelet",
		},
	},
	LogOnly: true,
})
