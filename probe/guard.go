package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An AllowList says which addresses may be probed on request, beside the known
// targets. The zero value allows none.
type AllowList []AllowRule

// An AllowRule allows the addresses of a network at some ports.
type AllowRule struct {
	Network netip.Prefix // masked; IPv4 in its own form, not mapped into IPv6
	Ports   []PortRange  // empty: every port
}

// AllowAny returns the list that allows every address but the reserved ones.
func AllowAny() AllowList {
	return AllowList{
		{Network: netip.PrefixFrom(netip.IPv4Unspecified(), 0)},
		{Network: netip.PrefixFrom(netip.IPv6Unspecified(), 0)},
	}
}

// IsOpen reports whether the list has a rule for every address of a family.
func (l AllowList) IsOpen() bool {
	return slices.ContainsFunc(l, func(r AllowRule) bool { return r.Network.Bits() == 0 })
}

// Guard returns a [Guard] that admits what the list allows. Its errors say which
// rule refused.
func (l AllowList) Guard() Guard {
	return l.check
}

// check judges an address after it was resolved, so that neither a name nor
// another spelling of an address (IPv4-mapped IPv6, a zone) gets around a rule.
func (l AllowList) check(peer netip.AddrPort) error {
	addr := peer.Addr().Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return errors.New("no address to judge by probe_endpoint.allow")
	case peer.Port() == 0:
		return fmt.Errorf("%s: port 0 cannot be probed", peer)
	case len(l) == 0:
		return fmt.Errorf("%s: probe_endpoint.allow is empty: only configured targets may be probed", peer)
	}
	reserved, special := reservedNetwork(addr)
	var near *AllowRule // admits the address at other ports
	for i, rule := range l {
		if !rule.Network.Contains(addr) || special && !within(rule.Network, reserved.network) {
			continue
		}
		if rule.admitsPort(peer.Port()) {
			return nil
		}
		near = &l[i]
	}
	switch {
	case near != nil:
		return fmt.Errorf("%s: probe_endpoint.allow admits %s at port %s only", peer, near.Network, portList(near.Ports))
	case special:
		return fmt.Errorf("%s: %s (%s) is refused unless a rule of probe_endpoint.allow names a network inside it",
			peer, reserved.what, reserved.network)
	}
	return fmt.Errorf("%s: no rule of probe_endpoint.allow names a network with this address", peer)
}

func (r *AllowRule) admitsPort(port uint16) bool {
	for _, ports := range r.Ports {
		if ports.First <= port && port <= ports.Last {
			return true
		}
	}
	return len(r.Ports) == 0
}

// within reports whether every address of inner is in outer.
func within(inner, outer netip.Prefix) bool {
	return inner.Bits() >= outer.Bits() && outer.Contains(inner.Addr())
}

type reservedAddresses struct {
	network netip.Prefix
	what    string
}

// reserved are the addresses that a wide rule never means: what sits there
// trusts whoever can reach it, or is no single peer.
var reserved = []reservedAddresses{
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local and cloud metadata"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fd00:ec2::254/128"), "cloud metadata"}, // AWS
	{netip.MustParsePrefix("fd20:ce::254/128"), "cloud metadata"},  // Google Cloud
	{netip.MustParsePrefix("100.100.100.200/32"), "cloud metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), "cloud metadata"},                  // Azure's wire server
	{netip.MustParsePrefix("64:ff9b::a9fe:0/112"), "link-local mapped by NAT64"},   // RFC 6052, Section 2.1
	{netip.MustParsePrefix("2002:a9fe::/32"), "link-local mapped by 6to4"},         // RFC 3056, Section 2
	{netip.MustParsePrefix("0.0.0.0/8"), "the unspecified network"},                // RFC 1122, Section 3.2.1.3
	{netip.MustParsePrefix("::/128"), "the unspecified address"},                   // RFC 4291, Section 2.5.2
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},                            // RFC 5771
	{netip.MustParsePrefix("ff00::/8"), "multicast"},                               // RFC 4291, Section 2.7
	{netip.MustParsePrefix("255.255.255.255/32"), "the limited broadcast address"}, // RFC 919, Section 7
}

func reservedNetwork(addr netip.Addr) (reservedAddresses, bool) {
	for _, r := range reserved {
		if r.network.Contains(addr) {
			return r, true
		}
	}
	return reservedAddresses{}, false
}

// A PortRange is the ports from First to Last, both included.
type PortRange struct{ First, Last uint16 }

// UnmarshalText accepts one port, "443", and a range, "8000-8100".
func (r *PortRange) UnmarshalText(text []byte) error {
	first, last, isRange := strings.Cut(string(text), "-")
	if !isRange {
		last = first
	}
	a, errFirst := strconv.ParseUint(strings.TrimSpace(first), 10, 16)
	b, errLast := strconv.ParseUint(strings.TrimSpace(last), 10, 16)
	switch {
	case errFirst != nil || errLast != nil || a == 0 || b == 0:
		return fmt.Errorf("%q is no port: write one from 1 to 65535, or a range such as 8000-8100", text)
	case a > b:
		return fmt.Errorf("%q ends before it begins: write %d-%d", text, b, a)
	}
	*r = PortRange{First: uint16(a), Last: uint16(b)}
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (r PortRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r PortRange) String() string {
	if r.First == r.Last {
		return strconv.Itoa(int(r.First))
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

func portList(ports []PortRange) string {
	text := make([]string, len(ports))
	for i, p := range ports {
		text[i] = p.String()
	}
	return strings.Join(text, ", ")
}
