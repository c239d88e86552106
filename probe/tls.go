package probe

import (
	"context"
	"net/netip"
)

// TLSProber shakes hands, judges the certificate and closes. It sends nothing.
type TLSProber struct {
	TLSConfig TLSConfig `yaml:"tls_config,omitempty"`
	// ALPN is what to offer; default: h2, http/1.1, as common clients do.
	// A server that agrees on none of RequireALPN has an alpn_mismatch.
	ALPN            []string `yaml:"alpn,omitempty"`
	RequireALPN     []string `yaml:"require_alpn,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("tls", func() Prober {
	return &TLSProber{ALPN: []string{"h2", "http/1.1"}, AddressSettings: defaultAddresses()}
})

// Validate implements [Prober].
func (p *TLSProber) Validate() error {
	if err := p.TLSConfig.validate(); err != nil {
		return err
	}
	return p.AddressSettings.validate()
}

func (p *TLSProber) endpoint(t *Target) (endpoint, error) { panic("todo") }

func (p *TLSProber) attempt(ctx context.Context, s *session, addr netip.AddrPort, a *Attempt) {
	panic("todo")
}
