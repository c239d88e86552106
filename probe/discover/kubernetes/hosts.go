package kubernetes

import (
	"net/netip"
	"strings"

	"tlsprobe/probe"
)

// anyHost stands in names of targets for hosts that no object names.
const anyHost = "*"

// A label that a wildcard covers, to ask for a host by. It never changes, so that
// the answers to it can be told from others in logs.
const wildcardLabel = "tlsprobe"

// hostModules are the ways to probe the hosts of one kind of objects. An answer
// below 500 is right: that an application has nothing at / is no fault of the way
// to it. A redirect to another host is such an answer, as it often leads to a login
// page, of which the way to this host says nothing and which nobody here should
// ask from every node. Certificates are judged as a client does that has no CA of
// its own, by the system's roots.
type hostModules struct {
	https    *probe.Module // and if plain http is served too, it must lead to https
	alone    *probe.Module // https, whatever plain http does
	http     *probe.Module // plain http
	redirect *probe.Module // plain http that leads to https
	unnamed  *probe.Module // https, with no name that the certificate could be for
	tls      *probe.Module // a handshake only: the backend ends TLS, and may speak anything
}

func newHostModules(kind string) hostModules {
	module := func(name string, edit func(*probe.HTTPProber)) *probe.Module {
		p := probe.NewProber("http").(*probe.HTTPProber)
		p.SameHost = true
		for status := 200; status < 500; status++ {
			p.ValidStatusCodes = append(p.ValidStatusCodes, status)
		}
		edit(p)
		return &probe.Module{Name: kind + name, Kind: "http", Prober: p}
	}
	return hostModules{
		https: module("", func(p *probe.HTTPProber) { p.HTTPPort = 80 }),
		alone: module("_https", func(*probe.HTTPProber) {}),
		http:  module("_http", func(*probe.HTTPProber) {}),
		redirect: module("_redirect", func(p *probe.HTTPProber) {
			p.RequireHTTPS, p.FollowRedirects = true, false // https has a target of its own
		}),
		unnamed: module("_unnamed", func(p *probe.HTTPProber) { p.TLSConfig.InsecureSkipVerify = true }),
		tls:     &probe.Module{Name: kind + "_tls", Kind: "tls", Prober: probe.NewProber("tls")},
	}
}

// A site is a host behind the addresses of an Ingress or a Gateway.
type site struct {
	host      string // "": any; may begin with *.
	port      int32
	module    *probe.Module
	secure    bool     // TLS is spoken there
	addresses []string // in the status of the object
	via       string   // what those are, for people
}

// target returns the target of s, by the name of what it belongs to. It is dialled
// at each address, and where the cluster's DNS says. A wildcard is asked for a host
// below it, which DNS need not know, and what has no host at all for an address.
func (s site) target(owner string) *probe.Target {
	t := &probe.Target{Name: owner + "/" + s.host, Module: s.module}
	for _, address := range s.addresses {
		t.Routes = append(t.Routes, probe.Route{Via: s.via, Address: hostPort(address, s.port)})
	}
	suffix, wildcard := strings.CutPrefix(s.host, "*")
	switch {
	case s.host == "":
		t.Name += anyHost
		t.Address = s.url(anyHost)
		if len(s.addresses) > 0 {
			t.Address = s.url(s.addresses[0])
		}
	case wildcard:
		t.Address = s.url(wildcardLabel + suffix)
	default:
		t.Address = s.url(s.host)
		t.Routes = append(t.Routes, probe.Route{Via: "cluster DNS", Address: hostPort(s.host, s.port)})
	}
	t.Undialled = len(t.Routes) == 0
	return t
}

// url is where the module finds the host.
func (s site) url(host string) string {
	if s.module.Kind == "tls" {
		return hostPort(host, s.port)
	}
	scheme, usual := "http", int32(80)
	if s.secure {
		scheme, usual = "https", 443
	}
	switch addr, _ := netip.ParseAddr(host); {
	case s.port != usual:
		host = hostPort(host, s.port)
	case addr.Is6():
		host = "[" + host + "]"
	}
	return scheme + "://" + host + "/"
}

// isLoopback reports whether this is the own machine of whoever reads it: of what
// leads there nothing can be told from another one.
func isLoopback(host string) bool {
	addr, _ := netip.ParseAddr(host)
	return host == "localhost" || addr.IsLoopback()
}

// covers reports whether a client takes a certificate for the pattern as one for the
// host: a wildcard stands for one label (RFC 6125, Section 6.4.3).
func covers(pattern, host string) bool {
	if suffix, ok := strings.CutPrefix(pattern, "*."); ok {
		_, rest, _ := strings.Cut(host, ".")
		return rest == suffix
	}
	return pattern == host
}

// nearHost says how two different hosts come close enough for one to be meant by
// the other, "" if they do not.
func nearHost(pattern, host string) string {
	base, wildcard := strings.CutPrefix(pattern, "*.")
	switch {
	case wildcard && host == base:
		return "a wildcard does not cover the domain itself"
	case wildcard && strings.HasSuffix(host, "."+base):
		return "a wildcard stands for exactly one label"
	case strings.HasPrefix(host, pattern+"."), strings.HasPrefix(pattern, host+"."):
		return "the one is the beginning of the other"
	case strings.HasSuffix(host, "."+pattern), strings.HasSuffix(pattern, "."+host):
		return "the one is a domain below the other"
	}
	return ""
}
