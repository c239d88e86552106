package kubernetes

import (
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
	annotationExpect     = "tlsprobe.io/expect"      // a Service: what its OTLP ports speak
)

// annotation is the place of an annotation of the object.
func annotation(of metav1.Object, key string) place {
	return at(of, "metadata.annotations["+key+"]")
}

// interval returns how often each of so many nodes probes t, which is made of the
// object. An annotation that says nothing usable is a fault, and has no effect.
func (b *builder) interval(of metav1.Object, nodes int, t *probe.Target) time.Duration {
	base := b.config.Interval
	if text, ok := of.GetAnnotations()[annotationInterval]; ok {
		own, err := time.ParseDuration(text)
		if err == nil && own >= time.Second {
			base = own
		} else {
			p := annotation(of, annotationInterval).fault("target_misconfigured", "is %q, so %s counts", text, base)
			p.Expected, p.Received = "a duration of at least 1s, as 30s or 5m", text
			t.Faults = append(t.Faults, p)
		}
	}
	if b.config.Pace == nil {
		return base
	}
	return b.config.Pace(base, nodes, b.config.ProbesPerSecond)
}
