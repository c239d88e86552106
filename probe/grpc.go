package probe

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// GRPCProber asks a gRPC server for its health (grpc.health.v1): blackbox_exporter's
// grammar. Nothing is asked of a peer that is not trusted.
type GRPCProber struct {
	// Service is whose health is asked for; "": the server's as a whole.
	Service   string    `yaml:"service,omitempty"`
	TLS       bool      `yaml:"tls,omitempty"`
	TLSConfig TLSConfig `yaml:"tls_config,omitempty"`
	// Metadata is sent with the call. The keys are those of HTTP/2 headers.
	Metadata        map[string][]string `yaml:"metadata,omitempty"`
	AddressSettings `yaml:",inline"`
}

// GRPC holds the facts of a health check. Read-only.
type GRPC struct {
	// Code is the call's status (google.golang.org/grpc/codes). Where the server
	// gave none it is what a client makes of that: Unavailable or DeadlineExceeded.
	Code uint32
	// Serving is the health that the server answered with: SERVING, NOT_SERVING,
	// SERVICE_UNKNOWN or UNKNOWN; "" if it did not.
	Serving string
	TLS     bool          // the answer came over TLS
	Check   time.Duration // from connecting to the answer
}

var _ = registerProber("grpc", func() Prober { return newGRPCProber(false) })

// The modules that blackbox_exporter ships.
var (
	_ = registerModule("grpc", "grpc", func() Prober { return newGRPCProber(true) })
	_ = registerModule("grpc_plain", "grpc", func() Prober {
		p := newGRPCProber(false)
		p.Service = "service1"
		return p
	})
)

func newGRPCProber(overTLS bool) *GRPCProber {
	return &GRPCProber{TLS: overTLS, AddressSettings: defaultAddresses()}
}

// Validate implements [Prober].
func (p *GRPCProber) Validate() error {
	for key, values := range p.Metadata {
		if msg := metadataFault(key, values); msg != "" {
			return settingErrorf("metadata."+key, "%s", msg)
		}
	}
	return cmp.Or(p.TLSConfig.validate(), p.AddressSettings.validate())
}

// metadataFault says what keeps a key from being sent, "" if nothing does (gRPC
// over HTTP2, Requests, Custom-Metadata).
func metadataFault(key string, values []string) string {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-."
	switch lower := strings.ToLower(key); {
	case lower == "" || strings.Trim(lower, allowed) != "":
		return "is no key of metadata: write letters, digits, _, - and ."
	case strings.HasPrefix(lower, "grpc-"):
		return "is gRPC's own: keys must not begin with grpc-"
	case strings.HasSuffix(lower, "-bin"):
		return ""
	}
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsFunc(v, unprintable) }) {
		return "has a value that is not printable ASCII: write it under a key that ends in -bin"
	}
	return ""
}

func (p *GRPCProber) endpoint(t *Target) (endpoint, error) {
	host, port, err := splitGRPCAddress(t.Address, p.TLS)
	return endpoint{host, port, p.AddressSettings}, err
}

func (p *GRPCProber) attempt(ctx context.Context, s *session, a *Attempt) {
	host, port, _ := splitGRPCAddress(s.target.Address, p.TLS)
	a.GRPC = &GRPC{Code: uint32(codes.Unavailable)}
	start := time.Now()
	defer func() { a.GRPC.Check = time.Since(start) }()
	line := s.openGRPC(ctx, a, p.tlsConfig(), host)
	if line == nil {
		return
	}
	var health healthpb.HealthCheckResponse
	answer := line.call(ctx, &grpcRequest{
		authority: s.authority(&p.TLSConfig, host, port),
		method:    healthpb.Health_Check_FullMethodName,
		metadata:  p.Metadata,
		in:        &healthpb.HealthCheckRequest{Service: p.Service},
	}, &health)
	a.Phases[PhaseRequest] += answer.took
	a.GRPC.Code = uint32(answer.code)
	if answer.problem != nil {
		p.explain(answer)
		a.Problems = append(a.Problems, *answer.problem)
		return
	}
	a.GRPC.TLS = line.tls != nil
	a.GRPC.Serving = health.GetStatus().String()
	if health.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		problem := reasonGRPCNotServing.problem("the health of %s is %s", p.asked(), a.GRPC.Serving)
		problem.Expected, problem.Received = "SERVING", a.GRPC.Serving
		a.Problems = append(a.Problems, problem)
	}
}

func (p *GRPCProber) tlsConfig() *TLSConfig {
	if p.TLS {
		return &p.TLSConfig
	}
	return nil
}

// asked says whose health is asked for.
func (p *GRPCProber) asked() string {
	if p.Service == "" {
		return "the server"
	}
	return fmt.Sprintf("service %q", p.Service)
}

// explain adds to a status what it means for a health check.
func (p *GRPCProber) explain(answer *grpcAnswer) {
	problem := answer.problem
	switch {
	case problem.Reason != reasonGRPCStatus || len(problem.Notes) > 0:
	case answer.code == codes.Unimplemented:
		problem.Notes = []string{"the server is alive and speaks gRPC, but has no health service (grpc.health.v1): " +
			"register one there, or probe it by tls"}
	case answer.code == codes.NotFound:
		problem.Notes = []string{"the server is alive and has a health service, which does not know " + p.asked()}
	}
}

// authority is what a call names as its server: whom the certificate should be of.
func (s *session) authority(c *TLSConfig, host string, port uint16) string {
	return net.JoinHostPort(s.peerOf(c, host).name, strconv.Itoa(int(port)))
}

// splitGRPCAddress reads host[:port] or a URL of http or https, which says no
// more than a port that is not given: 443 over TLS, else 80.
func splitGRPCAddress(address string, overTLS bool) (host string, port uint16, err error) {
	const write = "write host:port, for instance example.com:50051, or a URL"
	text := address
	if scheme, _, found := strings.Cut(address, "://"); !found {
		text = "http://" + address
	} else if scheme != "http" && scheme != "https" {
		return "", 0, &AddressError{address, write}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.HasSuffix(u.Host, ":"):
		return "", 0, &AddressError{address, write}
	case u.Hostname() == "":
		return "", 0, &AddressError{address, "the host is missing"}
	case u.Port() == "" && overTLS:
		return u.Hostname(), 443, nil
	case u.Port() == "":
		return u.Hostname(), 80, nil
	}
	if port = portOf(u); port == 0 {
		return "", 0, &AddressError{address, "the port must be a number from 1 to 65535"}
	}
	return u.Hostname(), port, nil
}
