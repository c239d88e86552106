package kubernetes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"tlsprobe/probe"
)

// ingresses makes a target of each host of the Ingresses.
func (b *builder) ingresses() {
	modules := newHostModules(kindIngress)
	elsewhere := securedHosts(b.objects.ingresses)
	for _, i := range b.objects.ingresses {
		if b.wants(kindIngress, i) {
			b.ingress(i, modules, elsewhere)
		}
	}
}

// An ingressHost is a host that TLS or a rule of an Ingress names.
type ingressHost struct {
	host   string // "": any; may begin with *.
	secure bool   // TLS is meant for it
	faults []probe.Problem
}

func (b *builder) ingress(i *networkingv1.Ingress, modules hostModules, elsewhere map[string]bool) {
	faults := b.unserved(i)
	addresses := slices.DeleteFunc(addressesOf(i), isLoopback)
	for _, h := range hostsOf(i, elsewhere) {
		s := site{host: h.host, port: 80, module: modules.http, addresses: addresses, via: "address in the status of the Ingress"}
		if h.secure {
			s.port, s.secure, s.module = 443, true, secureModule(i, h.host, modules)
		}
		t := s.target(path.Join(kindIngress, i.Namespace, i.Name))
		b.shareOut(t.Routes[:len(addresses)])
		t.Faults = slices.Concat(h.faults, faults)
		t.Labels = probe.LabelsOf(map[string]string{
			"kind": kindIngress, "namespace": i.Namespace, "ingress": i.Name, "host": cmp.Or(h.host, anyHost),
		})
		b.add(i, t)
	}
}

// secureModule says how a host with TLS is probed.
func secureModule(i *networkingv1.Ingress, host string, modules hostModules) *probe.Module {
	switch {
	case host == "":
		return modules.unnamed
	case passesThrough(i):
		return modules.tls
	case servesPlain(i):
		return modules.alone
	}
	return modules.https
}

func addressesOf(i *networkingv1.Ingress) []string {
	var all []string
	for _, a := range i.Status.LoadBalancer.Ingress {
		for _, address := range []string{a.IP, a.Hostname} {
			if address != "" && !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}

// hostsOf returns the hosts of an Ingress, each once. elsewhere are the hosts that
// some Ingress has TLS for.
func hostsOf(i *networkingv1.Ingress, elsewhere map[string]bool) []ingressHost {
	var all []ingressHost
	named := map[string]bool{}
	add := func(h ingressHost) {
		if !named[h.host] {
			named[h.host] = true
			all = append(all, h)
		}
	}
	for _, entry := range i.Spec.TLS {
		for _, host := range entry.Hosts {
			if !standsForRules(i, host) {
				add(ingressHost{host: host, secure: true})
			}
		}
	}
	for _, rule := range i.Spec.Rules {
		h := ingressHost{host: rule.Host, secure: secures(i, rule.Host) || passesThrough(i)}
		if !h.secure && !elsewhere[rule.Host] {
			h.faults = mismatches(i, rule.Host)
			h.secure = len(h.faults) > 0
		}
		add(h)
	}
	if len(all) == 0 { // a default backend only
		add(ingressHost{secure: len(i.Spec.TLS) > 0 || endsTLS(i)})
	}
	return all
}

// standsForRules reports whether the host of a TLS entry is a wildcard for the hosts
// of rules alone. Those have targets of their own; of another host below it the
// controller has not heard.
func standsForRules(i *networkingv1.Ingress, pattern string) bool {
	return strings.HasPrefix(pattern, "*") && !orphaned(i, pattern) &&
		!slices.ContainsFunc(i.Spec.Rules, func(r networkingv1.IngressRule) bool { return r.Host == "" || r.Host == pattern })
}

// secures reports whether the Ingress ends TLS for a host. An entry without hosts
// does for all.
func secures(i *networkingv1.Ingress, host string) bool {
	return endsTLS(i) || slices.ContainsFunc(i.Spec.TLS, func(entry networkingv1.IngressTLS) bool {
		return len(entry.Hosts) == 0 ||
			slices.ContainsFunc(entry.Hosts, func(pattern string) bool { return covers(pattern, host) })
	})
}

// securedHosts returns the hosts of rules whose own Ingress ends TLS for them. That
// serves the other Ingresses of the host too: controllers merge them.
func securedHosts(all []*networkingv1.Ingress) map[string]bool {
	hosts := map[string]bool{}
	for _, i := range all {
		for _, rule := range i.Spec.Rules {
			if secures(i, rule.Host) {
				hosts[rule.Host] = true
			}
		}
	}
	return hosts
}

// mismatches returns the faults of TLS entries that were meant for the host of a
// rule and do not cover it. A rule that has no TLS may well be meant so; what shows
// the mistake is a host of an entry that fits no rule. If it comes near the host of
// some rules it was meant for those, else for any that is left.
func mismatches(i *networkingv1.Ingress, host string) []probe.Problem {
	if host == "" {
		return nil
	}
	var faults []probe.Problem
	for n, entry := range i.Spec.TLS {
		for m, pattern := range entry.Hosts {
			near := nearHost(pattern, host)
			if !orphaned(i, pattern) || near == "" && nearsAnother(i, pattern) {
				continue
			}
			p := at(i, fmt.Sprintf("spec.tls[%d].hosts[%d]", n, m)).fault("ingress_tls_host_mismatch",
				"%q fits no rule, and nothing in spec.tls covers the rule for %q", pattern, host)
			p.Expected, p.Received = host, pattern
			if near != "" {
				p.Notes = []string{near}
			}
			faults = append(faults, p)
		}
	}
	return faults
}

// orphaned reports whether the host of a TLS entry fits no rule.
func orphaned(i *networkingv1.Ingress, pattern string) bool {
	return !slices.ContainsFunc(i.Spec.Rules, func(r networkingv1.IngressRule) bool {
		return r.Host == "" || covers(pattern, r.Host) || covers(r.Host, pattern)
	})
}

// nearsAnother reports whether the host of a TLS entry comes near that of any rule:
// of one that has TLS it may be another name.
func nearsAnother(i *networkingv1.Ingress, pattern string) bool {
	return slices.ContainsFunc(i.Spec.Rules, func(r networkingv1.IngressRule) bool {
		return nearHost(pattern, r.Host) != ""
	})
}
