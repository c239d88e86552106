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

// intervalOf returns how often each node probes what is made of the object. An
// annotation that says nothing usable is a fault, and has no effect.
func (b *builder) intervalOf(of metav1.Object) (time.Duration, *probe.Problem) {
	text, ok := of.GetAnnotations()[annotationInterval]
	if !ok {
		return b.interval, nil
	}
	own, err := time.ParseDuration(text)
	if err != nil || own < time.Second {
		fault := annotation(of, annotationInterval).fault("target_misconfigured", "is %q, and %s counts", text, b.interval)
		fault.Expected, fault.Received = "a duration of at least 1s, as 30s or 5m", text
		return b.interval, &fault
	}
	return b.paced(own), nil
}

// paced stretches an interval until all nodes together probe a target no more
// often than the configuration allows.
func (b *builder) paced(interval time.Duration) time.Duration {
	if b.config.Pace == nil {
		return interval
	}
	return b.config.Pace(interval, len(b.objects.nodes), b.config.ProbesPerSecond)
}
