package probe

import (
	"bytes"
	"cmp"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// resolvConf is what resolv.conf(5) says. Read-only.
type resolvConf struct {
	servers  []string      // host:port; empty: the file is missing or names none
	search   []string      // domains, absolute
	ndots    int           // from this many dots on, a name is first tried as it is
	timeout  time.Duration // for one question to one server
	attempts int           // rounds over all servers
	rotate   bool          // start each lookup at another server
}

// The limits and defaults of resolv.conf(5).
const (
	maxNameservers  = 3
	maxNdots        = 15
	maxDNSTimeout   = 30 * time.Second
	maxDNSAttempts  = 5
	stdNdots        = 1
	stdDNSTimeout   = 5 * time.Second
	stdDNSAttempts  = 2
	maxNameLength   = 254 // with the final dot (RFC 1035, Section 2.3.4)
	dnsPort         = 53
	resolvConfStale = 5 * time.Second // how often the file is looked at, at most
)

// parseResolvConf reads a resolv.conf; what it does not know it skips, as every
// resolver does. A nameserver may have a port in the form of OpenBSD's
// resolv.conf(5): [10.96.0.10]:5353. hostname is this machine's: its domain is
// searched if the file names none.
func parseResolvConf(data []byte, hostname string) *resolvConf {
	c := &resolvConf{ndots: stdNdots, timeout: stdDNSTimeout, attempts: stdDNSAttempts}
	if _, domain, ok := strings.Cut(hostname, "."); ok && domain != "" {
		c.search = []string{dns.Fqdn(domain)}
	}
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			if server, ok := parseNameserver(f[1]); ok && len(c.servers) < maxNameservers {
				c.servers = append(c.servers, server)
			}
		case "domain":
			c.search = absolute(f[1:2])
		case "search":
			c.search = absolute(f[1:])
		case "options":
			for _, option := range f[1:] {
				c.setOption(option)
			}
		}
	}
	return c
}

func parseNameserver(s string) (string, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return netip.AddrPortFrom(addr, dnsPort).String(), true
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || !strings.HasPrefix(s, "[") {
		return "", false
	}
	addrPort, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	return addrPort.String(), err == nil
}

// absolute returns the domains with their final dot. A search of the root adds
// nothing to a name.
func absolute(domains []string) []string {
	var out []string
	for _, d := range domains {
		if d != "." {
			out = append(out, dns.Fqdn(d))
		}
	}
	return out
}

func (c *resolvConf) setOption(option string) {
	key, value, _ := strings.Cut(option, ":")
	n, err := strconv.Atoi(value)
	switch {
	case key == "rotate":
		c.rotate = true
	case err != nil:
	case key == "ndots":
		c.ndots = clamp(n, 0, maxNdots)
	case key == "timeout":
		c.timeout = clamp(time.Duration(n)*time.Second, time.Second, maxDNSTimeout)
	case key == "attempts":
		c.attempts = clamp(n, 1, maxDNSAttempts)
	}
}

func clamp[T cmp.Ordered](v, low, high T) T { return max(low, min(v, high)) }

// candidates returns the absolute names to ask for host, in order; none if host
// is no DNS name.
func (c *resolvConf) candidates(host string) []string {
	if _, ok := dns.IsDomainName(host); !ok || host == "" {
		return nil
	}
	if dns.IsFqdn(host) {
		return []string{host}
	}
	asIs := host + "."
	var names []string
	for _, domain := range c.search {
		if name := asIs + domain; len(name) <= maxNameLength {
			names = append(names, name)
		}
	}
	if strings.Count(host, ".") >= c.ndots {
		return slices.Insert(names, 0, asIs)
	}
	return append(names, asIs)
}

// order returns the servers in the order to ask them for the n-th lookup.
func (c *resolvConf) order(n uint32) []string {
	if !c.rotate || len(c.servers) < 2 {
		return c.servers
	}
	first := int(n % uint32(len(c.servers)))
	return slices.Concat(c.servers[first:], c.servers[:first])
}

// asking returns c with server as the only one.
func (c *resolvConf) asking(server string) *resolvConf {
	only := *c
	only.servers = []string{server}
	return &only
}

// resolvConfFile keeps a resolv.conf parsed and reads it again when it changed:
// DHCP clients, VPNs and kubelets rewrite it under a running process.
type resolvConfFile struct {
	path string // "": there is none

	mu     sync.Mutex // protects all following fields
	conf   *resolvConf
	info   os.FileInfo // of the file that conf was read from, nil if of none
	looked time.Time
}

// current returns what the file says. While it cannot be read, what it said
// last stays in force.
func (f *resolvConfFile) current() *resolvConf {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conf != nil && time.Since(f.looked) < resolvConfStale {
		return f.conf
	}
	f.looked = time.Now()
	if f.conf == nil {
		f.conf = parseResolvConf(nil, "")
	}
	info, err := os.Stat(f.path)
	if err != nil || f.info != nil && sameContent(info, f.info) {
		return f.conf
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return f.conf
	}
	hostname, _ := os.Hostname() // without one, no domain is searched
	f.conf, f.info = parseResolvConf(data, hostname), info
	return f.conf
}

func sameContent(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
