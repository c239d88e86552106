package lab_test

import (
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// completed is what goClient says of a TLS peer that it found no fault with.
const completed = "handshake completed"

// goSays is what a Go program without tlsprobe sees of each scenario: proof that
// the servers do what they claim, and of how much one and the same text hides.
var goSays = []struct{ words, scenarios string }{
	{completed, "good-tls good-chain name-good good-mtls good-tcp starttls-tls-at-once cert-must-staple cert-weak-rsa negotiate-alpn-ignored config-bad-keypair config-client-cert-expired " +
		"webhook-no-cabundle webhook-headless webhook-annotation ingress-no-address kubelet-csr-waiting kubelet-csr-denied otlp-port-name service-wrong-pod"},
	{"https 200 OK", "good-https good-redirect good-ingress hostile-headers answer-version answer-over-tls answer-header answer-body " +
		"answer-json answer-uncompressed proxy-good token-refused http3-advertised http3-unreachable http3-unreachable-record"},
	{completed + " over QUIC", "quic-good quic-good-request quic-good-http3"},
	{"https 401 Unauthorized", "http-unauthorized"},
	{"https 503 Service Unavailable", "http-unavailable"},
	{"http 200 OK", "redirect-missing redirect-downgrade lb-missing-redirect acme-good acme-other-account"},
	{"http 400 Bad Request", "tls-on-http-url"},
	{"http 404 Not Found", "acme-wrong-backend"},
	{"http 504 Gateway Timeout", "acme-ingress-timeout"},

	{"looked up [127.0.0.1 ::1]", "dns-good dns-truncated dns-https-record dns-old-record dns-should-not-exist dot-good"},
	{"looked up [127.0.0.1]", "dns-nodata"}, // it is asked for the other family too

	{"no such host", "name-unknown name-without-address dns-serial dns-nxdomain dns-loop"},
	{"server misbehaving", "name-server-fails dns-servfail"},
	{"lame referral", "name-server-lame dns-lame"},
	{"missing port in address", "config-no-port"},
	{"connection refused", "connect-refused"},
	{"network is unreachable", "connect-unreachable"},
	{"invalid argument", "connect-local-error"},
	{"i/o timeout", "name-server-silent name-server-refuses name-server-garbage dns-silent dns-refused dns-garbage " +
		"connect-timeout tls-hangs tls-large-hello-hang tls-path-mtu tls-path-mtu-back hostile-drip-tls hostile-handshake tcp-silent"},

	{"EOF", "dns-truncated-closed dot-hangs-up tls-eof tls-eof-in-record tls-proxy-header alert-close-notify alert-unrecognized-name-warning http-eof kong-webhook-eof tcp-closes " +
		"good-ldap good-postgres good-xmpp starttls-postgres-off"},
	{"connection reset by peer", "tls-reset tls-large-hello-reset http-reset"},
	{"first record does not look like a TLS handshake", "plain-http plain-h2c plain-ssh plain-smtp plain-imap plain-pop3 " +
		"plain-mysql plain-postgres plain-redis hostile-garbage kong-webhook-plain-http otlp-plaintext " +
		"good-tcp-labels tcp-other-banner hostile-lines good-smtp good-imap good-pop3 good-ftp good-mysql " +
		"starttls-not-offered starttls-refused starttls-mysql-blocked starttls-other-protocol starttls-cert-expired starttls-eof"},
	{"server gave HTTP response to HTTPS client", "plain-http-on-https-url acme-redirect-plain-http"},
	{"local error: tls: bad record MAC", "tls-bad-record"},
	{"unexpected handshake message of type *tls.clientHelloMsg", "tls-echo"},
	{"unexpected handshake message of type *tls.finishedMsg", "tls-illegal-message"},

	{"remote error: tls: unexpected message", "alert-unexpected-message"},
	{"remote error: tls: bad record MAC", "alert-bad-record-mac"},
	{"remote error: tls: handshake failure", "alert-handshake-failure negotiate-cipher client-cert-required-tls12"},
	{"remote error: tls: alert(41)", "alert-no-certificate"},
	{"remote error: tls: bad certificate", "client-cert-usage"},
	{"remote error: tls: unsupported certificate", "alert-unsupported-certificate"},
	{"remote error: tls: expired certificate", "client-cert-clock"},
	{"remote error: tls: unknown certificate authority", "client-cert-unknown-ca client-cert-unknown-ca-tls12"},
	{"remote error: tls: access denied", "alert-access-denied"},
	{"remote error: tls: error decoding message", "alert-decode-error"},
	{"remote error: tls: error decrypting message", "alert-decrypt-error"},
	{"remote error: tls: protocol version not supported", "alert-protocol-version negotiate-version-new negotiate-version-old"},
	{"remote error: tls: insufficient security level", "alert-insufficient-security"},
	{"remote error: tls: internal error", "alert-internal-error negotiate-certificate-error kubelet-csr-pending"},
	{"remote error: tls: inappropriate fallback", "alert-inappropriate-fallback"},
	{"remote error: tls: no renegotiation", "alert-no-renegotiation"},
	{"remote error: tls: unrecognized name", "alert-unrecognized-name negotiate-no-certificate"},
	{"remote error: tls: certificate required", "client-cert-required client-cert-required-slow http-client-cert dot-client-cert"},
	{"remote error: tls: no application protocol", "alert-no-application-protocol negotiate-alpn"},
	{"remote error: tls: alert(200)", "alert-unassigned"},

	{"is after", "webhook-expired-cabundle cert-expired cert-expired-intermediate cert-several-faults dot-several-faults"},
	{"is before", "cert-not-yet-valid"},
	{"doesn't contain any IP SANs", "cert-no-ip kubelet-no-ip-san acme-redirect-self-signed"},
	{"is valid for 192.0.2.1, not 127.0.0.1", "cert-other-ip"},
	{"is valid for other.lab.test, not " + lab.Host, "cert-other-name"},
	{"is valid for ingress.local, not", "cert-default-ingress-nginx ingress-fake-certificate"},
	{".traefik.default, not " + lab.Host, "cert-default-traefik"},
	{"is valid for 2000 names, but none matched", "hostile-names"},
	{"\x1b]0;title\x07.lab.test, not", "hostile-escapes"},
	{"is not valid for any names", "cert-no-names otlp-strict-mtls"},
	{"relies on legacy Common Name field", "cert-common-name"},
	{"signed by unknown authority", "http-untrusted cert-unknown-ca cert-self-signed cert-incomplete-chain config-ca-bundle"},
	{"ECDSA verification failure", "cert-stale-ca kong-webhook-stale-cabundle"},
	{"insecure algorithm ECDSA-SHA1", "cert-sha1"},
	{"incompatible key usage", "cert-client-usage"},
	{"is not permitted by any constraint", "cert-name-constraint"},
	{"parent certificate cannot sign this kind of certificate", "cert-chain-not-ca"},
	{"too many intermediates for path length constraint", "cert-chain-path-length"},
	{"signature check attempts limit reached", "hostile-chain"},
	{"negative serial number", "cert-negative-serial"},
	{"stapled: revoked", "cert-revoked"},

	{"EOF", "http2-stream-error"},
	{"Forbidden", "proxy-refuses"},
	{"certificate has expired", "quic-expired"},
	{"tls: certificate required", "quic-client-cert"},
	{"CRYPTO_ERROR 0x178 (remote): tls: no application protocol", "quic-alpn"},
	{"CONNECTION_REFUSED (remote)", "quic-connection-refused"},
	{"context deadline exceeded", "quic-silent quic-retry"},
	{"connection refused", "quic-refused"},
	{"no compatible QUIC version found", "quic-versions"},

	{"stopped after 10 redirects", "redirect-self redirect-ping-pong redirect-circle redirect-cookie redirect-endless " +
		"lb-redirect-loop hostile-redirects"},
	{"context deadline exceeded", "acme-solver-unreachable http-hangs hostile-drip-http"},
	{"malformed HTTP status code", "http-not-http"},
	{`malformed HTTP response "\x15\x03\x03\x00\x02\x02F"`, "tls-alert-on-http-url"},
	{"the body goes on after 2 MiB", "hostile-body"},

	{completed, "good-grpc grpc-not-serving grpc-no-health-service grpc-proxy-page grpc-no-alpn grpc-plain-to-tls grpc-hangs " +
		"hostile-grpc-message good-otlp-tls otlp-not-mutual"},
	{"connection reset by peer", "good-grpc-plain good-otlp-grpc otlp-http-on-grpc-port otlp-no-sidecar"},
	{"first record does not look like a TLS handshake", "grpc-http1 hostile-grpc-pings good-otlp-http otlp-grpc-on-http-port " +
		"otlp-permissive otlp-permissive-http"},
	{"remote error: tls: certificate required", "grpc-client-cert"},
	{"remote error: tls: no application protocol", "grpc-http1-tls"},
	{"is not valid for any names", "otlp-strict-plaintext otlp-strict-plaintext-http otlp-strict-permissive otlp-strict-expected"},
	{"signed by unknown authority", "grpc-untrusted"},
}

func TestGoSays(t *testing.T) {
	want := map[string]string{}
	for _, row := range goSays {
		for _, name := range strings.Fields(row.scenarios) {
			want[name] = row.words
		}
	}
	l := newLab(t)
	for _, s := range lab.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			i, err := l.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			if i.Target.Undialled {
				return
			}
			words, known := want[s.Name]
			if !known {
				t.Fatal("goSays has no row for it")
			}
			if got := goClient(t.Context(), i.Target); !strings.Contains(got, words) {
				t.Errorf("Go says %q, want %q", got, words)
			}
			if !beforeServer(s, i.Target) && i.Accepted() == 0 {
				t.Error("the server has accepted no connection")
			}
		})
	}
}

// beforeServer reports whether the scenario ends before a server is connected to.
func beforeServer(s lab.Scenario, target *probe.Target) bool {
	if p, ok := target.Module.Prober.(*probe.DNSProber); ok && !p.DNSOverTLS {
		return true
	}
	return slices.ContainsFunc(s.Reasons, func(id string) bool {
		phase := probe.Lookup(id).Phase
		return phase == probe.PhaseResolve || phase == probe.PhaseConnect || id == "target_misconfigured" || id == "quic_refused"
	})
}
