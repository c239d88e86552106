package lab

import (
	"net/netip"
	"net/url"

	"tlsprobe/probe"
)

// routeScenarios are targets that several ways lead to. A client that takes the
// first sees nothing wrong with them.
func routeScenarios() []Scenario {
	return []Scenario{
		{Name: "good-ingress", Summary: "an ingress that is reached by the address in its status, and through DNS",
			start: startGoodIngress},
		{Name: "service-wrong-pod", Summary: "is a Service one of whose pods serves a certificate for another name",
			Reasons: []string{"hostname_mismatch"},
			start:   startWrongPod},
	}
}

func startGoodIngress(i *Instance) error {
	if err := startGoodRedirect(i); err != nil {
		return err
	}
	u, err := url.Parse(i.Target.Address)
	if err != nil {
		return err
	}
	const name = "ingress.lab.test"
	i.lab.dns.Add(name, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	i.ask(i.lab.dns.Addr())
	i.Target.Routes = []probe.Route{
		{Via: "address in the status of the Ingress", Address: u.Host},
		{Via: "cluster DNS", Address: withHost(u.Host, name)},
	}
	return nil
}

func startWrongPod(i *Instance) error {
	if err := i.serveIssued(dnsNames("other.lab.test")); err != nil {
		return err
	}
	wrong := i.Target.Address
	if err := i.serveIssued(); err != nil {
		return err
	}
	i.Target.Routes = []probe.Route{
		{Via: "ClusterIP of shop/web", Address: i.Target.Address},
		{Via: "pod web-5xk on node-a", Address: i.Target.Address},
		{Via: "pod web-7d4 on node-b", Address: wrong},
	}
	return nil
}
