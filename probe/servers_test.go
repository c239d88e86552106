package probe_test

import (
	"crypto/tls"
	"path/filepath"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

func TestQuietInNginxLog(t *testing.T) {
	ca, other := newCA(t, "quiet"), newCA(t, "another")
	for _, tt := range quietCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cert, err := tt.issue(ca, other)
			if err != nil {
				t.Fatal(err)
			}
			n := startNginx(t, cert, "")
			probeQuietly(t, n.addr, ca.PEM(), tt.reason)
			if got := n.complaints(t); got != "" {
				t.Errorf("%d probes left in nginx's log: %s", 3*quietProbes, got)
			}
		})
	}
}

// What nginx and OpenSSL answer is not what Go's server answers; the reason is
// the same.
func TestNginxReasons(t *testing.T) {
	ca := newCA(t, "nginx")
	clients := filepath.Join(t.TempDir(), "clients.crt")
	writeFile(t, clients, ca.PEM())
	for _, tt := range []struct {
		name, directives, kind, scheme, reason string
		tlsConfig                              probe.TLSConfig
	}{
		{name: "protocol version", directives: "ssl_protocols TLSv1.3;", kind: "tls",
			tlsConfig: probe.TLSConfig{MaxVersion: tls.VersionTLS12}, reason: "protocol_version"},
		{name: "no shared cipher", directives: "ssl_protocols TLSv1.2; ssl_ciphers DHE-RSA-AES128-GCM-SHA256;",
			kind: "tls", reason: "handshake_failure"},
		{name: "client certificate required", directives: "ssl_client_certificate " + clients + "; ssl_verify_client on;",
			kind: "http", scheme: "https://", reason: "client_cert_required"},
		{name: "plain HTTP", kind: "http", scheme: "http://", reason: "plaintext_on_tls_port"},
		{name: "handshake rejected", directives: "ssl_reject_handshake on;", kind: "tls", reason: "unrecognized_name"},
		{name: "good", kind: "http", scheme: "https://", reason: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := startNginx(t, issue(t, ca), tt.directives)
			wantVerdict(t, target(ca, tt.kind, tt.scheme+n.addr, tt.tlsConfig), tt.reason)
		})
	}
}

func TestOpenSSLReasons(t *testing.T) {
	ca := newCA(t, "openssl")
	clients := filepath.Join(t.TempDir(), "clients.crt")
	writeFile(t, clients, ca.PEM())
	for _, tt := range []struct {
		name, kind, scheme, reason string
		args                       []string
		tlsConfig                  probe.TLSConfig
	}{
		{name: "protocol version", args: []string{"-tls1_3"}, kind: "tls",
			tlsConfig: probe.TLSConfig{MaxVersion: tls.VersionTLS12}, reason: "protocol_version"},
		{name: "no shared cipher", args: []string{"-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"}, kind: "tls", reason: "handshake_failure"},
		{name: "client certificate required in TLS 1.3", args: []string{"-tls1_3", "-CAfile", clients, "-Verify", "1"},
			kind: "tls", reason: "client_cert_required"},
		{name: "client certificate required in TLS 1.2", args: []string{"-tls1_2", "-CAfile", clients, "-Verify", "1"},
			kind: "tls", reason: "client_cert_required"},
		{name: "client certificate required by an HTTPS server", args: []string{"-tls1_3", "-CAfile", clients, "-Verify", "1"},
			kind: "http", scheme: "https://", reason: "client_cert_required"},
		{name: "plain HTTP", kind: "http", scheme: "http://", reason: "plaintext_on_tls_port"},
		{name: "good", kind: "http", scheme: "https://", reason: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := startOpenSSL(t, issue(t, ca), tt.args...)
			wantVerdict(t, target(ca, tt.kind, tt.scheme+addr, tt.tlsConfig), tt.reason)
		})
	}
}

func issue(t *testing.T, ca *lab.CA) tls.Certificate {
	t.Helper()
	cert, err := ca.Issue(named(quietName))
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func target(ca *lab.CA, kind, address string, c probe.TLSConfig) *probe.Target {
	prober := probe.NewProber(kind)
	switch p := prober.(type) {
	case *probe.TLSProber:
		p.TLSConfig = c
	case *probe.HTTPProber:
		p.TLSConfig = c
	case *probe.QUICProber:
		p.TLSConfig = c
	}
	return &probe.Target{
		Name: address, Address: address, ServerName: quietName, Trust: probe.Trust{PEM: ca.PEM()},
		Module: &probe.Module{Name: kind, Kind: kind, Prober: prober},
	}
}

func wantVerdict(t *testing.T, target *probe.Target, want string) {
	t.Helper()
	res := probe.NewRunner("n").Run(t.Context(), target)
	if got := verdict(res); got != want {
		t.Errorf("verdict %q, want %q: %+v", got, want, res.Worst())
	}
}
