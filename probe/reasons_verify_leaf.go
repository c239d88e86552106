package probe

// What is wrong with the names and dates of THEIR certificate. Verification reports
// every fault; the order is which to mend first.

var reasonDefaultCert = register(Reason{
	ID:       "default_cert",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a default certificate is served instead of the host's own",
	Meaning: "The server presented the certificate it falls back to when none is configured for the host. " +
		"So the host, its ingress or its Secret is not wired. This is about THEIR certificate.",
	Breaks: "Every client of this host that verifies: browsers warn, programs refuse.",
	OtherSide: "Often a line that names the missing Secret; with Go clients also \"remote error: tls: bad " +
		"certificate\".",
	Causes: []string{
		"The Secret named in the Ingress does not exist, is empty, or is in another namespace.",
		"cert-manager has not issued yet: its ACME challenge fails.",
		"spec.tls[].hosts of the Ingress lacks this host or misspells it.",
		"The client sends no server name, or an IP address.",
	},
	Fixes: []string{
		"See hosts and Secret: kubectl -n NAMESPACE get ingress INGRESS -o " +
			"jsonpath='{.spec.tls}{\"\\n\"}{.spec.rules[*].host}{\"\\n\"}'",
		"See the Secret: kubectl -n NAMESPACE get secret SECRET -o jsonpath='{.data.tls\\.crt}' | base64 -d | " +
			"openssl x509 -noout -subject -dates -ext subjectAltName",
		"cert-manager: kubectl -n NAMESPACE get certificate,order,challenge; kubectl -n NAMESPACE describe " +
			"challenge",
		"Ask with the name: openssl s_client -connect HOST:PORT -servername HOST </dev/null | openssl x509 " +
			"-noout -subject -issuer",
	},
	Cite: "https://kubernetes.github.io/ingress-nginx/user-guide/tls/#default-ssl-certificate",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `certificate is valid for [^;]*\.traefik\.default|valid for ingress\.local\b` +
				`|Kubernetes Ingress Controller Fake Certificate|TRAEFIK DEFAULT CERT` +
				`|certificate is valid for dynamic\b|ingress\.local'`,
			Sample: "Head https://shop.example.com: x509: certificate is valid for 3d67.754e.traefik.default, not " +
				"shop.example.com",
		},
		{
			Side:    ProxySide,
			Pattern: `Using default certificate|No default SSL certificate`,
			Sample: "W1121 08:00:00.000000 7 backend_ssl.go:46] Error obtaining X.509 certificate: no object matching key " +
				"\"shop/tls\" in local store. Using default certificate",
		},
	},
})

var reasonCertExpired = register(Reason{
	ID:       "cert_expired",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a certificate has expired",
	Meaning: "THEIR certificate, or another one of the chain, is past its end. Go says \"is after\" and does " +
		"not say which one; an expired intermediate looks the same.",
	Breaks: "Every client that verifies, from that moment. A webhook with failurePolicy Fail blocks the " +
		"requests it matches.",
	OtherSide: "Go \"remote error: tls: bad certificate\"; OpenSSL and nginx \"alert certificate expired\".",
	Causes: []string{
		"Renewal failed or nobody renews: kubeadm certificates live one year.",
		"The Secret was renewed, but the server still serves the old one.",
		"An intermediate or cross-signed root in the served chain has expired.",
		"The clock of the side that complains is wrong.",
	},
	Fixes: []string{
		"See each certificate's dates: openssl s_client -connect HOST:PORT -servername NAME -showcerts " +
			"</dev/null >chain.pem; openssl storeutl -noout -text -certs chain.pem | grep -E 'Subject:|Not After'",
		"cert-manager: kubectl -n NAMESPACE describe certificate CERTIFICATE; cmctl renew CERTIFICATE -n " +
			"NAMESPACE",
		"kubeadm: kubeadm certs check-expiration; kubeadm certs renew all, then restart the control plane " +
			"pods",
		"Load the new one: kubectl -n NAMESPACE rollout restart deployment/DEPLOYMENT",
		"Check the clock: chronyc tracking || timedatectl",
	},
	Cite: "RFC 5280, Section 4.1.2.5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `(?:certificate has expired|expired or is not yet valid)[^;]*? is after ` +
				`|certificate (?:has|is) expired(?: ?[^ o]| on\b|$)|verif[^;]*: certificate expired\b` +
				`|CERT_HAS_EXPIRED|CertificateExpiredException|timestamp check failed` +
				`|validity check failed|uses expired certificate|certificate expired: verification time` +
				`|invalid peer certificate:? (?:certificate )?expired|CertExpired\b|ERR_CERT_DATE_INVALID` +
				`|SEC_ERROR_EXPIRED_(?:ISSUER_)?CERTIFICATE|SEC_E_CERT_EXPIRED|CERT_E_EXPIRED` +
				`|NotTimeValid|CERTIFICATE_EXPIRED_ERROR|errSSLCertExpired|has expired certificate` +
				`|certificate(?: used)? is out of date|X509_V_ERR_CERT_HAS_EXPIRED`,
			Sample: "x509: certificate has expired or is not yet valid: current time 2026-11-21T08:00:00Z is after " +
				"2026-11-20T00:00:00Z",
		},
	},
})

