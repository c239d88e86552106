package probe_test

import (
	"strings"
	"testing"

	"tlsprobe/probe"
)

// Words of each stack beside those of the labelled lines.
func TestMatchLogWords(t *testing.T) {
	for _, tt := range []struct{ reason, side, line string }{
		// Kubernetes
		{"tunnel_unavailable", "client", `Error from server: error dialing backend: No agent available`},
		{"tcp_timeout", "client", `Error from server: error dialing backend: dial tcp 10.0.0.5:10250: i/o timeout`},
		{"hostname_mismatch", "client", `failed calling webhook "v.kb.io": Post "https://hook.ns.svc:443/v": x509: certificate is valid for hook, hook.ns, not hook.ns.svc`},
		{"eof", "client", `Internal error occurred: failed calling webhook "v.kb.io": failed to call webhook: Post "https://hook.ns.svc:443/v?timeout=10s": EOF`},
		{"connection_reset", "client", `failed calling webhook "v.kb.io": Post "https://hook.ns.svc:443/v": read tcp 10.0.0.1:40000->10.0.0.2:443: read: connection reset by peer`},
		{"unknown_authority", "server", `E1121 08:00:00.000000 1 authentication.go:63] "Unable to authenticate the request" err="[x509: certificate signed by unknown authority, verifying certificate SN=1, SKID=, AKID= failed]"`},
		{"no_endpoints", "client", `endpoints for service/metrics-server in "kube-system" have no addresses with port name "https"`},
		{"api_forbidden", "client", `nodes is forbidden: User "system:serviceaccount:default:probe" cannot list resource "nodes" in API group "" at the cluster scope`},
		{"client_cert_expired", "client", `Part of the existing bootstrap client certificate in /etc/kubernetes/kubelet.conf is expired: 2026-01-01 00:00:00 +0000 UTC`},
		{"eof", "server", `{"level":"warn","ts":"2026-11-21T08:00:00Z","msg":"rejected connection on client endpoint","remote-addr":"10.0.0.1:4000","server-name":"","error":"EOF"}`},
		{"bad_certificate", "server", `{"level":"warn","msg":"rejected connection","remote-addr":"10.0.0.1:4000","error":"remote error: tls: bad certificate"}`},
		// Go
		{"handshake_failure", "server", `http: TLS handshake error from 10.0.0.1:1: tls: no key exchanges supported by both client and server`},
		{"ca_bundle_invalid", "client", `x509: failed to load system roots and no roots provided`},
		{"malformed_certificate", "client", `Get "https://a.lab/": tls: failed to parse certificate from server: x509: negative serial number`},
		{"protocol_version", "client", `Get "https://a.lab/": tls: server selected unsupported protocol version 302`},
		{"wrong_version_number", "client", `proxyconnect tcp: tls: first record does not look like a TLS handshake`},
		{"alpn_mismatch", "client", `net/http: HTTP/1.x transport connection broken: malformed HTTP response "\x00\x00\x12\x04\x00\x00\x00"`},
		{"http_timeout", "client", `Get "https://a.lab/": net/http: request canceled (Client.Timeout exceeded while awaiting headers)`},
		{"eof_after_handshake", "client", `Get "https://a.lab/": http: server closed idle connection`},
		{"tcp_local_error", "client", `dial tcp 10.0.0.1:443: connect: cannot assign requested address`},
		{"client_cert_required", "client", `remote error: tls: certificate required`},
		{"alert_other", "client", `remote error: tls: alert(117)`},
		{"quic_refused", "client", `read udp 127.0.0.1:50000->127.0.0.1:443: read: connection refused`},
		{"grpc_not_http2", "server", `transport: http2Server.HandleStreams received bogus greeting from client: "POST /v1/traces HTTP/1."`},
		// OpenSSL and what is built on it
		{"unknown_authority", "client", `verify error:num=20:unable to get local issuer certificate`},
		{"cert_expired", "client", `Verify return code: 10 (certificate has expired)`},
		{"tcp_timeout", "client", `curl: (7) Failed to connect to 10.0.0.1 port 443 after 129000 ms: Connection timed out`},
		{"tcp_unreachable", "client", `curl: (7) Failed to connect to 10.0.0.1 port 443 after 3 ms: No route to host`},
		{"dns_nxdomain", "client", `curl: (6) Could not resolve host: nope.lab`},
		{"reset_after_handshake", "client", `curl: (56) Recv failure: Connection reset by peer`},
		{"connection_reset", "client", `curl: (35) OpenSSL SSL_connect: Connection reset by peer in connection to a.lab:443`},
		{"alert_unknown_ca", "client", `* TLSv1.3 (IN), TLS alert, unknown CA (560):`},
		{"hostname_mismatch", "client", `Peer certificate CN=` + "`a.lab' did not match expected CN=`b.lab'"},
		{"tcp_refused", "client", `requests.exceptions.ConnectionError: HTTPSConnectionPool(host='a.lab', port=443): Max retries exceeded with url: / (Caused by NewConnectionError('<urllib3>: Failed to establish a new connection: [Errno 111] Connection refused'))`},
		{"self_signed", "client", `npm ERR! request to https://a.lab/ failed, reason: self signed certificate in certificate chain`},
		{"wrong_version_number", "client", `Error: write EPROTO C0A8:error:0A0000C6:SSL routines:tls_get_more_records:packet length too long:../deps/openssl/ssl/record/methods/tls_common.c:655:`},
		{"dns_servfail", "client", `Error: getaddrinfo EAI_AGAIN a.lab`},
		{"bad_keypair", "server", `nginx: [emerg] SSL_CTX_use_PrivateKey("/k.pem") failed (SSL: error:05800074:x509 certificate routines::key values mismatch)`},
		{"hostname_mismatch", "proxy", `2026/11/21 08:00:00 [error] 7#7: *1 upstream SSL certificate does not match "a.lab" while SSL handshaking to upstream, client: 10.0.0.1`},
		{"connection_reset", "server", `2026/11/21 08:00:00 [info] 7#7: *1 peer closed connection in SSL handshake (104: Connection reset by peer) while SSL handshaking, client: 10.0.0.1, server: 0.0.0.0:443`},
		{"tls_timeout", "server", `fe_https/1: Timeout during SSL handshake`},
		{"tcp_refused", "proxy", `Server be/s1 is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms.`},
		{"protocol_version", "client", `ssl.SSLError: [SSL: UNSUPPORTED_PROTOCOL] unsupported protocol (_ssl.c:1129)`},
		{"protocol_version", "client", `write EPROTO 3188:error:1425F102:SSL routines:ssl_choose_client_version:unsupported protocol:statem_lib.c:1929:`},
		{"alert_other", "server", `2020/04/09 17:36:04 [crit] 2385#2385: *7 SSL_do_handshake() failed (SSL: error:140944E7:SSL routines:ssl3_read_bytes:reason(1255):SSL alert number 255) while SSL handshaking, client: 10.0.0.1, server: 0.0.0.0:10444`},
		{"http_timeout", "client", `curl: (28) Operation timed out after 3000 milliseconds with 0 bytes received`},
		{"cert_verify_failed", "client", `SSL connect attempt failed error:1416F086:SSL routines:tls_process_server_certificate:certificate verify failed`},
		{"connection_reset", "client", `file_get_contents(): SSL: Connection reset by peer`},
		{"client_cert_required", "proxy", `SSL_read() failed (SSL: error:0A00045C:SSL routines::tlsv13 alert certificate required:SSL alert number 116) while reading response header from upstream, client: 10.0.0.1`},
		{"eof_after_handshake", "proxy", `2026/11/21 08:00:00 [error] 7#7: *1 upstream prematurely closed connection while reading response header from upstream, client: 10.0.0.1, server: , request: "GET / HTTP/1.1", upstream: "https://10.0.9.4:8443/"`},
		// BoringSSL and Envoy
		{"hostname_mismatch", "proxy", `upstream connect error or disconnect/reset before headers. reset reason: remote connection failure, transport failure reason: TLS_error:|268435581:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED:verify cert failed: verify SAN list:TLS_error_end`},
		{"wrong_version_number", "proxy", `503 UF upstream_reset_before_response_started{connection_failure,TLS_error:_268435703:SSL_routines:OPENSSL_internal:X}`},
		{"no_server_certificate", "proxy", `upstream connect error or disconnect/reset before headers. reset reason: connection failure, transport failure reason: TLS error: Secret is not supplied by SDS`},
		{"unknown_authority", "client", `Ssl handshake failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate`},
		{"default_cert", "client", `*  subject: O=Acme Co; CN=Kubernetes Ingress Controller Fake Certificate`},
		// Java, .NET, rustls, GnuTLS, Erlang, browsers
		{"protocol_version", "client", `javax.net.ssl.SSLHandshakeException: No appropriate protocol (protocol is disabled or cipher suites are inappropriate)`},
		{"eof", "client", `javax.net.ssl.SSLHandshakeException: Remote host terminated the handshake`},
		{"wrong_version_number", "client", `javax.net.ssl.SSLException: Unsupported or unrecognized SSL message`},
		{"plaintext_on_tls_port", "client", `io.netty.handler.codec.http2.Http2Exception: First received frame was not SETTINGS. Hex dump for first 5 bytes: 1503030002`},
		{"grpc_not_http2", "client", `io.netty.handler.codec.http2.Http2Exception: First received frame was not SETTINGS. Hex dump for first 5 bytes: 485454502f`},
		{"cert_expired", "client", `java.security.cert.CertificateExpiredException: NotAfter: Fri Nov 20 08:00:00 UTC 2026`},
		{"cert_verify_failed", "client", `The remote certificate is invalid according to the validation procedure.`},
		{"cert_expired", "client", `invalid peer certificate: Expired`},
		{"protocol_version", "client", `received fatal alert: the peer did not support a suitable TLS version`},
		{"bad_certificate", "client", `*** Received alert [42]: Certificate is bad`},
		{"alert_unknown_ca", "client", `{tls_alert,{unknown_ca,"TLS client: In state wait_finished received SERVER ALERT: Fatal - Unknown CA"}}`},
		{"handshake_failure", "client", `Error code: SSL_ERROR_NO_CYPHER_OVERLAP`},
		{"hostname_mismatch", "client", `net::ERR_CERT_COMMON_NAME_INVALID`},
		{"handshake_failure", "client", `A fatal alert was received from the remote endpoint. The TLS protocol defined fatal alert code is 40.`},
		{"no_application_protocol", "client", `aborted by peer: the cryptographic handshake failed: error 120: peer doesn't support any known protocol`},
	} {
		checkLine(t, tt.line, tt.reason, tt.side)
	}
}

