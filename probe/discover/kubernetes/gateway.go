package kubernetes

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// gateways makes a target of each host of the Gateways' listeners.
func (b *builder) gateways() {
	modules := newHostModules(kindGateway)
	routes := map[string][]*httpRoute{} // that refer to a Gateway, by its namespace/name
	for _, r := range b.objects.httpRoutes {
		for _, name := range gatewaysOf(r) {
			routes[name] = append(routes[name], r)
		}
	}
	for _, g := range b.objects.gateways {
		if b.wants(kindGateway, g) {
			b.gateway(g, modules, routes[path.Join(g.Namespace, g.Name)])
		}
	}
}

// gatewaysOf returns the Gateways that a route refers to, each once.
func gatewaysOf(r *httpRoute) []string {
	var all []string
	for _, ref := range r.Spec.ParentRefs {
		if name := ref.gateway(r); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

func (b *builder) gateway(g *gateway, modules hostModules, routes []*httpRoute) {
	var addresses []string
	for _, a := range g.Status.Addresses {
		if a.Type != "NamedAddress" && a.Value != "" && !slices.Contains(addresses, a.Value) {
			addresses = append(addresses, a.Value)
		}
	}
	var faults []probe.Problem
	if len(addresses) == 0 {
		p := at(g, "status.addresses").fault("ingress_no_address", "is empty")
		p.Expected = "the address that the Gateway's clients use"
		faults = []probe.Problem{p}
	}
	addresses = slices.DeleteFunc(addresses, isLoopback)
	hosts := make([][]string, len(g.Spec.Listeners))
	var secure []string
	for n, l := range g.Spec.Listeners {
		hosts[n] = l.hosts(g, routes)
		if l.Protocol == "HTTPS" {
			secure = append(secure, hosts[n]...)
		}
	}
	if g.Annotations[annotationExpect] == "permissive" {
		secure = nil
	}
	for n, l := range g.Spec.Listeners {
		for _, host := range hosts[n] {
			s := site{host: host, port: l.Port, secure: l.Protocol != "HTTP", addresses: addresses, via: "address in the status of the Gateway"}
			if s.module = l.module(host, modules, secure); s.module == nil {
				continue
			}
			t := s.target(path.Join(kindGateway, g.Namespace, g.Name, l.Name))
			b.shareOut(t.Routes[:len(addresses)])
			t.Faults = slices.Clone(faults)
			t.Labels = probe.LabelsOf(map[string]string{
				"kind": kindGateway, "namespace": g.Namespace, "gateway": g.Name, "listener": l.Name, "host": cmp.Or(host, anyHost),
			})
			b.add(g, t)
		}
	}
}

// module says how a host of the listener is probed, nil if it cannot be. Plain http
// must lead to https where the same Gateway serves the host so, unless the Gateway
// says that it is to be permissive.
func (l *gatewayListener) module(host string, modules hostModules, secure []string) *probe.Module {
	under := func(pattern string) bool { _, ok := intersect(pattern, host); return ok }
	switch {
	case l.Protocol == "HTTPS" && host == "":
		return modules.unnamed
	case l.Protocol == "HTTPS":
		return modules.alone
	case l.Protocol == "HTTP" && host != "" && slices.ContainsFunc(secure, under):
		return modules.redirect
	case l.Protocol == "HTTP":
		return modules.http
	case host == "":
		return nil // what TLS goes to which backend is said by name
	}
	return modules.tls
}

// hosts returns the hosts that the listener is there for, in order: those of the
// routes, as far as it takes them, or else its own. "" is any.
func (l *gatewayListener) hosts(g *gateway, routes []*httpRoute) []string {
	var all []string
	switch l.Protocol {
	case "TLS":
		return []string{l.Hostname}
	case "HTTP", "HTTPS":
	default:
		return nil
	}
	for _, r := range routes {
		if !l.takes(g, r) {
			continue
		}
		for _, host := range orAny(r.Spec.Hostnames) {
			if common, ok := intersect(l.Hostname, host); ok {
				all = append(all, common)
			}
		}
	}
	if len(all) == 0 && l.Protocol == "HTTPS" {
		return []string{l.Hostname} // its certificate is served, whatever the answer
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func orAny(hosts []string) []string {
	if len(hosts) == 0 {
		return []string{""}
	}
	return hosts
}

// takes reports whether the route is attached to the listener: it refers to it, and
// no controller has refused that.
func (l *gatewayListener) takes(g *gateway, r *httpRoute) bool {
	return slices.ContainsFunc(r.Spec.ParentRefs, func(ref parentRef) bool {
		return ref.gateway(r) == path.Join(g.Namespace, g.Name) &&
			(ref.SectionName == nil || *ref.SectionName == l.Name) &&
			(ref.Port == nil || *ref.Port == l.Port) &&
			!refused(r, ref)
	})
}

// gateway returns the namespace/name of the Gateway that a route refers to, "" if
// it is something else.
func (p parentRef) gateway(of *httpRoute) string {
	if p.Kind != nil && *p.Kind != "Gateway" || p.Group != nil && *p.Group != "gateway.networking.k8s.io" {
		return ""
	}
	namespace := of.Namespace
	if p.Namespace != nil {
		namespace = *p.Namespace
	}
	return path.Join(namespace, p.Name)
}

// refused reports whether a controller says that it does not accept the reference,
// as one from another namespace that the listener does not allow.
func refused(r *httpRoute, ref parentRef) bool {
	for _, parent := range r.Status.Parents {
		same := parent.ParentRef.gateway(r) == ref.gateway(r) &&
			equal(parent.ParentRef.SectionName, ref.SectionName) && equal(parent.ParentRef.Port, ref.Port)
		for _, c := range parent.Conditions {
			if same && c.Type == "Accepted" && c.Status == "False" {
				return true
			}
		}
	}
	return false
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// intersect returns the hosts that two names of the Gateway API have in common: ""
// is any, and a wildcard stands for one label or more.
func intersect(a, b string) (string, bool) {
	inside := func(host, pattern string) bool {
		suffix, wildcard := strings.CutPrefix(pattern, "*")
		return pattern == "" || host == pattern || wildcard && strings.HasSuffix(strings.TrimPrefix(host, "*"), suffix)
	}
	switch {
	case inside(a, b):
		return a, true
	case inside(b, a):
		return b, true
	}
	return "", false
}