var reasonCertNotYetValid = register(Reason{
	ID:       "cert_not_yet_valid",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a certificate is not valid yet",
	Meaning: "THEIR certificate, or another one of the chain, begins in the future. Go says \"is before\". " +
		"If several unrelated targets show it from one node, that node's clock is wrong.",
	Breaks:    "Every client whose clock is behind the certificate's start.",
	OtherSide: "Go \"remote error: tls: bad certificate\"; OpenSSL sends certificate expired for this too.",
	Causes: []string{
		"The clock of the side that complains is behind.",
		"The CA's clock was ahead when it signed.",
		"A virtual machine was resumed or restored and its clock jumped.",
	},
	Fixes: []string{
		"Check the clock, on the node: chronyc tracking || timedatectl",
		"Correct it: chronyc makestep",
		"See the dates: openssl s_client -connect HOST:PORT -servername NAME </dev/null | openssl x509 -noout " +
			"-dates",
	},
	Cite: "RFC 5280, Section 4.1.2.5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `expired or is not yet valid[^;]*? is before |certificate is not yet (?:valid|activated)` +
				`|CERT_NOT_YET_VALID|CertificateNotYetValidException|CertNotValidYet` +
				`|certificate not valid yet|certificate chain uses not yet valid certificate` +
				`|invalid peer certificate:? NotValidYet|X509_V_ERR_CERT_NOT_YET_VALID` +
				`|SEC_ERROR_CERT_NOT_YET|MOZILLA_PKIX_ERROR_NOT_YET_VALID_CERTIFICATE` +
				`|errSSLCertNotYetValid|the system clock is incorrect|is not yet activated`,
			Sample: "curl: (60) SSL certificate problem: certificate is not yet valid",
		},
	},
})

var reasonMissingIPSAN = register(Reason{
	ID:       "missing_ip_san",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate names no IP address",
	Meaning: "The peer was dialled by IP address, and THEIR certificate holds no IP address at all. Its " +
		"DNS names do not count for that.",
	Breaks:    "metrics-server and kubectl top when it is a kubelet; any client that uses the address.",
	OtherSide: "Go \"remote error: tls: bad certificate\".",
	Causes: []string{
		"A kubelet without serverTLSBootstrap: its self-signed certificate holds the host name only.",
		"A certificate made for names, and a client configured with an address.",
		"A certificate made by hand without subjectAltName = IP:ADDRESS.",
	},
	Fixes: []string{
		"kubelet, on each node: set serverTLSBootstrap: true in /var/lib/kubelet/config.yaml, then systemctl " +
			"restart kubelet",
		"For nodes to come: kubectl -n kube-system edit configmap kubelet-config (serverTLSBootstrap: true)",
		"See and approve the requests: kubectl get csr; kubectl certificate approve CSR",
		"For good: install kubelet-csr-approver with your node names (provider regex) and IP prefixes; " +
			"without an approver the kubelet answers tls: internal error",
		"Or dial by name: metrics-server --kubelet-preferred-address-types=Hostname (not " +
			"--kubelet-insecure-tls)",
		"Elsewhere: add ipAddresses: [ADDRESS] to the cert-manager Certificate, or subjectAltName = " +
			"IP:ADDRESS",
	},
	Cite: "RFC 5280, Section 4.2.1.6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `doesn't contain any IP SANs|IP address mismatch, certificate is not valid` +
				`|IP: ?\S+ is not in the cert's list: ?(?:["'\\,)]|$)` +
				`|No subject alternative names matching IP address|no subject alternative names present` +
				`|X509_V_ERR_IP_ADDRESS_MISMATCH|does not contain any IP SANs` +
				`|match(?:es)? target (?:host|ip(?:v[46])? address)[^;]*\d+\.\d+\.\d+\.\d+`,
			Sample: "\"Failed to scrape node\" err=\"Get \\\"https://192.168.207.7:10250/metrics/resource\\\": x509: cannot " +
				"validate certificate for 192.168.207.7 because it doesn't contain any IP SANs\" node=\"node5\"",
		},
	},
})

