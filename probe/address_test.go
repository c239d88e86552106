package probe_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestChoose(t *testing.T) {
	if conn, err := net.ListenPacket("udp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here:", err)
	} else {
		conn.Close()
	}
	both := addrs("127.0.0.1", "127.0.0.2", "::1", "::2")
	unrouted := addrs("127.0.0.1", "fe80::1") // link-local without a zone
	first := probe.AddressSettings{Addresses: "first", IPProtocolFallback: true}
	prefer := func(s probe.AddressSettings, family string) probe.AddressSettings {
		s.PreferredIPProtocol = family
		return s
	}
	strict := func(s probe.AddressSettings) probe.AddressSettings {
		s.IPProtocolFallback = false
		return s
	}
	all := probe.AddressSettings{Addresses: "all", IPProtocolFallback: true}

	for _, test := range []struct {
		name     string
		settings probe.AddressSettings
		addrs    []netip.Addr
		want     []netip.Addr
	}{
		{"first: IPv6 with a route", first, both, addrs("::1")},
		{"first: IPv6 without a route", first, unrouted, addrs("127.0.0.1")},
		{"first: only IPv6, without a route", first, addrs("fe80::1"), addrs("fe80::1")},
		{"first: only IPv4", first, addrs("127.0.0.2", "127.0.0.1"), addrs("127.0.0.2")},
		{"the zero value is first", probe.AddressSettings{}, both, addrs("::1")},
		{"ip4", prefer(first, "ip4"), both, addrs("127.0.0.1")},
		{"ip6", prefer(first, "ip6"), unrouted, addrs("fe80::1")},
		{"ip4 falls back", prefer(first, "ip4"), addrs("::1"), addrs("::1")},
		{"ip6 falls back", prefer(first, "ip6"), addrs("127.0.0.1"), addrs("127.0.0.1")},
		{"ip4 or nothing", strict(prefer(first, "ip4")), addrs("::1"), nil},
		{"ip6 or nothing", strict(prefer(first, "ip6")), addrs("127.0.0.1"), nil},
		{"all", all, both, both},
		{"all of one family", prefer(all, "ip4"), both, addrs("127.0.0.1", "127.0.0.2")},
		{"all fall back", prefer(all, "ip4"), addrs("::1", "::2"), addrs("::1", "::2")},
		{"all of one family or nothing", strict(prefer(all, "ip6")), addrs("127.0.0.1"), nil},
		{"all of the family with a route", strict(all), unrouted, addrs("127.0.0.1")},
		{"none", first, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.settings.Choose(test.addrs), compareAddrs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	server := startDNS(t)
	for _, test := range []struct {
		name, host string
		settings   probe.AddressSettings
		want       []netip.Addr
		by         string
		reason     string
	}{
		{"by the module's resolver", "good.lab.test", probe.AddressSettings{Addresses: "all", IPProtocolFallback: true, Resolver: server.Addr()},
			addrs("127.0.0.1", "::1"), server.Addr(), ""},
		{"no address of the family", "ip4only.lab.test", probe.AddressSettings{PreferredIPProtocol: "ip6", Resolver: server.Addr()},
			nil, server.Addr(), "dns_nodata"},
		{"a literal", "127.0.0.1", probe.AddressSettings{PreferredIPProtocol: "ip6", IPProtocolFallback: true}, addrs("127.0.0.1"), "", ""},
		{"a literal of the other family", "127.0.0.1", probe.AddressSettings{PreferredIPProtocol: "ip6"}, nil, "", "dns_nodata"},
		{"the server's failure", "servfail.lab.test", probe.AddressSettings{Resolver: server.Addr()}, nil, server.Addr(), "dns_servfail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, by, err := probe.NewResolver("").Resolve(t.Context(), test.host, test.settings)
			if test.reason != "" {
				checkLookupError(t, got, err, test.reason, test.by)
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, compareAddrs); diff != "" || by != test.by {
				t.Errorf("answered by %q, want %q; addresses (-want +got):\n%s", by, test.by, diff)
			}
		})
	}
}

func TestValidateAddresses(t *testing.T) {
	for _, test := range []struct {
		name     string
		settings probe.AddressSettings
		key      string // of the error; "" for none
	}{
		{"defaults", probe.AddressSettings{}, ""},
		{"all set", probe.AddressSettings{Addresses: "all", PreferredIPProtocol: "ip4", Resolver: "10.96.0.10"}, ""},
		{"resolver with port", probe.AddressSettings{Resolver: "[fd00::a]:5353"}, ""},
		{"resolver IPv6", probe.AddressSettings{Resolver: "fd00::a"}, ""},
		{"resolver by name", probe.AddressSettings{Resolver: "dns.example.test:53"}, "resolver"},
		{"resolver at port 0", probe.AddressSettings{Resolver: "10.96.0.10:0"}, "resolver"},
		{"addresses", probe.AddressSettings{Addresses: "any"}, "addresses"},
		{"family", probe.AddressSettings{PreferredIPProtocol: "ipv4"}, "preferred_ip_protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.settings.ValidateAddresses()
			var setting *probe.SettingError
			if errors.As(err, &setting) != (test.key != "") || setting != nil && setting.Key != test.key {
				t.Errorf("error %v, want one about %q", err, test.key)
			}
		})
	}
}
