package probe

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
)

// OTLPProber sends an empty export to an OpenTelemetry receiver and says what its
// port speaks: plaintext, TLS, both, or TLS with client certificates. An empty
// export is an answer's worth of work and adds nothing to what is stored.
type OTLPProber struct {
	// Signal is what the export would hold: traces, metrics or logs.
	Signal string `yaml:"signal,omitempty"`
	// Protocol is grpc or http; empty: http at port 4318 or for a URL with a
	// path, else grpc.
	Protocol string `yaml:"protocol,omitempty"`
	// Expect says what the port must speak: plaintext, tls, mtls (a client
	// certificate is demanded), permissive (plaintext and TLS), or mesh (mtls if
	// the certificate is that of a mesh's sidecar, else as without an expectation).
	// Empty: as the scheme of a URL says; without one, what it speaks is found out.
	Expect          string    `yaml:"expect,omitempty"`
	TLSConfig       TLSConfig `yaml:"tls_config,omitempty"`
	AddressSettings `yaml:",inline"`
}

// OTLP holds the facts of an export. Read-only.
type OTLP struct {
	Signal   string // traces, metrics or logs
	Protocol string // grpc or http
	Speaks   string // plaintext, tls, mtls or permissive, as far as was tried; "" if none of them
	Answer   string // the answer to the export: "OK", "Unimplemented", "200 OK"; "" without one
	Mesh     string // the SPIFFE identity in the peer's certificate, "" if there is none
}

var _ = registerProber("otlp", func() Prober {
	return &OTLPProber{Signal: "traces", AddressSettings: defaultAddresses()}
})

// What a port can be expected to speak.
const (
	otlpPlaintext  = "plaintext"
	otlpTLS        = "tls"
	otlpMutual     = "mtls"
	otlpPermissive = "permissive"
	otlpMesh       = "mesh"
)

// otlpServices are the services of OTLP over gRPC; over HTTP the path is /v1/ and
// the signal.
var otlpServices = map[string]string{
	"traces":  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	"metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
	"logs":    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}

// Validate implements [Prober].
func (p *OTLPProber) Validate() error {
	if otlpServices[p.Signal] == "" {
		return settingErrorf("signal", "%q is none of traces, metrics and logs", p.Signal)
	}
	if !slices.Contains([]string{"", "grpc", "http"}, p.Protocol) {
		return settingErrorf("protocol", "%q is neither grpc nor http", p.Protocol)
	}
	if !slices.Contains([]string{"", otlpPlaintext, otlpTLS, otlpMutual, otlpPermissive, otlpMesh}, p.Expect) {
		return settingErrorf("expect", "%q is none of plaintext, tls, mtls, permissive and mesh", p.Expect)
	}
	return cmp.Or(p.TLSConfig.validate(), p.AddressSettings.validate())
}

func (p *OTLPProber) endpoint(t *Target) (endpoint, error) {
	r, err := p.receiver(t.Address)
	return endpoint{r.host, r.port, p.AddressSettings}, err
}

// receiver is where an export goes, and how.
type receiver struct {
	host     string
	port     uint16
	protocol string // grpc or http
	expect   string // "": to be found out
	path     string // of an HTTP request
}

const (
	otlpGRPCPort = 4317
	otlpHTTPPort = 4318
)

// receiver reads host[:port] or a URL of http or https, which is read as SDKs read
// OTEL_EXPORTER_OTLP_ENDPOINT: without a port it has that of its scheme, and
// /v1/traces and its like are added to its path.
func (p *OTLPProber) receiver(address string) (receiver, error) {
	const write = "write host:port, for instance otel-collector.monitoring.svc:4317, or a URL"
	r := receiver{protocol: p.Protocol, expect: p.Expect}
	text := address
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case !isURL:
		text = "http://" + address
	case scheme == "http":
		r.expect = cmp.Or(p.Expect, otlpPlaintext)
	case scheme == "https":
		r.expect = cmp.Or(p.Expect, otlpTLS)
	default:
		return r, &AddressError{address, write}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.HasSuffix(u.Host, ":"):
		return r, &AddressError{address, write}
	case u.Hostname() == "":
		return r, &AddressError{address, "the host is missing"}
	case u.Port() != "" && portOf(u) == 0:
		return r, &AddressError{address, "the port must be a number from 1 to 65535"}
	}
	r.host, r.path = u.Hostname(), strings.TrimSuffix(u.Path, "/")
	if isURL || u.Port() != "" {
		r.port = portOf(u)
	}
	r.complete()
	return r.withPath(p.Signal), nil
}

// complete fills in what the address left open.
func (r *receiver) complete() {
	if r.protocol == "" {
		r.protocol = "grpc"
		if r.port == otlpHTTPPort || r.path != "" {
			r.protocol = "http"
		}
	}
	if r.port == 0 {
		r.port = otlpGRPCPort
		if r.protocol == "http" {
			r.port = otlpHTTPPort
		}
	}
}

// withPath adds the path of a signal, unless it is there.
func (r receiver) withPath(signal string) receiver {
	if own := "/v1/" + signal; !strings.HasSuffix(r.path, own) {
		r.path += own
	}
	return r
}

// swapped is the receiver of the other protocol at the same port.
func (r receiver) swapped(signal string) receiver {
	r.protocol = map[string]string{"grpc": "http", "http": "grpc"}[r.protocol]
	return r.withPath(signal)
}

func (p *OTLPProber) attempt(ctx context.Context, s *session, a *Attempt) {
	r, _ := p.receiver(s.target.Address)
	a.OTLP = &OTLP{Signal: p.Signal, Protocol: r.protocol}
	e := &export{session: s, prober: p, to: r, attempt: a}
	switch r.expect {
	case otlpPlaintext:
		e.keep(e.plaintext(ctx))
	case otlpTLS:
		e.keep(e.overTLS(ctx))
	case otlpMutual:
		e.keep(e.mutual(ctx))
	case otlpPermissive:
		e.permissive(ctx)
	case otlpMesh:
		e.mesh(ctx)
	default:
		e.find(ctx)
	}
	e.noteMesh()
}

// meshIdentity returns the SPIFFE ID in a leaf certificate (SPIFFE, X.509-SVID,
// Section 2), "" if there is none.
func meshIdentity(t *TLS) string {
	if t == nil || len(t.Chain) == 0 {
		return ""
	}
	i := slices.IndexFunc(t.Chain[0].URIs, func(uri string) bool { return strings.HasPrefix(uri, "spiffe://") })
	if i < 0 {
		return ""
	}
	return t.Chain[0].URIs[i]
}
