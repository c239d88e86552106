package probe_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// The OpenTelemetry collector's own OTLP receiver, which is a module of its own
// below testdata.

// collector is a running receiver.
type collector struct {
	grpc, http string   // addresses
	log        []string // what it wrote once it listened
	ended      chan struct{}
	stop       func()
}

// buildCollector returns the program. Go's cache keeps it.
func buildCollector(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "otelcol")
	if out, err := exec.Command(lookPath(t, "go"), "build", "-C", "testdata/otelcol", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the collector: %v\n%s", err, out)
	}
	return program
}

// startCollector runs a receiver of OTLP over gRPC and HTTP, with the collector's
// words for TLS, until the test ends.
func startCollector(t *testing.T, program, tlsConfig string) *collector {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GRPC_GO_LOG_SEVERITY_LEVEL=warning")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &collector{ended: make(chan struct{})}
	c.stop = sync.OnceFunc(func() {
		stdin.Close()
		<-c.ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("the collector: %v", err)
		}
	})
	t.Cleanup(c.stop)
	const protocol = "  %s: {endpoint: '127.0.0.1:0'%s}\n"
	fmt.Fprintf(stdin, "protocols:\n"+protocol+protocol+"---\n", "grpc", tlsConfig, "http", tlsConfig)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && lines.Text() != "ready" {
		var entry struct{ Msg, Endpoint string }
		json.Unmarshal(lines.Bytes(), &entry)
		switch entry.Msg {
		case "Starting GRPC server":
			c.grpc = entry.Endpoint
		case "Starting HTTP server":
			c.http = entry.Endpoint
		}
	}
	go func() {
		defer close(c.ended)
		for lines.Scan() {
			c.log = append(c.log, lines.Text())
		}
	}()
	if c.grpc == "" || c.http == "" {
		t.Fatalf("the collector listens at %q and %q", c.grpc, c.http)
	}
	return c
}

func otlpTarget(ca *lab.CA, address string, edit func(*probe.OTLPProber)) *probe.Target {
	p := probe.NewProber("otlp").(*probe.OTLPProber)
	edit(p)
	return &probe.Target{
		Name: address, Address: address, ServerName: quietName, Trust: probe.Trust{PEM: ca.PEM()},
		Module: &probe.Module{Name: "otlp", Kind: "otlp", Prober: p},
	}
}

