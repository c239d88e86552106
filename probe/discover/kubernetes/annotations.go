package kubernetes

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	annotationExpect     = "tlsprobe.io/expect"      // a Service: what its OTLP ports speak; an Ingress or a Gateway: permissive, if plain http is meant
)

func annotations() []string {
	return []string{annotationIgnore, annotationInterval, annotationProbe, annotationPort, annotationServerName,
		annotationPath, annotationExpect}
}

// annotation is the place of an annotation of the object.
func annotation(of metav1.Object, key string) place {
	return at(of, "metadata.annotations["+key+"]")
}

// interval returns how often each of so many nodes probes what is made of the
// object.
func (b *builder) interval(of metav1.Object, nodes int) time.Duration {
	base := b.config.Interval
	if own, ok := ownInterval(of); ok {
		base = own
	}
	return b.paced(base, nodes)
}

// paced stretches an interval until so many nodes together probe a target no more
// often than the configuration allows.
func (b *builder) paced(interval time.Duration, nodes int) time.Duration {
	if b.config.Pace == nil {
		return interval
	}
	return b.config.Pace(interval, nodes, b.config.ProbesPerSecond)
}

// ownInterval is that of the object's annotation.
func ownInterval(of metav1.Object) (d time.Duration, ok bool) {
	d, err := time.ParseDuration(of.GetAnnotations()[annotationInterval])
	return d, err == nil && d >= time.Second
}

// annotationFaults says which of our annotations have no effect. What those of a
// Service that is probed say is judged where they are used.
func annotationFaults(of metav1.Object) []probe.Problem {
	var all []probe.Problem
	for _, key := range slices.Sorted(maps.Keys(of.GetAnnotations())) {
		value := of.GetAnnotations()[key]
		if !strings.HasPrefix(key, ownAnnotations) {
			continue
		}
		if !slices.Contains(annotations(), key) {
			p := annotation(of, key).fault("annotation_invalid", "is none that tlsprobe knows")
			p.Expected, p.Received = nearestAnnotation(key), key
			all = append(all, p)
		} else if expected := mistake(of, key); expected != "" {
			p := annotation(of, key).fault("annotation_invalid", "is %q, and has no effect", value)
			p.Expected, p.Received = expected, value
			all = append(all, p)
		}
	}
	return all
}

// mistake returns what the annotation should be instead, "" if it is all right.
func mistake(of metav1.Object, key string) string {
	switch value := of.GetAnnotations()[key]; key {
	case annotationIgnore:
		if value != "true" && value != "false" {
			return "true or false"
		}
	case annotationInterval:
		if _, ok := ownInterval(of); !ok {
			return "a duration of at least 1s, as 30s or 5m"
		}
	case annotationProbe, annotationPort, annotationServerName, annotationPath:
		return mistakeOfService(of, key)
	case annotationExpect:
		if kind := kindOf(of); value != "permissive" && (kind == "Ingress" || kind == "Gateway") {
			return "permissive, if plain http is meant to be served too"
		}
	}
	return ""
}

// mistakeOfService does it for the annotations by which a Service is probed.
func mistakeOfService(of metav1.Object, key string) string {
	switch probed := of.GetAnnotations()[annotationProbe] != ""; {
	case kindOf(of) != "Service":
		return "none: it is for Services"
	case key == annotationProbe && !probed:
		return "the name of a module, as tls or http"
	case !probed:
		return annotationProbe + " beside it, with the name of a module"
	}
	return ""
}

// nearestAnnotation returns which ones the author of this one may have meant.
func nearestAnnotation(key string) string {
	var known []string
	for _, name := range annotations() {
		known = append(known, strings.TrimPrefix(name, ownAnnotations))
	}
	near := probe.Nearest(strings.TrimPrefix(key, ownAnnotations), known)
	for i := range near {
		near[i] = ownAnnotations + near[i]
	}
	return strings.Join(near, " or ")
}
