package kubernetes

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

// A backend is what stands behind a port of a Service.
type backend struct {
	routes    []probe.Route   // the ClusterIP, then each endpoint; none: what the Service's name resolves to
	faults    []probe.Problem // why nobody can be reached
	undialled bool            // the faults leave nobody to dial
}

// backend returns what stands behind the Service's port as the field at refers to
// it: by number, or by name.
func (b *builder) backend(at place, namespace, name string, port intstr.IntOrString) backend {
	if b.objects.unread["services"] {
		return backend{}
	}
	s := b.services[namespace+"/"+name]
	if s == nil {
		return unreachable(b.serviceNotFound(at, namespace, name))
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return externalBackend(at, s, port)
	}
	found := findPort(s, port)
	if found == nil {
		return unreachable(servicePortNotFound(at, s, port))
	}
	endpoints := b.endpointsOf(s, found)
	if b.objects.unread["endpointslices"] {
		return backend{routes: clusterIPRoute(s, found)}
	}
	if len(endpoints.ready) == 0 {
		return unreachable(endpoints.fault(at, s, found))
	}
	routes := endpoints.routes()
	b.shareOut(routes)
	return backend{routes: append(clusterIPRoute(s, found), routes...)}
}

func unreachable(fault probe.Problem) backend {
	return backend{faults: []probe.Problem{fault}, undialled: true}
}

// externalBackend is the name that an ExternalName Service stands for. Such a
// Service needs no ports, and those it has map to nothing.
func externalBackend(at place, s *corev1.Service, port intstr.IntOrString) backend {
	number := port.IntVal
	if found := findPort(s, port); found != nil {
		number = found.Port
	}
	if number == 0 {
		return unreachable(servicePortNotFound(at, s, port))
	}
	return backend{routes: []probe.Route{{
		Via:     "external name of " + nameOf(s),
		Address: hostPort(s.Spec.ExternalName, number),
	}}}
}

// findPort returns the port of the Service, nil if there is none such.
func findPort(s *corev1.Service, port intstr.IntOrString) *corev1.ServicePort {
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if overTCP(p.Protocol) && (port.Type == intstr.Int && p.Port == port.IntVal || port.Type == intstr.String && p.Name == port.StrVal) {
			return p
		}
	}
	return nil
}

// overTCP reports whether this is TCP, which needs no mention.
func overTCP(p corev1.Protocol) bool { return p == "" || p == corev1.ProtocolTCP }

// clusterIPRoute is the way through the Service, none if it is headless. Of two
// ClusterIPs it takes the first, which the API server dials. One that leads to
// endpoints of the same node alone is left out: that it leads nowhere from the other
// nodes is no fault.
func clusterIPRoute(s *corev1.Service, port *corev1.ServicePort) []probe.Route {
	if headless(s) || isLocal(s) {
		return nil
	}
	return []probe.Route{{Via: "ClusterIP of " + nameOf(s), Address: hostPort(s.Spec.ClusterIP, port.Port)}}
}

func headless(s *corev1.Service) bool {
	return s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone
}

func isLocal(s *corev1.Service) bool {
	policy := s.Spec.InternalTrafficPolicy
	return policy != nil && *policy == corev1.ServiceInternalTrafficPolicyLocal
}

func (b *builder) serviceNotFound(at place, namespace, name string) probe.Problem {
	var here, elsewhere []string
	for _, s := range b.objects.services {
		switch {
		case s.Namespace == namespace:
			here = append(here, s.Name)
		case s.Name == name:
			elsewhere = append(elsewhere, nameOf(s))
		}
	}
	p := at.fault("service_not_found", "names Service %s/%s, which does not exist", namespace, name)
	p.Received = namespace + "/" + name
	near := probe.Nearest(name, here)
	for i := range near {
		near[i] = namespace + "/" + near[i]
	}
	if len(near) == 0 {
		slices.Sort(elsewhere)
		near = elsewhere[:min(len(elsewhere), 3)]
	}
	p.Expected = strings.Join(near, " or ")
	return p
}

func servicePortNotFound(at place, s *corev1.Service, port intstr.IntOrString) probe.Problem {
	p := at.fault("service_port_not_found", "names port %s, which Service %s does not have", port.String(), nameOf(s))
	var all []string
	for _, has := range s.Spec.Ports {
		all = append(all, portText(&has))
	}
	p.Expected = strings.Join(all, ", ")
	p.Received = port.String()
	return p
}

// portText is a port of a Service for people: "443 (https)", "53/UDP".
func portText(p *corev1.ServicePort) string {
	text := strconv.Itoa(int(p.Port))
	if !overTCP(p.Protocol) {
		text += "/" + string(p.Protocol)
	}
	if p.Name != "" {
		text += " (" + p.Name + ")"
	}
	return text
}

func nameOf(s *corev1.Service) string { return s.Namespace + "/" + s.Name }

// hostOf is the name by which the cluster calls the Service.
func hostOf(s *corev1.Service) string { return s.Name + "." + s.Namespace + ".svc" }