// A line means the same in whatever it is wrapped.
func TestMatchLogWrapped(t *testing.T) {
	const line = `Get "https://10.0.0.7:10250/metrics": x509: cannot validate certificate for 10.0.0.7 because it doesn't contain any IP SANs`
	escaped := strings.ReplaceAll(line, `"`, `\"`)
	for _, wrapped := range []string{
		"2026-11-21T08:00:00.000Z\tERROR\t" + line,
		"\x1b[31mERROR\x1b[0m " + strings.ReplaceAll(line, "validate", "\x1b[1mvalidate\x1b[0m"),
		`{"level":"error","msg":"scrape failed","error":"` + escaped + `"}`,
		`{"level":"error","error":"` + strings.ReplaceAll(escaped, "'", `\u0027`) + `"}`,
		strings.Repeat("x", 100_000) + " " + line,
		line + " " + strings.Repeat("x", 100_000),
	} {
		checkLine(t, wrapped, "missing_ip_san", "client")
	}
}

// What ordinary programs log when all is well, or when something else is wrong.
func TestMatchLogOrdinaryLines(t *testing.T) {
	for _, line := range []string{
		"",
		"\\",
		`level=info msg="TLS is enabled." http2=true address=[::]:9790`,
		`Generating self-signed certificate for localhost`,
		`INFO: self-signed certificate written to /tmp/tls.crt`,
		`I1121 08:00:00.000000 1 certificate_manager.go:356] Certificate rotation is enabled`,
		`certificate will expire in 30 days`,
		`notAfter: "2027-01-01T00:00:00Z"`,
		`* TLSv1.3 (IN), TLS alert, close notify (256):`,
		`* SSL connection using TLSv1.3 / TLS_AES_128_GCM_SHA256`,
		`Verify return code: 0 (ok)`,
		`10.0.0.1 - - [21/Nov/2026:08:00:00 +0000] "GET /docs/ERR_CERT_REVOKED/bad_certificate HTTP/1.1" 200 12`,
		`proxy_protocol on;`,
		`ssl_protocols TLSv1.2 TLSv1.3;`,
		`http: Server closed`,
		`dial unix /run/containerd.sock: connect: connection refused`,
		`io: read/write on closed pipe`,
		`ERROR: duplicate key value violates unique constraint "users_pkey"`,
		`password doesn't match 'x'`,
		`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=""`,
		`could not receive data from client: Connection reset by peer`,
		`Back-off restarting failed container app in pod web-0_shop`,
		`rpc error: code = NotFound desc = an error occurred when try to find container`,
		`# HELP tls_handshakes_total Handshakes done.`,
		`Error from server (NotFound): pods "web-0" not found`,
		`Error from server (InternalError): an error on the server ("") has prevented the request from succeeding`,
		`warning: unable to access '/root/.config/git/attributes': Permission denied`,
		`connection to 10.0.0.1:443 established`,
		`EOF reached, 12 lines read`,
		`error:1e000065:Cipher functions:OPENSSL_internal:BAD_DECRYPT`,
		`paramiko.ssh_exception.AuthenticationException: Authentication failed.`,
		`failed calling webhook "v.sh": Post "https://v.ns.svc:443/v?timeout=3s": no kind "PodGroup" is registered for version "v1beta1"`,
	} {
		checkLine(t, line, "none", "")
	}
}

