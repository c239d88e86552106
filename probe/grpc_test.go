package probe_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// startGRPC runs grpc-go's own server until the test ends, over TLS if cfg is
// set, and returns its address.
func startGRPC(t *testing.T, cfg *tls.Config, register func(*grpc.Server), options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if cfg != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(cfg)))
	}
	server := grpc.NewServer(options...)
	register(server)
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// healthOf registers grpc-go's health service, with the health of "shop".
func healthOf(shop healthpb.HealthCheckResponse_ServingStatus) func(*grpc.Server) {
	return func(s *grpc.Server) {
		h := health.NewServer()
		h.SetServingStatus("shop", shop)
		healthpb.RegisterHealthServer(s, h)
	}
}

func withoutServices(*grpc.Server) {}

// serverTLS is good TLS for quietName; clients are to have certificates of these
// CAs.
func serverTLS(t *testing.T, ca *lab.CA, clients ...*lab.CA) *tls.Config {
	t.Helper()
	cfg := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	for _, c := range clients {
		if cfg.ClientCAs == nil {
			cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		}
		cfg.ClientCAs.AddCert(c.Cert)
	}
	return cfg
}

// clientOf returns a module's settings with a client certificate of ca.
func clientOf(t *testing.T, ca *lab.CA) probe.TLSConfig {
	t.Helper()
	cert, err := ca.IssueClient("tlsprobe")
	if err != nil {
		t.Fatal(err)
	}
	var c probe.TLSConfig
	c.CertFile, c.KeyFile = writeKeyPair(t, t.TempDir(), cert)
	return c
}

func grpcTarget(ca *lab.CA, address string, edit func(*probe.GRPCProber)) *probe.Target {
	p := probe.NewProber("grpc").(*probe.GRPCProber)
	p.TLS = true
	edit(p)
	return &probe.Target{
		Name: address, Address: address, ServerName: quietName, Trust: probe.Trust{PEM: ca.PEM()},
		Module: &probe.Module{Name: "grpc", Kind: "grpc", Prober: p},
	}
}