// hostPort puts an IPv6 address in brackets.
func hostPort(host string, port int32) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// An endpointSet is the endpoints of a Service at one of its ports.
type endpointSet struct {
	ready    []endpoint // those that get traffic
	waiting  []endpoint // those that are not ready
	portless []endpoint // those that are ready, and have no such port
}

// An endpoint is one of them.
type endpoint struct {
	*discoveryv1.Endpoint
	port int32
}

// endpointsOf sorts the endpoints of a Service as kube-proxy does, which forwards
// to those that are ready, or failing them to those that are on their way out and
// still serve. Of a Service with a ClusterIP only those of the same family of
// addresses are behind it.
func (b *builder) endpointsOf(s *corev1.Service, port *corev1.ServicePort) endpointSet {
	var all endpointSet
	var leaving []endpoint
	for _, slice := range b.slices[nameOf(s)] {
		if !fits(slice.AddressType, s) {
			continue
		}
		number := portOf(slice, port)
		for i := range slice.Endpoints {
			e := endpoint{&slice.Endpoints[i], number}
			switch ready, served := e.isReady(), e.isLeaving(); {
			case !ready && !served:
				all.waiting = append(all.waiting, e)
			case number == 0:
				all.portless = append(all.portless, e)
			case ready:
				all.ready = append(all.ready, e)
			default:
				leaving = append(leaving, e)
			}
		}
	}
	if len(all.ready) == 0 {
		all.ready = leaving
	}
	return all
}

// fits reports whether a ClusterIP of the Service forwards to such addresses.
func fits(family discoveryv1.AddressType, s *corev1.Service) bool {
	six := strings.Contains(s.Spec.ClusterIP, ":")
	switch family {
	case discoveryv1.AddressTypeIPv4:
		return !six
	case discoveryv1.AddressTypeIPv6:
		return six || headless(s)
	}
	return false // kube-proxy has no use for names
}

// portOf returns which port of its endpoints the slice has for that of the
// Service, 0 for none. A slice's port without a number is none to kube-proxy.
func portOf(slice *discoveryv1.EndpointSlice, port *corev1.ServicePort) int32 {
	for _, p := range slice.Ports {
		if p.Port != nil && (p.Name == nil && port.Name == "" || p.Name != nil && *p.Name == port.Name) {
			return *p.Port
		}
	}
	return 0
}

func (e endpoint) isReady() bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }

// isLeaving reports whether the endpoint is about to go, and still serves.
func (e endpoint) isLeaving() bool {
	c := e.Conditions
	return (c.Serving == nil || *c.Serving) && c.Terminating != nil && *c.Terminating
}

// routes returns the ways to the endpoints that get traffic.
func (s endpointSet) routes() []probe.Route {
	routes := make([]probe.Route, len(s.ready))
	for i, e := range s.ready {
		routes[i] = probe.Route{Via: e.String(), Address: hostPort(e.Addresses[0], e.port)}
	}
	slices.SortFunc(routes, func(a, b probe.Route) int {
		return cmp.Or(cmp.Compare(a.Via, b.Via), cmp.Compare(a.Address, b.Address))
	})
	return slices.Compact(routes)
}

// String names the endpoint for people.
func (e endpoint) String() string {
	text := "endpoint " + e.Addresses[0]
	if ref := e.TargetRef; ref != nil && ref.Kind == "Pod" {
		text = "pod " + ref.Name
	}
	if e.NodeName != nil {
		text += " on " + *e.NodeName
	}
	return text
}

// fault says why no endpoint gets traffic.
func (s endpointSet) fault(at place, service *corev1.Service, port *corev1.ServicePort) probe.Problem {
	if len(s.portless) > 0 {
		target := port.TargetPort.String()
		p := at.fault("target_port_not_found", "names port %s of Service %s, whose targetPort %s no container has",
			portText(port), nameOf(service), target)
		p.Expected = "a port named " + target + " in a container of each pod"
		p.Notes = notesOf(s.portless, "is ready, and has no such port")
		return p
	}
	p := at.fault("no_endpoints", "names Service %s, which has no ready endpoint", nameOf(service))
	p.Notes = notesOf(s.waiting, "is not ready")
	if len(p.Notes) == 0 {
		p.Notes = []string{"no pod matches its selector " + labels.Set(service.Spec.Selector).String()}
		if len(service.Spec.Selector) == 0 {
			p.Notes = []string{"it has no selector: whoever made it adds its EndpointSlices"}
		}
	}
	return p
}

// notesOf says the same of each endpoint, in order of their names.
func notesOf(endpoints []endpoint, what string) []string {
	const most = 5
	var notes []string
	for _, e := range endpoints {
		notes = append(notes, e.String()+" "+what)
	}
	slices.Sort(notes)
	notes = slices.Compact(notes)
	if more := len(notes) - most; more > 0 {
		notes = append(notes[:most], fmt.Sprintf("and %d more", more))
	}
	return notes
}
