package probe

// What keeps a kubelet from a certificate of the cluster's CA.

var _ = register(Reason{
	ID:       "csr_denied",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "a kubelet's request for a serving certificate was denied",
	Meaning: "An approver or a person has denied the CertificateSigningRequest of a kubelet, and nothing is " +
		"signed. The kubelet goes on with the certificate it has, if it has one, and asks again later.",
	Breaks: "kubectl logs, exec and port-forward to pods of that node, and metrics-server: at once on a new " +
		"node, else when the old certificate expires.",
	OtherSide: "kubelet: \"certificate signing request is denied\", and at each handshake \"no serving " +
		"certificate available for the kubelet\" if it has none.",
	Causes: []string{
		"The node's name or an address is not what the approver's rules admit (regex of names, IP prefixes).",
		"The node's name does not resolve, or to other addresses, and the approver looks it up.",
		"Somebody denied it by hand.",
	},
	Fixes: []string{
		"Read who and why: kubectl get csr CSR -o jsonpath='{.status.conditions}'",
		"See what is asked for: kubectl get csr CSR -o jsonpath='{.spec.request}' | base64 -d | openssl req " +
			"-noout -text | grep -E 'Subject:|DNS:'",
		"Correct the node or the approver's rules, and let the kubelet ask anew: kubectl delete csr CSR; on the " +
			"node: systemctl restart kubelet",
	},
	Cite: "https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#approval-rejection",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `certificate signing request is denied|kubernetes\.io/kubelet-serving\s.*\bDenied\b` +
				`|certificatesigningrequest\.certificates\.k8s\.io/\S+ denied`,
			Sample: "E1121 08:00:00.000000 1234 certificate_manager.go:622] \"Certificate request was not signed\" " +
				"err=\"certificate signing request is denied, reason: PolicyDenied, message: x\" " +
				"logger=\"kubernetes.io/kubelet-serving\"",
		},
	},
})

var _ = register(Reason{
	ID:       "csr_pending",
	Phase:    PhaseConfig,
	Severity: Warning,
	Title:    "a kubelet waits for its serving certificate",
	Meaning: "The kubelet has asked for a certificate by the cluster's CA, and has none yet: Kubernetes " +
		"approves no request for kubernetes.io/kubelet-serving by itself. Until then the kubelet serves its " +
		"old certificate, or ends each handshake with the alert internal_error.",
	Breaks: "kubectl logs, exec and port-forward to pods of that node, and metrics-server: at once on a new " +
		"node, else when the old certificate expires.",
	OtherSide: "kubelet: \"no serving certificate available for the kubelet\", \"Certificate request was not " +
		"signed\".",
	Causes: []string{
		"serverTLSBootstrap is on, and nobody approves: there is no approver in the cluster.",
		"The approver runs, but does not take this node's name or addresses for right.",
		"The request is approved, but nobody signs: kube-controller-manager has no --cluster-signing-cert-file.",
	},
	Fixes: []string{
		"See them: kubectl get csr --field-selector spec.signerName=kubernetes.io/kubelet-serving",
		"See what is asked for: kubectl get csr CSR -o jsonpath='{.spec.request}' | base64 -d | openssl req " +
			"-noout -text | grep -E 'Subject:|DNS:'",
		"If name and addresses are the node's, approve: kubectl certificate approve CSR",
		"For good: run an approver, such as kubelet-csr-approver with --provider-regex and " +
			"--provider-ip-prefixes",
	},
	Cite: "https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/kubeadm-certs/#kubelet-serving-certs",
	Logs: []LogPattern{
		{
			Side: ServerSide,
			Pattern: `Certificate request was not signed|kubernetes\.io/kubelet-serving\s.*\bPending\b` +
				`|certificate signing request is approved, waiting to be issued`,
			Sample: "E0529 14:18:56.794752 25170 certificate_manager.go:378] Certificate request was not signed: timed " +
				"out waiting for the condition",
		},
	},
})
