package probe

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

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
	// Resolver is the DNS server to ask, an IP address with or without a port,
	// instead of this machine's hosts file and servers. Its search domains still
	// apply.
	Resolver string `yaml:"resolver,omitempty"`
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
	if s.Resolver != "" {
		if _, err := dnsServer(s.Resolver); err != nil {
			return settingErrorf("resolver", "%v", err)
		}
	}
	return nil
}

// dnsServer returns the host:port of a DNS server given as an IP address with or
// without a port.
func dnsServer(s string) (string, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return netip.AddrPortFrom(addr, dnsPort).String(), nil
	}
	addrPort, err := netip.ParseAddrPort(s)
	if err != nil || addrPort.Port() == 0 {
		return "", fmt.Errorf("%q is not an IP address with or without a port: write 10.96.0.10, 10.96.0.10:53 or [fd00::a]:53", s)
	}
	return addrPort.String(), nil
}

// choose returns the addresses to probe, in the order of addrs. It is empty if
// addrs has none of the one family allowed.
func (s AddressSettings) choose(addrs []netip.Addr) []netip.Addr {
	four, six := families(addrs)
	preferred, other := four, six
	if s.PreferredIPProtocol == "ip6" || s.PreferredIPProtocol == "" && routed(six, four) {
		preferred, other = six, four
	}
	switch {
	case s.Addresses == "all" && s.PreferredIPProtocol == "" && s.IPProtocolFallback:
		return slices.Concat(four, six)
	case len(preferred) == 0 && s.IPProtocolFallback:
		preferred = other
	}
	if s.Addresses == "all" || len(preferred) == 0 {
		return preferred
	}
	return preferred[:1]
}

// routed reports whether six is the family to take: this machine has a route to
// its first address, or there is no other.
func routed(six, four []netip.Addr) bool {
	if len(six) == 0 || len(four) == 0 {
		return len(six) > 0
	}
	// Connecting a UDP socket looks for a route and sends nothing. Any port does.
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(six[0], dnsPort)))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