func TestCollector(t *testing.T) {
	ca, other := newCA(t, "otlp"), newCA(t, "another")
	dir := t.TempDir()
	certFile, keyFile := writeKeyPair(t, dir, issue(t, ca))
	clients := filepath.Join(dir, "clients.crt")
	writeFile(t, clients, ca.PEM())
	program := buildCollector(t)
	pair := fmt.Sprintf(", tls: {cert_file: %s, key_file: %s", certFile, keyFile)
	collectors := map[string]*collector{
		"plaintext": startCollector(t, program, ""),
		"tls":       startCollector(t, program, pair+"}"),
		"mtls":      startCollector(t, program, pair+", client_ca_file: "+clients+"}"),
	}
	client := clientOf(t, ca)
	for _, tt := range []struct {
		server, protocol, expect string
		client                   probe.TLSConfig
		roots                    *lab.CA // nil: ca
		swapped                  bool    // the port of the other protocol is probed
		reason, speaks           string
	}{
		{server: "plaintext", protocol: "grpc", expect: "plaintext", speaks: "plaintext"},
		{server: "plaintext", protocol: "http", expect: "plaintext", speaks: "plaintext"},
		{server: "plaintext", protocol: "grpc", speaks: "plaintext"},
		{server: "plaintext", protocol: "http", speaks: "plaintext"},
		{server: "plaintext", protocol: "grpc", expect: "tls", reason: "wrong_version_number"},
		{server: "plaintext", protocol: "http", expect: "tls", reason: "wrong_version_number"},
		{server: "plaintext", protocol: "grpc", expect: "mtls", reason: "wrong_version_number"},
		{server: "plaintext", protocol: "grpc", expect: "permissive", reason: "otlp_expectation", speaks: "plaintext"},
		{server: "plaintext", protocol: "grpc", expect: "plaintext", swapped: true, reason: "otlp_protocol_mismatch"},
		{server: "plaintext", protocol: "http", expect: "plaintext", swapped: true, reason: "otlp_protocol_mismatch", speaks: "plaintext"},

		{server: "tls", protocol: "grpc", expect: "tls", speaks: "tls"},
		{server: "tls", protocol: "http", expect: "tls", speaks: "tls"},
		{server: "tls", protocol: "grpc", speaks: "tls"},
		{server: "tls", protocol: "http", speaks: "tls"},
		{server: "tls", protocol: "grpc", expect: "plaintext", reason: "plaintext_on_tls_port"},
		{server: "tls", protocol: "http", expect: "plaintext", reason: "plaintext_on_tls_port"},
		{server: "tls", protocol: "grpc", expect: "mtls", reason: "otlp_expectation", speaks: "tls"},
		{server: "tls", protocol: "grpc", expect: "mtls", client: client, reason: "otlp_expectation", speaks: "tls"},
		{server: "tls", protocol: "grpc", expect: "permissive", reason: "otlp_expectation", speaks: "tls"},
		{server: "tls", protocol: "grpc", expect: "tls", roots: other, reason: "unknown_authority", speaks: "tls"},
		{server: "tls", protocol: "grpc", expect: "tls", swapped: true, reason: "otlp_protocol_mismatch", speaks: "tls"},
		{server: "tls", protocol: "http", expect: "tls", swapped: true, reason: "otlp_protocol_mismatch", speaks: "tls"},

		{server: "mtls", protocol: "grpc", expect: "mtls", speaks: "mtls"},
		{server: "mtls", protocol: "http", expect: "mtls", speaks: "mtls"},
		{server: "mtls", protocol: "grpc", expect: "mtls", client: client, speaks: "mtls"},
		{server: "mtls", protocol: "http", expect: "tls", client: client, speaks: "mtls"},
		{server: "mtls", protocol: "grpc", expect: "mtls", client: clientOf(t, other), reason: "alert_unknown_ca", speaks: "mtls"},
		{server: "mtls", protocol: "grpc", expect: "tls", reason: "client_cert_required", speaks: "mtls"},
		{server: "mtls", protocol: "grpc", expect: "plaintext", reason: "client_cert_required"},
		{server: "mtls", protocol: "http", expect: "plaintext", reason: "client_cert_required"},
		{server: "mtls", protocol: "grpc", reason: "client_cert_required", speaks: "mtls"},
	} {
		name := fmt.Sprintf("%s, %s expected over %s, swapped %v, client %v", tt.server, tt.expect, tt.protocol, tt.swapped, tt.client.CertFile != "")
		t.Run(name, func(t *testing.T) {
			addr := collectors[tt.server].grpc
			if (tt.protocol == "http") != tt.swapped {
				addr = collectors[tt.server].http
			}
			roots := ca
			if tt.roots != nil {
				roots = tt.roots
			}
			target := otlpTarget(roots, addr, func(p *probe.OTLPProber) {
				p.Protocol, p.Expect, p.TLSConfig = tt.protocol, tt.expect, tt.client
			})
			res := probe.NewRunner("n").Run(t.Context(), target)
			if got := verdict(res); got != tt.reason {
				t.Errorf("verdict %q, want %q: %+v", got, tt.reason, res.Worst())
			}
			if got := res.Attempts[0].OTLP.Speaks; got != tt.speaks {
				t.Errorf("speaks %q, want %q", got, tt.speaks)
			}
		})
	}
}

// Each signal has its service and its path, and none of their probes leaves a line
// in the collector's log.
func TestCollectorIsNotDisturbed(t *testing.T) {
	ca, other := newCA(t, "otlp"), newCA(t, "another")
	certFile, keyFile := writeKeyPair(t, t.TempDir(), issue(t, ca))
	program := buildCollector(t)
	plain := startCollector(t, program, "")
	secure := startCollector(t, program, fmt.Sprintf(", tls: {cert_file: %s, key_file: %s}", certFile, keyFile))
	probeThrice := func(address string, roots *lab.CA, reason string, edit func(*probe.OTLPProber)) {
		t.Helper()
		r := probe.NewRunner("n")
		target := otlpTarget(roots, address, edit)
		for range 3 {
			if res := r.Run(t.Context(), target); verdict(res) != reason {
				t.Errorf("%s: verdict %q, want %q: %+v", address, verdict(res), reason, res.Worst())
			}
		}
	}
	for _, signal := range []string{"traces", "metrics", "logs"} {
		of := func(protocol string) func(*probe.OTLPProber) {
			return func(p *probe.OTLPProber) { p.Signal, p.Protocol = signal, protocol }
		}
		probeThrice(plain.grpc, ca, "", of("grpc"))
		probeThrice(plain.http, ca, "", of("http"))
		probeThrice("https://"+secure.grpc, ca, "", of("grpc"))
		probeThrice("https://"+secure.http, ca, "", of("http"))
		probeThrice("https://"+secure.grpc, other, "unknown_authority", of("grpc"))
		probeThrice("https://"+secure.http, other, "unknown_authority", of("http"))
	}
	for _, c := range []*collector{plain, secure} {
		c.stop()
		if len(c.log) > 0 {
			t.Errorf("%d lines in the collector's log:\n%s", len(c.log), strings.Join(c.log, "\n"))
		}
	}
}
