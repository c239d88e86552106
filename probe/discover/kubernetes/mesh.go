package kubernetes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// rootNamespace is where Istio's policies for the whole mesh are, unless it was
// installed otherwise.
const rootNamespace = "istio-system"

// peerPolicies are Istio's PeerAuthentications, the oldest of each scope first: it
// is the one that counts.
type peerPolicies []*peerAuthentication

func newPeerPolicies(all []*peerAuthentication) peerPolicies {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *peerAuthentication) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return sorted
}

// expected returns what the port of the pods behind a Service is to speak by the
// policies, in the words of the otlp prober, "" if they do not say.
//
// A policy has effect only where a sidecar is, and which pods have one, no object
// tells that is read here. One that selects the pods behind the Service was
// written for them, so they must keep to it. One for all of a namespace or the
// mesh holds for whatever has a sidecar: if it is STRICT, the mesh's TLS is as
// right as what a pod speaks without the mesh. The other modes let plaintext in,
// which is found out.
func (p peerPolicies) expected(s *corev1.Service, port int32) string {
	own, unsure := p.ofWorkload(s)
	if mode := modeOf(own, port); mode != "" && !unsure {
		return map[string]string{"STRICT": "mtls", "PERMISSIVE": "permissive", "DISABLE": "plaintext"}[mode]
	}
	for _, of := range []string{s.Namespace, rootNamespace} {
		if mode := modeOf(p.ofNamespace(of), 0); mode != "" {
			unsure = unsure || mode == "STRICT"
			break
		}
	}
	if unsure {
		return "mesh"
	}
	return ""
}

// ofWorkload returns the policy that selects the pods behind the Service. unsure is
// whether one selects by labels of which the Service says nothing.
func (p peerPolicies) ofWorkload(s *corev1.Service) (own *peerAuthentication, unsure bool) {
	if len(s.Spec.Selector) == 0 || s.Namespace == rootNamespace {
		return nil, false // Istio takes no policies for workloads in the root namespace
	}
	for _, policy := range p {
		if policy.Namespace != s.Namespace || isWide(policy) {
			continue
		}
		switch all, some := compare(policy.Spec.Selector.MatchLabels, s.Spec.Selector); {
		case all && own == nil:
			own = policy
		case some:
			unsure = true
		}
	}
	return own, unsure
}

// compare reports whether pods with the labels have all those that are wanted, and
// else whether they may.
func compare(wanted, labels map[string]string) (all, some bool) {
	all = true
	for key, value := range wanted {
		switch has, ok := labels[key]; {
		case !ok:
			all = false
		case has != value:
			return false, false
		}
	}
	return all, !all
}

// ofNamespace returns the policy for all of a namespace, nil if there is none.
func (p peerPolicies) ofNamespace(namespace string) *peerAuthentication {
	for _, policy := range p {
		if policy.Namespace == namespace && isWide(policy) {
			return policy
		}
	}
	return nil
}

// isWide reports whether the policy holds for all of its namespace.
func isWide(a *peerAuthentication) bool {
	return a.Spec.Selector == nil || len(a.Spec.Selector.MatchLabels) == 0
}

// modeOf returns what the policy says of a port of the pods, "" if it leaves that to
// the wider ones, or is nil.
func modeOf(a *peerAuthentication, port int32) string {
	if a == nil {
		return ""
	}
	if own := a.Spec.PortLevelMTLS[strconv.Itoa(int(port))]; own != nil && own.isSet() {
		return own.Mode
	}
	if a.Spec.MTLS != nil && a.Spec.MTLS.isSet() {
		return a.Spec.MTLS.Mode
	}
	return ""
}

func (m *mutualTLS) isSet() bool { return m.Mode != "" && m.Mode != "UNSET" }

// meshProtocols are those that Istio knows by name, and the standard ones of
// Kubernetes that it takes for them.
var meshProtocols = []string{
	"http", "http2", "https", "grpc", "grpc-web", "grpc-web-text", "tcp", "tls", "mongo", "mysql", "redis", "udp",
	"kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss",
}

// tellsMesh reports whether the port's appProtocol or else its name, which is
// <protocol>[-<suffix>], tells Istio what it speaks.
func tellsMesh(p *corev1.ServicePort) bool {
	if p.AppProtocol != nil {
		return slices.Contains(meshProtocols, strings.ToLower(*p.AppProtocol))
	}
	protocol, _, _ := strings.Cut(strings.ToLower(p.Name), "-")
	return slices.Contains(meshProtocols, protocol)
}
