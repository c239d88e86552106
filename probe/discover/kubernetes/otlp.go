package kubernetes

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tlsprobe/probe"
)

// The ports of OTLP receivers, as registered with IANA.
const (
	otlpGRPCPort = 4317
	otlpHTTPPort = 4318
)

// receivers makes a target of each port of a Service that receives OTLP.
func (b *builder) receivers() {
	modules := map[otlpWays]*probe.Module{}
	policies := newPeerPolicies(b.objects.peerAuthentications)
	for _, s := range b.objects.services {
		if !b.wants(kindOTLP, s) {
			continue
		}
		for i := range s.Spec.Ports {
			if receivesOTLP(&s.Spec.Ports[i]) {
				b.receiver(s, i, modules, policies)
			}
		}
	}
}

// receivesOTLP reports whether the port is one of OTLP, by its number or by what it
// is called: otlp, otlp-grpc, http-otlp.
func receivesOTLP(p *corev1.ServicePort) bool {
	return overTCP(p.Protocol) &&
		(p.Port == otlpGRPCPort || p.Port == otlpHTTPPort || slices.Contains(wordsOf(p), "otlp"))
}

// wordsOf returns the parts of what a port is called.
func wordsOf(p *corev1.ServicePort) []string {
	called := p.Name
	if p.AppProtocol != nil {
		called += "-" + *p.AppProtocol
	}
	return strings.FieldsFunc(strings.ToLower(called), func(r rune) bool { return strings.ContainsRune("-/._", r) })
}

// otlpWays are the settings in which the modules of receivers differ.
type otlpWays struct{ protocol, expect string }

// otlpProtocol is which of OTLP's protocols a port speaks. What it is called tells
// more than its number: an HTTP receiver may well listen on 4317.
func otlpProtocol(p *corev1.ServicePort) string {
	words := wordsOf(p)
	switch {
	case slices.Contains(words, "grpc"):
		return "grpc"
	case slices.Contains(words, "http"), p.Port == otlpHTTPPort:
		return "http"
	}
	return "grpc"
}

func (w otlpWays) module() *probe.Module {
	p := probe.NewProber("otlp").(*probe.OTLPProber)
	p.Protocol, p.Expect = w.protocol, w.expect
	// What the port speaks is judged, and that it answers. Which CA its clients
	// trust, no object tells.
	p.TLSConfig.InsecureSkipVerify = true
	name := kindOTLP + "_" + w.protocol
	if w.expect != "" {
		name += "_" + w.expect
	}
	return &probe.Module{Name: name, Kind: "otlp", Prober: p}
}

// receiver makes a target of the i-th port of the Service.
func (b *builder) receiver(s *corev1.Service, i int, modules map[otlpWays]*probe.Module, policies peerPolicies) {
	port := &s.Spec.Ports[i]
	here := at(s, "spec.ports["+strconv.Itoa(i)+"]")
	behind := b.backend(here, s.Namespace, s.Name, servicePort(port.Port, ""))
	host := hostOf(s)
	t := &probe.Target{
		Name:       path.Join(kindOTLP, s.Namespace, s.Name, cmp.Or(port.Name, strconv.Itoa(int(port.Port)))),
		Address:    hostPort(host, port.Port),
		ServerName: host,
		Routes:     behind.routes,
		Faults:     behind.faults,
		Undialled:  behind.undialled,
		Labels:     probe.LabelsOf(labelsOfPort(s, port)),
	}
	ways := otlpWays{protocol: otlpProtocol(port), expect: policies.expected(s, b.targetPort(s, port))}
	if text, ok := s.Annotations[annotationExpect]; ok {
		said := otlpWays{ways.protocol, text}
		if said.module().Prober.Validate() == nil {
			ways = said
		} else {
			p := annotation(s, annotationExpect).fault("annotation_invalid", "is %q, and has no effect", text)
			p.Expected, p.Received = "plaintext, tls, mtls, permissive or mesh", text
			t.Faults = append(t.Faults, p)
		}
	}
	if !b.objects.unread["peerauthentications"] && !tellsMesh(port) {
		p := here.fault("port_name_hides_protocol", "%s tells a mesh nothing of what it speaks", portText(port))
		p.Expected = "appProtocol: " + otlpProtocol(port) + ", or a name such as " + otlpProtocol(port) + "-otlp"
		t.Faults = append(t.Faults, p)
	}
	if modules[ways] == nil {
		modules[ways] = ways.module()
	}
	t.Module = modules[ways]
	b.add(s, t)
}

func labelsOfPort(s *corev1.Service, port *corev1.ServicePort) map[string]string {
	labels := map[string]string{"kind": kindOTLP, "namespace": s.Namespace, "service": s.Name}
	if port.Name != "" {
		labels["port_name"] = port.Name
	}
	return labels
}

// targetPort returns the port of the pods behind that of the Service, 0 if no pod
// tells.
func (b *builder) targetPort(s *corev1.Service, port *corev1.ServicePort) int32 {
	if port.TargetPort.StrVal == "" {
		return cmp.Or(port.TargetPort.IntVal, port.Port)
	}
	for _, slice := range b.slices[nameOf(s)] {
		if number := portOf(slice, port); number != 0 {
			return number
		}
	}
	return 0
}
