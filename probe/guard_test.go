package probe_test

import (
	"net/netip"
	"testing"

	"tlsprobe/probe"
)

func rule(network string, ports ...string) probe.AllowRule {
	r := probe.AllowRule{Network: netip.MustParsePrefix(network)}
	for _, text := range ports {
		var p probe.PortRange
		if err := p.UnmarshalText([]byte(text)); err != nil {
			panic(err)
		}
		r.Ports = append(r.Ports, p)
	}
	return r
}

func TestGuard(t *testing.T) {
	const (
		refusedLinkLocal = " (169.254.0.0/16) is refused unless a rule of probe_endpoint.allow names a network inside it"
		noRule           = ": no rule of probe_endpoint.allow names a network with this address"
	)
	for _, test := range []struct {
		name string
		list probe.AllowList
		peer string
		want string // the error, "" if admitted
	}{
		{"no rule", nil, "10.0.0.1:443",
			"10.0.0.1:443: probe_endpoint.allow is empty: only configured targets may be probed"},
		{"any", probe.AllowAny(), "10.0.0.1:443", ""},
		{"any, loopback", probe.AllowAny(), "127.0.0.1:443", ""},
		{"any, IPv6", probe.AllowAny(), "[2001:db8::1]:443", ""},
		{"any, port 0", probe.AllowAny(), "10.0.0.1:0", "10.0.0.1:0: port 0 cannot be probed"},
		{"any, metadata", probe.AllowAny(), "169.254.169.254:80",
			"169.254.169.254:80: link-local and cloud metadata" + refusedLinkLocal},
		{"any, metadata mapped into IPv6", probe.AllowAny(), "[::ffff:169.254.169.254]:80",
			"[::ffff:169.254.169.254]:80: link-local and cloud metadata" + refusedLinkLocal},
		{"any, metadata behind NAT64", probe.AllowAny(), "[64:ff9b::169.254.169.254]:80",
			"[64:ff9b::a9fe:a9fe]:80: link-local mapped by NAT64 (64:ff9b::a9fe:0/112) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"any, AWS metadata", probe.AllowAny(), "[fd00:ec2::254]:80",
			"[fd00:ec2::254]:80: cloud metadata (fd00:ec2::254/128) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"any, link-local with a zone", probe.AllowAny(), "[fe80::1%eth0]:443",
			"[fe80::1%eth0]:443: link-local (fe80::/10) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"any, multicast", probe.AllowAny(), "224.0.0.1:443",
			"224.0.0.1:443: multicast (224.0.0.0/4) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"any, unspecified", probe.AllowAny(), "0.0.0.0:443",
			"0.0.0.0:443: the unspecified network (0.0.0.0/8) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"any, unspecified IPv6", probe.AllowAny(), "[::]:443",
			"[::]:443: the unspecified address (::/128) is refused unless a rule of probe_endpoint.allow names a network inside it"},
		{"a network around link-local", probe.AllowList{rule("169.0.0.0/8")}, "169.254.169.254:80",
			"169.254.169.254:80: link-local and cloud metadata" + refusedLinkLocal},
		{"a network inside link-local", probe.AllowList{rule("169.254.169.0/24", "80")}, "169.254.169.254:80", ""},
		{"link-local itself", probe.AllowList{rule("169.254.0.0/16")}, "169.254.20.10:443", ""},
		{"inside link-local, mapped", probe.AllowList{rule("169.254.169.254/32")}, "[::ffff:169.254.169.254]:80", ""},
		{"a link-local rule, another port", probe.AllowList{rule("0.0.0.0/0"), rule("169.254.20.10/32", "53")}, "169.254.20.10:80",
			"169.254.20.10:80: probe_endpoint.allow admits 169.254.20.10/32 at port 53 only"},
		{"a network", probe.AllowList{rule("10.0.0.0/8")}, "10.1.2.3:22", ""},
		{"a network, mapped", probe.AllowList{rule("10.0.0.0/8")}, "[::ffff:10.1.2.3]:22", ""},
		{"another network", probe.AllowList{rule("10.0.0.0/8")}, "11.0.0.1:443", "11.0.0.1:443" + noRule},
		{"the other family", probe.AllowList{rule("0.0.0.0/0")}, "[2001:db8::1]:443", "[2001:db8::1]:443" + noRule},
		{"a port", probe.AllowList{rule("10.0.0.0/8", "443")}, "10.0.0.1:443", ""},
		{"another port", probe.AllowList{rule("10.0.0.0/8", "443", "8000-8100")}, "10.0.0.1:22",
			"10.0.0.1:22: probe_endpoint.allow admits 10.0.0.0/8 at port 443, 8000-8100 only"},
		{"begin of a range", probe.AllowList{rule("10.0.0.0/8", "8000-8100")}, "10.0.0.1:8000", ""},
		{"end of a range", probe.AllowList{rule("10.0.0.0/8", "8000-8100")}, "10.0.0.1:8100", ""},
		{"behind a range", probe.AllowList{rule("10.0.0.0/8", "8000-8100")}, "10.0.0.1:8101",
			"10.0.0.1:8101: probe_endpoint.allow admits 10.0.0.0/8 at port 8000-8100 only"},
		{"the port of a later rule", probe.AllowList{rule("10.0.0.0/8", "443"), rule("10.1.0.0/16", "22")}, "10.1.0.1:22", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := test.list.Guard()(netip.MustParseAddrPort(test.peer)); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("guard says\n\t%q, want\n\t%q", got, test.want)
			}
		})
	}
}

func TestGuardRefusesNoAddress(t *testing.T) {
	if err := probe.AllowAny().Guard()(netip.AddrPort{}); err == nil {
		t.Error("the guard admits the zero address")
	}
}

func TestPortRange(t *testing.T) {
	for _, test := range []struct{ text, want, wantErr string }{
		{"443", "443", ""},
		{"8000-8100", "8000-8100", ""},
		{"1 - 65535", "1-65535", ""},
		{"7-7", "7", ""},
		{"0", "", `"0" is no port: write one from 1 to 65535, or a range such as 8000-8100`},
		{"65536", "", `"65536" is no port: write one from 1 to 65535, or a range such as 8000-8100`},
		{"https", "", `"https" is no port: write one from 1 to 65535, or a range such as 8000-8100`},
		{"80-", "", `"80-" is no port: write one from 1 to 65535, or a range such as 8000-8100`},
		{"90-80", "", `"90-80" ends before it begins: write 80-90`},
	} {
		t.Run(test.text, func(t *testing.T) {
			var p probe.PortRange
			err := p.UnmarshalText([]byte(test.text))
			if err != nil {
				if err.Error() != test.wantErr {
					t.Errorf("error %q, want %q", err, test.wantErr)
				}
				return
			}
			if test.wantErr != "" || p.String() != test.want {
				t.Errorf("got %s, want %s%s", p, test.want, test.wantErr)
			}
		})
	}
}

func TestOpenLists(t *testing.T) {
	for _, test := range []struct {
		name string
		list probe.AllowList
		open bool
	}{
		{"none", nil, false},
		{"any", probe.AllowAny(), true},
		{"all of IPv4 at a port", probe.AllowList{rule("0.0.0.0/0", "443")}, true},
		{"half of IPv4", probe.AllowList{rule("0.0.0.0/1"), rule("10.0.0.0/8")}, false},
	} {
		if got := test.list.IsOpen(); got != test.open {
			t.Errorf("%s: open %t", test.name, got)
		}
	}
}