func TestGRPCHealthServer(t *testing.T) {
	ca, other := newCA(t, "grpc"), newCA(t, "another")
	plain := func(p *probe.GRPCProber) { p.TLS = false }
	asked := func(service string) func(*probe.GRPCProber) {
		return func(p *probe.GRPCProber) { p.Service = service }
	}
	good := &probe.GRPC{Serving: "SERVING", TLS: true}
	up, down := healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING
	for _, tt := range []struct {
		name, reason, note string
		server             *tls.Config // nil: plaintext
		register           func(*grpc.Server)
		edit               func(*probe.GRPCProber)
		want               *probe.GRPC
	}{
		{name: "serving", server: serverTLS(t, ca), register: healthOf(up), edit: asked(""), want: good},
		{name: "serving in plaintext", register: healthOf(up), edit: plain, want: &probe.GRPC{Serving: "SERVING"}},
		{name: "service that serves", server: serverTLS(t, ca), register: healthOf(up), edit: asked("shop"), want: good},
		{name: "service that does not", server: serverTLS(t, ca), register: healthOf(down), edit: asked("shop"),
			reason: "grpc_not_serving", want: &probe.GRPC{Serving: "NOT_SERVING", TLS: true}},
		{name: "service that is not known", server: serverTLS(t, ca), register: healthOf(up), edit: asked("ship"),
			reason: "grpc_status", note: `does not know service "ship"`, want: &probe.GRPC{Code: uint32(codes.NotFound)}},
		{name: "no health service", server: serverTLS(t, ca), register: withoutServices, edit: asked(""),
			reason: "grpc_status", note: "has no health service", want: &probe.GRPC{Code: uint32(codes.Unimplemented)}},
		{name: "untrusted", server: serverTLS(t, other), register: healthOf(up), edit: asked(""),
			reason: "unknown_authority", want: &probe.GRPC{Code: uint32(codes.Unavailable)}},
		{name: "TLS called in plaintext", server: serverTLS(t, ca), register: healthOf(up), edit: plain,
			reason: "plaintext_on_tls_port", note: "tried TLS", want: &probe.GRPC{Code: uint32(codes.Unavailable)}},
		{name: "plaintext called over TLS", register: healthOf(up), edit: asked(""),
			reason: "wrong_version_number", want: &probe.GRPC{Code: uint32(codes.Unavailable)}},
		{name: "client certificate required", server: serverTLS(t, ca, ca), register: healthOf(up), edit: asked(""),
			reason: "client_cert_required", want: &probe.GRPC{Code: uint32(codes.Unavailable)}},
		{name: "client certificate given", server: serverTLS(t, ca, ca), register: healthOf(up), want: good,
			edit: func(p *probe.GRPCProber) { p.TLSConfig = clientOf(t, ca) }},
		{name: "client certificate of another CA", server: serverTLS(t, ca, ca), register: healthOf(up),
			edit:   func(p *probe.GRPCProber) { p.TLSConfig = clientOf(t, other) },
			reason: "alert_unknown_ca", want: &probe.GRPC{Code: uint32(codes.Unavailable)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := startGRPC(t, tt.server, tt.register)
			res := probe.NewRunner("n").Run(t.Context(), grpcTarget(ca, addr, tt.edit))
			if got := verdict(res); got != tt.reason {
				t.Errorf("verdict %q, want %q: %+v", got, tt.reason, res.Worst())
			}
			if tt.note != "" && !strings.Contains(strings.Join(res.Worst().Notes, "\n"), tt.note) {
				t.Errorf("notes %q, want one that says %q", res.Worst().Notes, tt.note)
			}
			got := res.Attempts[0].GRPC
			if got.Check <= 0 {
				t.Error("the check took no time")
			}
			got.Check = 0
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A probe leaves no error in the log of grpc-go's server, and no call reaches one
// that is not trusted.
func TestGRPCCallsNobodyUntrusted(t *testing.T) {
	ca, other := newCA(t, "grpc"), newCA(t, "another")
	calls := make(chan string, 1)
	addr := startGRPC(t, serverTLS(t, other), healthOf(healthpb.HealthCheckResponse_SERVING),
		grpc.UnaryInterceptor(func(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			calls <- info.FullMethod
			return next(ctx, in)
		}))
	res := probe.NewRunner("n").Run(t.Context(), grpcTarget(ca, addr, func(*probe.GRPCProber) {}))
	if got := verdict(res); got != "unknown_authority" {
		t.Errorf("verdict %q", got)
	}
	select {
	case method := <-calls:
		t.Errorf("%s was called on a peer that is not trusted", method)
	default:
	}
}

// What a server sees of a call: whom it names, and the metadata.
func TestGRPCMetadata(t *testing.T) {
	ca := newCA(t, "grpc")
	seen := make(chan metadata.MD, 1)
	addr := startGRPC(t, serverTLS(t, ca), healthOf(healthpb.HealthCheckResponse_SERVING),
		grpc.UnaryInterceptor(func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			md, _ := metadata.FromIncomingContext(ctx)
			seen <- md
			return next(ctx, in)
		}))
	target := grpcTarget(ca, addr, func(p *probe.GRPCProber) {
		p.Metadata = map[string][]string{"Tenant": {"a", "b"}, "blob-bin": {"\x00\xff"}}
	})
	if got := verdict(probe.NewRunner("n").Run(t.Context(), target)); got != "" {
		t.Fatalf("verdict %q", got)
	}
	md := <-seen
	_, port, _ := net.SplitHostPort(addr)
	want := metadata.MD{"tenant": {"a", "b"}, "blob-bin": {"\x00\xff"}, ":authority": {quietName + ":" + port}}
	for key, values := range want {
		if diff := cmp.Diff(values, md[key]); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", key, diff)
		}
	}
}

// The timeout holds, wherever the server hangs.
func TestGRPCTimeoutHolds(t *testing.T) {
	ca := newCA(t, "grpc")
	const timeout, slack = 200 * time.Millisecond, 2 * time.Second
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // its backlog takes the connection
	hangs := startGRPC(t, nil, healthOf(healthpb.HealthCheckResponse_SERVING),
		grpc.UnaryInterceptor(func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	for _, tt := range []struct {
		name, addr, reason string
		overTLS            bool
	}{
		{"before SETTINGS", silent.Addr().String(), "http_timeout", false},
		{"before ServerHello", silent.Addr().String(), "tls_timeout", true},
		{"in the call", hangs, "http_timeout", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := grpcTarget(ca, tt.addr, func(p *probe.GRPCProber) { p.TLS = tt.overTLS })
			target.Timeout = timeout
			res := probe.NewRunner("n").Run(t.Context(), target)
			if got := verdict(res); got != tt.reason {
				t.Errorf("verdict %q, want %q: %+v", got, tt.reason, res.Worst())
			}
			if res.Duration > timeout+slack {
				t.Errorf("took %s, with a timeout of %s", res.Duration, timeout)
			}
		})
	}
}

func TestGRPCSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*probe.GRPCProber)
		key  string
	}{
		{"good", func(p *probe.GRPCProber) {
			p.Metadata = map[string][]string{"a-key_1.x": {"~ v"}, "X-bin": {"\x00"}}
		}, ""},
		{"key with a space", func(p *probe.GRPCProber) { p.Metadata = map[string][]string{"a b": nil} }, "metadata.a b"},
		{"reserved key", func(p *probe.GRPCProber) { p.Metadata = map[string][]string{"Grpc-Timeout": {"1S"}} }, "metadata.Grpc-Timeout"},
		{"binary value", func(p *probe.GRPCProber) { p.Metadata = map[string][]string{"a": {"\x00"}} }, "metadata.a"},
		{"half a key pair", func(p *probe.GRPCProber) { p.TLSConfig.CertFile = "a" }, "tls_config"},
		{"address setting", func(p *probe.GRPCProber) { p.PreferredIPProtocol = "ip5" }, "preferred_ip_protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := probe.NewProber("grpc").(*probe.GRPCProber)
			tt.edit(p)
			wantSettingError(t, p.Validate(), tt.key)
		})
	}
}

// wantSettingError wants err to blame key, or to be nil for "".
func wantSettingError(t *testing.T, err error, key string) {
	t.Helper()
	got := ""
	if blamed, ok := err.(*probe.SettingError); ok {
		got = blamed.Key
	}
	if got != key || (err == nil) != (key == "") {
		t.Errorf("%v, want an error about %q", err, key)
	}
}

// The modules that blackbox_exporter ships are here under their names.
func TestGRPCBuiltinModules(t *testing.T) {
	modules := probe.BuiltinModules()
	for name, overTLS := range map[string]bool{"grpc": true, "grpc_plain": false} {
		m := modules[name]
		if m == nil || m.Kind != "grpc" || m.Prober.(*probe.GRPCProber).TLS != overTLS {
			t.Errorf("%s is %+v, want a grpc module with tls: %v", name, m, overTLS)
		}
	}
	if probe.NewProber("grpc").(*probe.GRPCProber).TLS {
		t.Error("a grpc module that says nothing of tls has it")
	}
}
