package kubernetes

import (
	"cmp"
	"net/url"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tlsprobe/probe"
)

// annotatedServices makes a target of each Service that has an annotation for it,
// and of those whose annotations are wrong and that no other target speaks of: a
// Service that is not probed since the word is misspelt would never be missed.
func (b *builder) annotatedServices() {
	known := probe.BuiltinModules()
	for _, s := range b.objects.services {
		switch name := s.Annotations[annotationProbe]; {
		case !b.wants(kindService, s):
		case name != "":
			b.add(s, b.annotated(s, moduleOf(known, name)))
		case !b.used[s] && len(annotationFaults(s)) > 0:
			t := ofService(s, b.verified)
			t.Address, t.Undialled = hostPort(hostOf(s), 443), true
			b.add(s, t)
		}
	}
}

// ofService returns a target of the Service that leads nowhere yet.
func ofService(s *corev1.Service, m *probe.Module) *probe.Target {
	return &probe.Target{
		Name:       path.Join(kindService, s.Namespace, s.Name),
		ServerName: s.Annotations[annotationServerName],
		Module:     m,
		Labels:     probe.LabelsOf(map[string]string{"kind": kindService, "namespace": s.Namespace, "service": s.Name}),
	}
}

// moduleOf returns the module of the name. One that is not built in is known to the
// agents' configuration alone, and has no more than its name here.
func moduleOf(known map[string]*probe.Module, name string) *probe.Module {
	if m := known[name]; m != nil {
		return m
	}
	return &probe.Module{Name: name}
}

func (b *builder) annotated(s *corev1.Service, m *probe.Module) *probe.Target {
	t, host := ofService(s, m), hostOf(s)
	port, fault := annotatedPort(s)
	if fault != nil {
		t.Address, t.Faults, t.Undialled = hostPort(host, 443), []probe.Problem{*fault}, true
		return t
	}
	where := at(s, "spec.ports")
	if _, ok := s.Annotations[annotationPort]; ok {
		where = annotation(s, annotationPort)
	}
	behind := b.backend(where, s.Namespace, s.Name, port)
	t.Routes, t.Faults, t.Undialled = behind.routes, behind.faults, behind.undialled
	number, secure := cmp.Or(port.IntVal, 443), false // the address of what is not dialled is for people
	if found := findPort(s, port); found != nil {
		number, secure = found.Port, speaksTLS(found)
	}
	t.Address = hostPort(host, number)
	webPath, said := s.Annotations[annotationPath]
	if m.Kind == "http" || said && m.Kind == "" {
		t.Address = webURL(host, number, secure, "")
	}
	if !said {
		return t
	}
	if full := webURL(host, number, secure, webPath); isURL(full) && (m.Kind == "http" || m.Kind == "") {
		t.Address = full
	} else {
		p := annotation(s, annotationPath).fault("annotation_invalid", "is %q, and has no effect on the module %s", webPath, m.Name)
		p.Expected, p.Received = "the path of a URL, with a module of the prober http", webPath
		t.Faults = append(t.Faults, p)
	}
	return t
}

func isURL(text string) bool {
	_, err := url.Parse(text)
	return err == nil
}

// annotatedPort returns which port of the Service is meant: the one that the
// annotation names, by number or by name, else the only one, else 443 or https.
func annotatedPort(s *corev1.Service) (intstr.IntOrString, *probe.Problem) {
	if text, ok := s.Annotations[annotationPort]; ok {
		return intstr.Parse(text), nil
	}
	if len(s.Spec.Ports) == 1 {
		return intstr.FromInt32(s.Spec.Ports[0].Port), nil
	}
	for _, usual := range []intstr.IntOrString{intstr.FromInt32(443), intstr.FromString("https")} {
		if found := findPort(s, usual); found != nil {
			return intstr.FromInt32(found.Port), nil
		}
	}
	p := annotation(s, annotationPort).fault("target_misconfigured", "is missing, and of the Service's ports none is 443 or https")
	p.Expected = portsText(s)
	return intstr.IntOrString{}, &p
}

// portsText lists the ports of a Service for people.
func portsText(s *corev1.Service) string {
	var all []string
	for i := range s.Spec.Ports {
		all = append(all, portText(&s.Spec.Ports[i]))
	}
	return strings.Join(all, " or ")
}

// speaksTLS reports whether the port is one of https, by its number or by what it
// is called.
func speaksTLS(p *corev1.ServicePort) bool {
	for _, word := range wordsOf(p) {
		if word == "https" || word == "tls" || word == "wss" {
			return true
		}
	}
	return p.Port == 443 || p.Port == 8443
}

func webURL(host string, port int32, secure bool, webPath string) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return scheme + "://" + host + ":" + strconv.Itoa(int(port)) + "/" + strings.TrimPrefix(webPath, "/")
}
