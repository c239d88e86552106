package probe

// AddressSettings say which of a name's addresses are probed.
type AddressSettings struct {
	// Addresses is "first" (one address, as most clients would choose it) or
	// "all" (an attempt for each).
	Addresses string `yaml:"addresses,omitempty"`
	// PreferredIPProtocol is "ip4" or "ip6"; empty: ip6 if this machine has a
	// route to the address, else ip4.
	PreferredIPProtocol string `yaml:"preferred_ip_protocol,omitempty"`
	// IPProtocolFallback allows the other family when the preferred one has no
	// address. Without it, only the preferred family is probed.
	IPProtocolFallback bool `yaml:"ip_protocol_fallback"`
}

func defaultAddresses() AddressSettings {
	return AddressSettings{Addresses: "first", IPProtocolFallback: true}
}

func (s *AddressSettings) validate() error {
	switch s.Addresses {
	case "", "first", "all":
	default:
		return settingErrorf("addresses", "%q is neither first nor all", s.Addresses)
	}
	switch s.PreferredIPProtocol {
	case "", "ip4", "ip6":
	default:
		return settingErrorf("preferred_ip_protocol", "%q is neither ip4 nor ip6", s.PreferredIPProtocol)
	}
	return nil
}
