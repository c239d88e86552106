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
	interval time.Duration        // paced
	spread   map[probe.Route]bool // to endpoints of Services that have very many
	until    time.Time            // see [Cluster.Until]

	targets []*probe.Target
	wide    []wideTarget
}

func newBuilder(c *Config, o *objects) *builder {
	b := &builder{
		config:   c,
		objects:  o,
		services: map[string]*corev1.Service{},
		slices:   map[string][]*discoveryv1.EndpointSlice{},
		spread:   map[probe.Route]bool{},
	}
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
	b.interval = b.paced(c.Interval)
	return b
}

// wants reports whether targets of this kind are made of the object.
func (b *builder) wants(kind string, of metav1.Object) bool {
	c := b.config
	return (c.Kinds == nil || slices.Contains(c.Kinds, kind)) &&
		of.GetAnnotations()[annotationIgnore] != "true" &&
		(of.GetNamespace() == "" || matches(c.Namespaces, of.GetNamespace(), true) && !matches(c.ExcludeNamespaces, of.GetNamespace(), false)) &&
		(c.Selector == nil || c.Selector.Matches(labels.Set(of.GetLabels())))
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

// add completes a target that is made of the object, and keeps it. A timeout that
// it has stays, if it is shorter than the configured one.
func (b *builder) add(of metav1.Object, t *probe.Target) {
	interval, fault := b.intervalOf(of)
	if fault != nil {
		t.Faults = append(t.Faults, *fault)
	}
	t.Interval = interval
	limit := min(b.config.Timeout, interval/2)
	if t.Timeout <= 0 || t.Timeout > limit {
		t.Timeout = limit
	}
	if w, ok := b.widen(t); ok {
		b.wide = append(b.wide, w)
	} else {
		b.targets = append(b.targets, t)
	}
}

// A place is a field of an object, for people.
type place struct {
	object string // "Ingress shop/web"
	field  string // "spec.tls[0].hosts"
}

// at is a field of the object.
func at(of metav1.Object, field string) place { return place{describe(of), field} }

func (p place) String() string { return p.object + ": " + p.field }

// fault is a problem that the field shows, of the reason of this id.
func (p place) fault(id, format string, args ...any) probe.Problem {
	return probe.Problem{Reason: probe.Lookup(id), Detail: p.String() + " " + fmt.Sprintf(format, args...)}
}

func byName(a, b *probe.Target) int { return cmp.Compare(a.Name, b.Name) }