// The part of a line that a person pastes, where it is telling alone. A line that
// holds it among other words is judged by those.
func TestMatchLogFragments(t *testing.T) {
	for _, tt := range []struct{ fragment, reasons, side string }{
		{"connection reset by peer", "connection_reset", "either side"},
		{"read: connection reset by peer", "connection_reset", "either side"},
		{"tls: internal error", "alert_internal_error", "client"},
		{"SSL_ERROR_SYSCALL", "eof", "either side"},
		{"EOF", "eof", "either side"},
		{"unexpected EOF", "eof", "either side"},
		{"bad certificate", "bad_certificate", "either side"},
		{"tls: bad certificate", "bad_certificate", "either side"},
		{"remote error: tls: bad certificate", "bad_certificate", "either side"},
		{"remote error: tls: expired certificate", "alert_certificate_expired", "either side"},
		{"remote error: tls: certificate required", "client_cert_required", "client"},
		{"remote error: tls: unrecognized name", "unrecognized_name", "client"},
		{"i/o timeout", "tcp_timeout, tls_timeout", "client"},
		{"dial tcp: i/o timeout", "tcp_timeout", "client"},
		{"peer 10.0.0.1: connection reset by peer, reconnecting", "", ""},
		{"tls: internal error counter reset", "", ""},
		{"retry on SSL_ERROR_SYSCALL", "", ""},
		{"read 12 lines until EOF", "", ""},
		{"the bad certificate was replaced", "", ""},
		{"i/o timeout set to 30s", "", ""},
	} {
		found := probe.MatchLog(tt.fragment)
		side := ""
		for i := len(found) - 1; i >= 0; i-- {
			side = found[i].Side.String()
			if found[i].Unsure {
				side = "either side"
			}
		}
		if describe(found) != tt.reasons || side != tt.side {
			t.Errorf("%q: %s by %q, want %s by %q", tt.fragment, describe(found), side, tt.reasons, tt.side)
		}
	}
}
