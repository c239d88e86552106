package discover

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tlsprobe/probe"
)

func isURL(address string) bool { return strings.Contains(address, "://") }

// takeURLs are the probers whose targets may be URLs. They take host[:port] for
// http:// as well.
var takeURLs = []string{"http", "grpc", "otlp"}

// checkAddress says what is wrong with a target's address, "" if nothing is. What
// takes no URL takes host:port, and dns host[:port].
func checkAddress(address string, m *probe.Module) string {
	switch {
	case isURL(address):
		return checkURL(address, m)
	case slices.Contains(takeURLs, m.Kind):
		return checkURL("http://"+address, m)
	case m.Kind == "dns":
		return checkHostPort(withPort(address, "53"))
	}
	return checkHostPort(address)
}

// withPort adds the port to an address that has none.
func withPort(address, port string) string {
	literal := strings.Trim(address, "[]")
	if _, err := netip.ParseAddr(literal); err == nil || address != "" && !strings.Contains(address, ":") {
		return net.JoinHostPort(literal, port)
	}
	return address
}

func checkURL(address string, m *probe.Module) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is no URL: %v", address, urlFault(err))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("%q has the scheme %q; write http://, https:// or host:port", address, u.Scheme)
	case !slices.Contains(takeURLs, m.Kind):
		return fmt.Sprintf("%q is a URL, and module %q has the prober %q; write host:port, or a module with the prober http",
			address, m.Name, m.Kind)
	case u.User != nil:
		return "holds a user name or password, which would show in metrics; remove them"
	case u.Port() != "" && !isPort(u.Port()):
		return fmt.Sprintf("%q: %q is no port; write one from 1 to 65535", address, u.Port())
	}
	if fault := checkHost(u.Hostname()); fault != "" {
		return fmt.Sprintf("%q %s", address, fault)
	}
	return ""
}

// urlFault strips the URL, which the message has already.
func urlFault(err error) error {
	if fault, ok := err.(*url.Error); ok {
		return fault.Err
	}
	return err
}

func checkHostPort(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		if addr, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
			return fmt.Sprintf("%q has no port; write %s", address, net.JoinHostPort(addr.String(), "443"))
		}
		if !strings.Contains(address, ":") {
			return fmt.Sprintf("%q has no port; write %s", address, strconv.Quote(address+":443"))
		}
		return fmt.Sprintf("%q is not host:port; an IPv6 address goes in brackets: [2001:db8::1]:443", address)
	}
	if !isPort(port) {
		return fmt.Sprintf("%q: %q is no port; write one from 1 to 65535", address, port)
	}
	if fault := checkHost(host); fault != "" {
		return fmt.Sprintf("%q %s", address, fault)
	}
	return ""
}

func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// checkHost says what is wrong with a host, without judging what a resolver may
// yet accept.
func checkHost(host string) string {
	if strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Sprintf("has the host %q, which is no IPv6 address", host)
		}
		return ""
	}
	switch {
	case host == "":
		return "has no host; write one before the port"
	case len(host) > 253:
		return "has a host longer than the 253 bytes of a DNS name"
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\@?#[]`, r) }):
		return fmt.Sprintf("has the host %q, which is no name", host)
	}
	return ""
}
