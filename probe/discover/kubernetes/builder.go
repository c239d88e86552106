package kubernetes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tlsprobe/probe"
)

// A builder makes targets of objects.
type builder struct {
	config   *Config
	objects  *objects
	services map[string]*corev1.Service              // by namespace/name
	slices   map[string][]*discoveryv1.EndpointSlice // of a Service, by its namespace/name
	nodes    ring[string]
	spread   map[probe.Route]bool // see [builder.shareOut]
	bundles  map[string]*bundle   // by the caBundle
	until    time.Time            // see [Cluster.Until]

	verified, unverified *probe.Module // to shake hands, and to judge or not

	targets []*probe.Target
	wide    []wideTarget
	used    map[metav1.Object]bool // what they are made of
}

func newBuilder(c *Config, o *objects) *builder {
	b := &builder{
		config:   c,
		objects:  o,
		services: map[string]*corev1.Service{},
		slices:   map[string][]*discoveryv1.EndpointSlice{},
		spread:   map[probe.Route]bool{},
		bundles:  map[string]*bundle{},
		used:     map[metav1.Object]bool{},
		verified: &probe.Module{Name: "tls", Kind: "tls", Prober: probe.NewProber("tls")},
	}
	unverified := probe.NewProber("tls").(*probe.TLSProber)
	unverified.TLSConfig.InsecureSkipVerify = true
	b.unverified = &probe.Module{Name: "tls_unverified", Kind: "tls", Prober: unverified}
	names := make([]string, len(o.nodes))
	for i, n := range o.nodes {
		names[i] = n.Name
	}
	b.nodes = newRing(names, func(name string) string { return name })
	for _, s := range o.services {
		b.services[path.Join(s.Namespace, s.Name)] = s
	}
	for _, s := range o.slices {
		key := path.Join(s.Namespace, s.Labels[discoveryv1.LabelServiceName])
		b.slices[key] = append(b.slices[key], s)
	}
	return b
}

// wants reports whether targets of this kind are made of the object. API servers
// are the cluster's, whatever namespace their Service is in.
func (b *builder) wants(kind string, of metav1.Object) bool {
	c, namespace := b.config, of.GetNamespace()
	if kind == kindAPIServer {
		namespace = ""
	}
	return (c.Kinds == nil || slices.Contains(c.Kinds, kind)) &&
		of.GetAnnotations()[annotationIgnore] != "true" &&
		(namespace == "" || matches(c.Namespaces, namespace, true) && !b.excludes(namespace)) &&
		(c.Selector == nil || c.Selector.Matches(labels.Set(of.GetLabels())))
}

// excludes reports whether nothing in the namespace is wanted.
func (b *builder) excludes(namespace string) bool {
	return matches(b.config.ExcludeNamespaces, namespace, false)
}

// matches reports whether one of the patterns matches; without any, it is empty.
func matches(patterns []string, name string, empty bool) bool {
	if len(patterns) == 0 {
		return empty
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // the patterns have been checked
		return ok
	})
}

// add completes a target that is made of the object, and keeps it for all nodes.
func (b *builder) add(of metav1.Object, t *probe.Target) {
	b.used[of] = true
	b.complete(of, t, len(b.objects.nodes))
	if w, ok := b.widen(t); ok {
		b.wide = append(b.wide, w)
	} else {
		b.targets = append(b.targets, t)
	}
}

// complete fills in the schedule of a target that so many nodes probe. A timeout
// that it has stays, if it is shorter than the configured one.
func (b *builder) complete(of metav1.Object, t *probe.Target, nodes int) {
	t.Interval = b.interval(of, nodes)
	t.Faults = append(t.Faults, annotationFaults(of)...)
	limit := min(b.config.Timeout, t.Interval/2)
	if t.Timeout <= 0 || t.Timeout > limit {
		t.Timeout = limit
	}
}

// before reports whether the snapshot was taken before that time, after which the
// same objects make other targets.
func (b *builder) before(then time.Time) bool {
	if !b.objects.at.Before(then) {
		return false
	}
	if b.until.IsZero() || then.Before(b.until) {
		b.until = then
	}
	return true
}

// A place is a field of an object, for people.
type place struct {
	object string // "Ingress shop/web"
	field  string // "spec.tls[0].hosts"
}

// at is a field of the object.
func at(of metav1.Object, field string) place { return place{describe(of), field} }

// in is a field within p.
func (p place) in(field string) place { return place{p.object, p.field + "." + field} }

func (p place) String() string { return p.object + ": " + p.field }

// fault is a problem that the field shows, of the reason of this id.
func (p place) fault(id, format string, args ...any) probe.Problem {
	return probe.Problem{Reason: probe.Lookup(id), Detail: p.String() + " " + fmt.Sprintf(format, args...)}
}

func byName(a, b *probe.Target) int { return cmp.Compare(a.Name, b.Name) }