var reasonHostnameMismatch = register(Reason{
	ID:       "hostname_mismatch",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is for other names",
	Meaning:  "THEIR certificate is valid for other names or addresses than the one asked for.",
	Breaks:   "Every client that verifies under this name.",
	OtherSide: "Go \"remote error: tls: bad certificate\"; OpenSSL clients send the same alert; curl closes in " +
		"silence.",
	Causes: []string{
		"Webhook or internal service: the certificate lacks SERVICE.NAMESPACE.svc.",
		"The client uses another name or address than the certificate was made for (a new node address, an " +
			"alias, the pod's name).",
		"No server name was sent, so the server chose another certificate.",
		"Another process answers on this address: a kubelet on 10250, a neighbour on the host network.",
		"A mesh sidecar answers with its SPIFFE certificate, which holds no DNS names.",
	},
	Fixes: []string{
		"See its names: openssl s_client -connect HOST:PORT -servername NAME </dev/null | openssl x509 -noout " +
			"-subject -ext subjectAltName",
		"Add the name: kubectl -n NAMESPACE patch certificate CERTIFICATE --type json -p " +
			"'[{\"op\":\"add\",\"path\":\"/spec/dnsNames/-\",\"value\":\"SERVICE.NAMESPACE.svc\"}]'",
		"Verify under the name it has: server_name in the target, tlsServerName in Prometheus, " +
			"tls-server-name in kubeconfig",
		"kube-apiserver: add the name to certSANs of the kubeadm configuration; rm " +
			"/etc/kubernetes/pki/apiserver.*; kubeadm init phase certs apiserver --config CONFIG",
	},
	Cite: "RFC 9525, Section 6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `certificate is (?:not )?valid for (?:any names|\d+ (?:names|IP SANs)|[^;]+?, not )` +
				`|Hostname mismatch|hostname mismatch|does not match target host name` +
				`|no alternative certificate subject name matches` +
				`|No subject alternative DNS name matching|No name matching \S+ found` +
				`|RemoteCertificateNameMismatch|Hostname/IP does not match certificate's altnames` +
				`|ERR_TLS_CERT_ALTNAME_INVALID|not valid for (?:requested server )?name|NotValidForName` +
				`|CertNotValidForName|ERR_CERT_COMMON_NAME_INVALID|SSL_ERROR_BAD_CERT_DOMAIN` +
				`|SEC_E_WRONG_PRINCIPAL|hostname '[^']*' doesn't match|does not match (?:the )?host ?name` +
				`|did not match expected CN|no certificate subject alternative name matches` +
				`|certificate name does not match|IP address mismatch|CERT_E_CN_NO_MATCH` +
				`|owner does not match hostname|Certificate for <[^>]*> doesn't match` +
				`|hostname (?:in|of) certificate didn't match|certificate common name .* doesn't match` +
				`|name in the certificate does not match the expected|X509_V_ERR_HOSTNAME_MISMATCH` +
				`|upstream SSL certificate does not match|Peer name verification failed` +
				`|Peer name .* is not in peer certificate|verify SAN list|SAN matcher` +
				`|certificate subject name '[^']*' does not match|HOSTNAME_MISMATCH`,
			Sample: "Get \"https://svc.lab/x\": tls: failed to verify certificate: x509: certificate is valid for " +
				"other.lab, not svc.lab",
		},
	},
})

var reasonLegacyCommonName = register(Reason{
	ID:       "legacy_common_name",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate has the name in its common name only",
	Meaning: "THEIR certificate has no subjectAltName, only a common name. Go stopped looking at the " +
		"common name; curl, OpenSSL, Python and Java still do, so \"it works with curl\".",
	Breaks:    "Go clients: the API server, kubectl, container runtimes, most operators.",
	OtherSide: "\"remote error: tls: bad certificate\".",
	Causes: []string{
		"The certificate was made with an old openssl command without subjectAltName.",
		"A company CA or an appliance that fills the common name only.",
	},
	Fixes: []string{
		"Confirm: openssl s_client -connect HOST:PORT </dev/null | openssl x509 -noout -subject -ext " +
			"subjectAltName",
		"Make it with names: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout " +
			"KEY_FILE -out CERT_FILE -subj /CN=NAME -addext subjectAltName=DNS:NAME",
		"cert-manager: set dnsNames, not only commonName",
	},
	Cite: "RFC 9525, Section 2",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `relies on legacy Common Name field`,
			Sample:  "x509: certificate relies on legacy Common Name field, use SANs instead",
		},
	},
})
