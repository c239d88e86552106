package discover

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

// allowEntry is the value of probe_endpoint.allow.
type allowEntry struct{ list probe.AllowList }

type allowRuleEntry struct {
	Network networkEntry      `yaml:"network"`
	Ports   []probe.PortRange `yaml:"ports"`
}

// decodeNode implements nodeDecoder: the word any, or a list of rules.
func (a *allowEntry) decodeNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.Value == "any" {
		a.list = probe.AllowAny()
		return
	}
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		d.wrongType(n, path, "any, or a list of {network, ports}")
		return
	}
	var rules []allowRuleEntry
	d.value(n, reflect.ValueOf(&rules).Elem(), path)
	for i, rule := range rules {
		at := path + "[" + strconv.Itoa(i) + "]"
		if !rule.Network.IsValid() && !d.bad[at] && !d.bad[at+".network"] {
			d.failAt(at+".network", "is missing; write a network such as 10.0.0.0/8, or one address")
		}
		a.list = append(a.list, probe.AllowRule{Network: rule.Network.Prefix, Ports: rule.Ports})
	}
}

type networkEntry struct{ netip.Prefix }

// UnmarshalText accepts a network, "10.0.0.0/8", and a single address.
func (n *networkEntry) UnmarshalText(text []byte) error {
	s := string(text)
	if addr, err := netip.ParseAddr(s); err == nil {
		s = netip.PrefixFrom(addr, addr.BitLen()).String()
	}
	prefix, err := netip.ParsePrefix(s)
	switch {
	case err != nil || prefix.Addr().Zone() != "":
		return fmt.Errorf("%q is no network; write one such as 10.0.0.0/8, or one address", text)
	case prefix.Addr().Is4In6():
		return fmt.Errorf("%q is IPv4 mapped into IPv6; write it as IPv4", text)
	case prefix != prefix.Masked():
		return fmt.Errorf("%q is an address within a network; write %s", text, prefix.Masked())
	}
	n.Prefix = prefix
	return nil
}
