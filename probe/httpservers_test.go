package probe_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tlsprobe/probe"
)

// startCaddy runs Caddy, which speaks HTTP/1.1, HTTP/2 and HTTP/3 on one port, and
// returns its address. tlsOptions are about its handshakes.
func startCaddy(t *testing.T, cert tls.Certificate, tlsOptions string) string {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := writeKeyPair(t, dir, cert)
	addr := freeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	conf := filepath.Join(dir, "Caddyfile")
	writeFile(t, conf, fmt.Sprintf(`{
	admin off
	auto_https off
}
https://:%s {
	bind 127.0.0.1
	tls %s %s {
		%s
	}
	respond "ok"
}
`, port, certFile, keyFile, tlsOptions))
	cmd := exec.Command(lookPath(t, "caddy"), "run", "--config", conf, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	var said []string
	for lines.Scan() && !strings.Contains(lines.Text(), "serving initial configuration") {
		said = append(said, lines.Text())
	}
	drained := make(chan struct{})
	go func() { defer close(drained); io.Copy(io.Discard, log) }()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		cmd.Wait()
		if t.Failed() {
			t.Logf("caddy said:\n%s", strings.Join(said, "\n"))
		}
	})
	return addr
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestCaddy(t *testing.T) {
	ca := newCA(t, "caddy")
	clients := filepath.Join(t.TempDir(), "clients.crt")
	writeFile(t, clients, ca.PEM())
	good := startCaddy(t, issue(t, ca), "")
	other := startCaddy(t, issue(t, newCA(t, "another")), "")
	strict := startCaddy(t, issue(t, ca),
		fmt.Sprintf("client_auth {\nmode require_and_verify\ntrusted_ca_cert_file %s\n}", clients))
	http3 := func(p *probe.HTTPProber) { p.EnableHTTP3, p.ValidHTTPVersions = true, []string{"HTTP/3.0"} }
	for _, tt := range []struct {
		name   string
		target *probe.Target
		want   string
	}{
		{"HTTP/2", edited(target(ca, "http", "https://"+good, probe.TLSConfig{}), func(p *probe.HTTPProber) {
			p.ValidHTTPVersions, p.FailIfBodyNotMatches = []string{"HTTP/2.0"}, regexps(t, "^ok$")
		}), ""},
		{"HTTP/3", edited(target(ca, "http", "https://"+good, probe.TLSConfig{}), http3), ""},
		{"HTTP/3 is advertised", edited(target(ca, "http", "https://"+good, probe.TLSConfig{}),
			func(p *probe.HTTPProber) { p.CheckHTTP3 = true }), ""},
		{"a handshake over QUIC", target(ca, "quic", good, probe.TLSConfig{}), ""},
		{"untrusted over QUIC", target(ca, "quic", other, probe.TLSConfig{}), "unknown_authority"},
		{"untrusted over HTTP/3", edited(target(ca, "http", "https://"+other, probe.TLSConfig{}), http3), "unknown_authority"},
		{"client certificate over QUIC", target(ca, "quic", strict, probe.TLSConfig{}), "client_cert_required"},
		{"client certificate over HTTP/3", edited(target(ca, "http", "https://"+strict, probe.TLSConfig{}), http3), "client_cert_required"},
		{"client certificate over HTTP/2", target(ca, "http", "https://"+strict, probe.TLSConfig{}), "client_cert_required"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantVerdict(t, tt.target, tt.want) })
	}
}

// edited changes the settings of a target of the http prober.
func edited(target *probe.Target, edit func(*probe.HTTPProber)) *probe.Target {
	edit(target.Module.Prober.(*probe.HTTPProber))
	return target
}

// startHAProxy runs haproxy on a socket that it inherits; bind is said of it, and
// directives go into its frontend.
func startHAProxy(t *testing.T, cert tls.Certificate, bind, directives string) string {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := writeKeyPair(t, dir, cert)
	var pem []byte
	for _, file := range []string{certFile, keyFile} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pem = append(pem, part...)
	}
	writeFile(t, filepath.Join(dir, "both.pem"), string(pem))
	socket, addr := listeningSocket(t)
	defer socket.Close()
	conf := filepath.Join(dir, "haproxy.cfg")
	writeFile(t, conf, fmt.Sprintf(`global
	quiet
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend in
	bind fd@3 ssl crt %s/both.pem %s
	%s
`, dir, bind, directives))
	cmd := exec.Command(lookPath(t, "haproxy"), "-db", "-f", conf)
	cmd.ExtraFiles = []*os.File{socket}
	start(t, cmd)
	return addr
}

func TestHAProxy(t *testing.T) {
	ca := newCA(t, "haproxy")
	clients := filepath.Join(t.TempDir(), "clients.crt")
	writeFile(t, clients, ca.PEM())
	const ok = `http-request return status 200 content-type text/plain string ok`
	for _, tt := range []struct {
		name, bind, directives, want string
		edit                         func(*probe.HTTPProber)
	}{
		{"HTTP/2", "alpn h2,http/1.1", ok, "", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/2.0"} }},
		{"HTTP/1.1", "alpn http/1.1", ok, "", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/1.1"} }},
		{"no HTTP/2", "alpn http/1.1", ok, "http_version_mismatch", func(p *probe.HTTPProber) { p.ValidHTTPVersions = []string{"HTTP/2.0"} }},
		{"client certificate", "alpn h2,http/1.1 verify required ca-file " + clients, ok, "client_cert_required", func(*probe.HTTPProber) {}},
		{"no backend", "alpn h2,http/1.1", "", "http_status", func(*probe.HTTPProber) {}},
		{"silent drop", "alpn h2,http/1.1", "http-request reject", "eof_after_handshake", func(p *probe.HTTPProber) { p.EnableHTTP2 = false }},
		{"redirect to itself", "alpn h2,http/1.1", "http-request redirect location / code 302", "redirect_loop", func(*probe.HTTPProber) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := startHAProxy(t, issue(t, ca), tt.bind, tt.directives)
			wantVerdict(t, edited(target(ca, "http", "https://"+addr+"/", probe.TLSConfig{}), tt.edit), tt.want)
		})
	}
}
