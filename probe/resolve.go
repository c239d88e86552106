package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"
)

// resolver turns a name into addresses the way programs on this machine do:
// hosts file, then the servers and search domains of resolv.conf, then what the
// operating system knows where that file does not tell all. It asks the DNS
// servers itself, as the standard library gives the same error for a name that
// does not exist, one without an address, and a loop of aliases. It is safe for
// concurrent use.
type resolver struct {
	conf    resolvConfFile
	hosts   net.Resolver  // answers from the hosts file alone
	lookups atomic.Uint32 // so far, for the option rotate
}

func newResolver() *resolver {
	return &resolver{
		conf: resolvConfFile{path: machineResolvConf},
		// The standard library reads the hosts file, and again when it changes.
		// What it would go on to ask a DNS server fails.
		hosts: net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("only the hosts file is asked")
		}},
	}
}

// maxAddresses bounds the addresses of one name. A name with more is a
// round-robin over servers of one kind.
const maxAddresses = 8

// Who answered, where it was no DNS server.
const (
	answeredByHostsFile = "hosts file"
	answeredBySystem    = "system resolver"
)

// resolve returns the addresses of ep to probe, at least one unless err is set,
// and who answered. The error is a *lookupError.
func (r *resolver) resolve(ctx context.Context, ep endpoint) ([]netip.Addr, string, error) {
	addrs, server, err := r.lookup(ctx, ep.host, ep.addresses.Resolver)
	if err != nil {
		return addrs, server, err
	}
	chosen := ep.addresses.choose(addrs)
	if len(chosen) == 0 {
		return nil, server, &lookupError{Name: ep.host, Server: server, RCode: dns.RcodeSuccess, Err: errFamily}
	}
	return chosen, server, nil
}

var errFamily = errors.New("no address of the preferred family, and ip_protocol_fallback is false")

// lookup returns the addresses of host, IPv4 first, each family in the order
// answered, at most maxAddresses; and who answered: "10.96.0.10:53", "hosts
// file", "" for a literal address, which needs no lookup. via is the DNS server
// to ask, "" for the machine's; with it the hosts file has no say. The error is
// a *lookupError.
func (r *resolver) lookup(ctx context.Context, host, via string) ([]netip.Addr, string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, "", nil
	}
	conf := r.conf.current()
	if via != "" {
		server, err := dnsServer(via)
		if err != nil {
			return nil, "", &lookupError{Name: host, Server: via, RCode: noRCode, Err: err}
		}
		return r.lookupDNS(ctx, conf.asking(server), host)
	}
	if len(conf.servers) == 0 {
		return lookupSystem(ctx, host)
	}
	if addrs := r.lookupHostsFile(ctx, host); len(addrs) > 0 {
		return addrs, answeredByHostsFile, nil
	}
	return r.lookupDNS(ctx, conf, host)
}

// lookupDNS asks for host as it stands and in the search domains, in the order
// that resolv.conf(5) gives. The first name with an address wins. Without one,
// the gravest failure is the verdict: that a name does not exist is only sure
// if every question got that answer.
func (r *resolver) lookupDNS(ctx context.Context, conf *resolvConf, host string) ([]netip.Addr, string, error) {
	asker := asker{servers: conf.order(r.lookups.Add(1) - 1), attempts: conf.attempts, timeout: conf.timeout}
	failure := &lookupError{RCode: noRCode, Err: errBadName}
	var tried []string
	for _, name := range conf.candidates(host) {
		addrs, server, err := asker.addresses(ctx, name)
		if err == nil {
			return capFamilies(addrs), server, nil
		}
		if tried = append(tried, name); len(tried) == 1 || err.gravity() > failure.gravity() {
			failure = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	failure.Name, failure.Tried = host, tried
	return nil, failure.Server, failure
}

var errBadName = errors.New("not a DNS name: labels have 1 to 63 characters, the whole at most 253")

// capFamilies cuts addrs to maxAddresses; no family loses to the other what it
// has within its half.
func capFamilies(addrs []netip.Addr) []netip.Addr {
	four, six := families(addrs)
	excess := max(0, len(four)+len(six)-maxAddresses)
	from4 := min(excess, max(0, len(four)-maxAddresses/2))
	four, six = four[:len(four)-from4], six[:len(six)-(excess-from4)]
	return slices.Concat(four, six)
}

// families splits addrs, without repetitions, into IPv4 and IPv6.
func families(addrs []netip.Addr) (four, six []netip.Addr) {
	for _, addr := range addrs {
		switch addr = addr.Unmap(); {
		case addr.Is4() && !slices.Contains(four, addr):
			four = append(four, addr)
		case addr.Is6() && !slices.Contains(six, addr):
			six = append(six, addr)
		}
	}
	return four, six
}

// lookupHostsFile returns the addresses that the hosts file has for host.
func (r *resolver) lookupHostsFile(ctx context.Context, host string) []netip.Addr {
	if strings.Contains(host, ".") {
		host = dns.Fqdn(host) // the same entry, without a search for what cannot be found
	}
	addrs, err := r.hosts.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	return capFamilies(addrs)
}

// lookupSystem asks the operating system, whose answers are less exact: a name
// that exists without an address looks like one that does not exist.
func lookupSystem(ctx context.Context, host string) ([]netip.Addr, string, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil {
		return capFamilies(addrs), answeredBySystem, nil
	}
	failure := &lookupError{Name: host, Server: answeredBySystem, RCode: noRCode, Err: err}
	var dnsErr *net.DNSError
	if errors.As(err, &dnsErr) {
		failure.TimedOut = dnsErr.IsTimeout
		switch {
		case dnsErr.IsNotFound:
			failure.RCode = dns.RcodeNameError
		case dnsErr.IsTemporary && !dnsErr.IsTimeout:
			failure.RCode = dns.RcodeServerFailure
		}
	}
	return nil, failure.Server, failure
}
