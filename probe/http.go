package probe

import (
	"context"
	"net/netip"
)

// HTTPProber sends one request, over TLS for an https URL, and follows
// redirects hop by hop. Nothing is sent to a peer that is not trusted.
type HTTPProber struct {
	TLSConfig TLSConfig         `yaml:"tls_config,omitempty"`
	Method    string            `yaml:"method,omitempty"` // default GET
	Headers   map[string]string `yaml:"headers,omitempty"`
	// ValidStatusCodes are the answers that are right; default: 200 to 299.
	ValidStatusCodes []int `yaml:"valid_status_codes,omitempty"`
	FollowRedirects  bool  `yaml:"follow_redirects"` // default true
	// MaxRedirects bounds the hops that are followed; default 10.
	MaxRedirects int `yaml:"max_redirects,omitempty"`
	// RequireHTTPS makes an http URL that is not redirected to https a problem.
	RequireHTTPS bool `yaml:"require_https,omitempty"`
	// BodySizeLimit is how many bytes of a body are read; default 10 MiB.
	BodySizeLimit   int64 `yaml:"body_size_limit,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("http", func() Prober {
	return &HTTPProber{
		Method: "GET", FollowRedirects: true, MaxRedirects: 10, BodySizeLimit: 10 << 20,
		AddressSettings: defaultAddresses(),
	}
})

// Validate implements [Prober].
func (p *HTTPProber) Validate() error {
	if err := p.TLSConfig.validate(); err != nil {
		return err
	}
	return p.AddressSettings.validate()
}

func (p *HTTPProber) endpoint(t *Target) (endpoint, error) { panic("todo") }

func (p *HTTPProber) attempt(ctx context.Context, s *session, addr netip.AddrPort, a *Attempt) {
	panic("todo")
}
