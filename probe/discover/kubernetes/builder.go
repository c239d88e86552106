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

// The annotations that objects may have.
const (
	annotationIgnore     = "tlsprobe.io/ignore"      // "true": no target is made of it
	annotationInterval   = "tlsprobe.io/interval"    // a duration, instead of the configured one
	annotationProbe      = "tlsprobe.io/probe"       // a Service: the module to probe it by
	annotationPort       = "tlsprobe.io/port"        // a Service: the name or number of its port
	annotationServerName = "tlsprobe.io/server-name" // a Service: SNI and the name to verify
	annotationPath       = "tlsprobe.io/path"        // a Service: of the URL to ask for
	annotationExpect     = "tlsprobe.io/expect"      // a Service: what its OTLP ports speak
)

// A builder makes targets of objects.
type builder struct {
	config   *Config
	objects  *objects
	services map[string]*corev1.Service              // by namespace/name
	slices   map[string][]*discoveryv1.EndpointSlice // of a Service, by its namespace/name
	interval time.Duration                           // paced
	targets  []*probe.Target
}

func newBuilder(c *Config, o *objects) *builder {
	b := &builder{
		config:   c,
		objects:  o,
		services: map[string]*corev1.Service{},
		slices:   map[string][]*discoveryv1.EndpointSlice{},
		interval: c.Interval,
	}
	for _, s := range o.services {
		b.services[path.Join(s.Namespace, s.Name)] = s
	}
	for _, s := range o.slices {
		key := path.Join(s.Namespace, s.Labels[discoveryv1.LabelServiceName])
		b.slices[key] = append(b.slices[key], s)
	}
	if c.Pace != nil {
		b.interval = c.Pace(c.Interval, len(o.nodes), c.ProbesPerSecond)
	}
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

// add completes a target that is made of the object, and keeps it.
func (b *builder) add(of metav1.Object, t *probe.Target) {
	t.Interval = b.interval
	if own, err := time.ParseDuration(of.GetAnnotations()[annotationInterval]); err == nil {
		t.Interval = max(own, b.interval, time.Second)
	}
	t.Timeout = min(b.config.Timeout, t.Interval/2)
	b.targets = append(b.targets, t)
}

// A place is a field of an object, for people.
type place struct {
	object string // "Ingress shop/web"
	field  string // "spec.tls[0].hosts"
}

func (p place) String() string { return p.object + ": " + p.field }

// fault is a problem that the field shows, of the reason of this id.
func (p place) fault(id, format string, args ...any) probe.Problem {
	return probe.Problem{Reason: probe.Lookup(id), Detail: p.String() + " " + fmt.Sprintf(format, args...)}
}

// A Cluster is the targets that one state of the cluster makes. It is read-only.
type Cluster struct {
	Nodes   int             // how many there are
	Common  []*probe.Target // the same for every node, in order of their names
	perNode func(node string) []*probe.Target
}

// Own returns the targets that the node has beside the common ones, in order of
// their names.
func (c *Cluster) Own(node string) []*probe.Target { return c.perNode(node) }

func byName(a, b *probe.Target) int { return cmp.Compare(a.Name, b.Name) }
