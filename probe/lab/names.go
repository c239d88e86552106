package lab

import (
	"net"
	"net/netip"
	"net/url"

	"tlsprobe/probe"
)

// named makes the target's host a name that the lab's DNS server alone knows.
// The target's address and module must have been set.
func (i *Instance) named(name string) {
	i.lab.dns.Add(name, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	i.Target.Address = withHost(i.Target.Address, name)
	i.ask(i.lab.dns.Addr())
}

// ask makes the target's module look names up at this DNS server.
func (i *Instance) ask(server string) {
	switch p := i.Target.Module.Prober.(type) {
	case *probe.TLSProber:
		p.Resolver = server
	case *probe.HTTPProber:
		p.Resolver = server
	case *probe.GRPCProber:
		p.Resolver = server
	case *probe.OTLPProber:
		p.Resolver = server
	}
}

// withHost replaces the host of a URL or of host:port.
func withHost(address, host string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		u.Host = net.JoinHostPort(host, u.Port())
		return u.String()
	}
	_, port, _ := net.SplitHostPort(address)
	return net.JoinHostPort(host, port)
}

// nameScenarios have a name that does not lead to an address, all but the first.
func nameScenarios() []Scenario {
	fails := func(name, label, summary, reason string) Scenario {
		return Scenario{Name: name, Summary: summary, Reasons: []string{reason},
			start: func(i *Instance) error {
				i.Target.Address = net.JoinHostPort(label+".lab.test", "443")
				i.Target.ServerName = ""
				i.Target.Timeout = shortTimeout
				i.ask(i.lab.dns.Addr())
				return nil
			}}
	}
	return []Scenario{
		{Name: "name-good", Summary: "a good TLS server that is reached by name",
			start: func(i *Instance) error {
				const name = "named.lab.test"
				i.Target.ServerName = ""
				err := i.serveIssued(dnsNames(name))
				i.named(name)
				return err
			}},
		fails("name-unknown", "nothing", "a name that does not exist", "dns_nxdomain"),
		fails("name-without-address", "nodata", "a name that exists and has no address", "dns_nodata"),
		fails("name-server-fails", "servfail", "a DNS server that answers SERVFAIL", "dns_servfail"),
		fails("name-server-refuses", "refused", "a DNS server that refuses to answer", "dns_refused"),
		fails("name-server-silent", "silent", "a DNS server that does not answer", "dns_timeout"),
		fails("name-server-garbage", "garbage", "a DNS server that answers what is no DNS message", "dns_error"),
		fails("name-server-lame", "lame", "a DNS server that refers to others", "dns_error"),
	}
}
