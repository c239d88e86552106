package probe_test

import "testing"

// What the API server of Kubernetes 1.36 says of webhooks in each state, and what
// the webhook's own server logs of it.
func TestMatchLogWebhooks(t *testing.T) {
	const (
		failed = `Error from server (InternalError): error when creating "STDIN": Internal error occurred: ` +
			`failed calling webhook "wh.example.com": failed to call webhook: `
		post   = failed + `Post "https://wh.default.svc:443/v?timeout=3s": `
		verify = post + `tls: failed to verify certificate: x509: `
		server = `2026/11/21 02:29:57 http: TLS handshake error from 10.77.0.50:60926: `
	)
	for _, tt := range []struct{ state, reason, side, line string }{
		{"wrong or empty caBundle", "unknown_authority", "client", verify + `certificate signed by unknown authority`},
		{"CA made anew", "stale_ca", "client", verify + `certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "cert-manager-webhook-ca")`},
		{"plain HTTP", "wrong_version_number", "client", post + `http: server gave HTTP response to HTTPS client`},
		{"closes", "eof", "client", post + `EOF`},
		{"resets", "connection_reset", "client", post + `read tcp 10.77.0.50:40040->10.77.0.50:9450: read: connection reset by peer`},
		{"expired", "cert_expired", "client", verify + `certificate has expired or is not yet valid: current time 2026-11-21T02:29:48Z is after 2026-11-21T02:28:38Z`},
		{"not yet valid", "cert_not_yet_valid", "client", verify + `certificate has expired or is not yet valid: current time 2026-11-21T02:29:56Z is before 2026-11-21T03:29:38Z`},
		{"other name", "hostname_mismatch", "client", verify + `certificate is valid for other.default.svc, not wh.default.svc`},
		{"common name only", "legacy_common_name", "client", verify + `certificate relies on legacy Common Name field, use SANs instead`},
		{"URL with an IP address", "missing_ip_san", "client", verify + `cannot validate certificate for 10.77.0.50 because it doesn't contain any IP SANs`},
		{"wants a client certificate", "client_cert_required", "client", post + `remote error: tls: certificate required`},
		{"nobody listens", "tcp_refused", "client", post + `dial tcp 10.77.0.50:9449: connect: connection refused`},
		{"hangs", "http_timeout", "client", post + `context deadline exceeded`},
		{"no Service", "service_not_found", "client", post + `service "missing" not found`},
		{"no such port", "service_port_not_found", "client", post + `no service port 443 found for service "wh"`},
		{"no endpoints", "no_endpoints", "client", post + `no endpoints available for service "noep"`},
		{"handler answers 404", "http_status", "client", failed + `the server could not find the requested resource`},
		{"conversion", "unknown_authority", "client", `conversion webhook for x.example.com/v1, Kind=Foo failed: Post "https://wh.default.svc:9443/c?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{"the API server's log", "unknown_authority", "client", `W1121 02:29:57.652202   31563 dispatcher.go:217] Failed calling webhook, failing closed wrongca.example.com: failed calling webhook "wrongca.example.com": failed to call webhook: Post "https://wh.default.svc:443/v?timeout=3s": tls: failed to verify certificate: x509: certificate signed by unknown authority`},

		{"server: client distrusts it", "bad_certificate", "server", server + `remote error: tls: bad certificate`},
		{"server: no client certificate", "client_cert_required", "server", server + `tls: client didn't provide a certificate`},
		{"server: a probe of TCP", "eof", "server", server + `EOF`},
		{"server: a request in plain HTTP", "plaintext_on_tls_port", "server", server + `client sent an HTTP request to an HTTPS server`},
		{"server: cert-manager", "bad_certificate", "server", `I1121 02:34:00.303102 2947 ???:1] "http: TLS handshake error from 10.77.0.10:59090: remote error: tls: bad certificate"`},
	} {
		t.Run(tt.state, func(t *testing.T) { checkLine(t, tt.line, tt.reason, tt.side) })
	}
}

// The same of aggregated APIs, in the conditions of the APIService.
func TestMatchLogAPIServices(t *testing.T) {
	for _, tt := range []struct{ reason, line string }{
		{"unknown_authority", `FailedDiscoveryCheck failing or missing response from https://10.77.0.50:9443/apis/metrics.k8s.io/v1beta1: Get "https://10.77.0.50:9443/apis/metrics.k8s.io/v1beta1": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{"no_endpoints", `EndpointsNotFound cannot find endpointslices for service/noep in "default"`},
		{"no_endpoints", `MissingEndpoints endpointslices for service/noep in "default" have no addresses with port name "https"`},
		{"service_not_found", `ServiceNotFound service/gone in "default" is not present`},
		{"service_port_not_found", `ServicePortError service/wh in "default" is not listening on port 8443`},
	} {
		checkLine(t, tt.line, tt.reason, "client")
	}
}

// What kubelets and those who call them say, and what is said of requests for
// certificates.
func TestMatchLogKubelets(t *testing.T) {
	for _, tt := range []struct{ reason, side, line string }{
		{"missing_ip_san", "client", `E1121 03:06:08.203498 1 scraper.go:149] "Failed to scrape node" err="Get \"https://10.77.0.12:10250/metrics/resource\": tls: failed to verify certificate: x509: cannot validate certificate for 10.77.0.12 because it doesn't contain any IP SANs" node="n2"`},
		{"alert_internal_error", "client", `Error from server: Get "https://10.77.0.12:10250/containerLogs/default/ds-2wp8m/c?tailLines=1": remote error: tls: internal error`},
		{"no_server_certificate", "server", `http: TLS handshake error from 10.77.0.10:59090: no serving certificate available for the kubelet`},
		{"csr_pending", "server", `csr-8x4lz   68s    kubernetes.io/kubelet-serving   system:node:n2   <none>   Pending`},
		{"csr_denied", "server", `csr-8x4lz   68s    kubernetes.io/kubelet-serving   system:node:n2   <none>   Denied`},
		{"none", "", `csr-8x4lz   68s    kubernetes.io/kubelet-serving   system:node:n2   <none>   Approved,Issued`},
	} {
		checkLine(t, tt.line, tt.reason, tt.side)
	}
}
