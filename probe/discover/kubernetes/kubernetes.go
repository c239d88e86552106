// Package kubernetes finds what a cluster depends on: it watches the Kubernetes
// API and makes [probe.Target]s of what it sees, each judged as the cluster's own
// client of it would judge.
//
// It needs no right but to list and watch, reads no Secret, and keeps of each
// object only what a target is made of. Start reading at [Source.Run]; objects.go
// says what is watched, builder.go how targets come of it, and there is one file
// for each kind of target.
package kubernetes

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// A Config says where the cluster is and what of it is wanted.
type Config struct {
	Kubeconfig string // a file; "": the service account of this pod
	// ClusterCAFile is where agents find the cluster's CA, which kubelets and API
	// servers are judged by; "": that of the connection to the API is handed out.
	ClusterCAFile string

	Kinds             []string        // of targets, see [Kinds]; nil: all
	Namespaces        []string        // patterns of path.Match; nil: all
	ExcludeNamespaces []string        // likewise; they win over Namespaces
	Selector          labels.Selector // of objects by their labels; nil: all

	Neighbours      int     // how many other nodes' kubelets each node probes
	ProbesPerSecond float64 // at most so many of each target by all nodes together; 0: no limit

	Interval, Timeout time.Duration // of each target, before the pace
	// Pace returns the interval at which each of nodes probes one target.
	Pace func(base time.Duration, nodes int, perSecond float64) time.Duration
}

// The kinds of targets. Each is the first part of its targets' names.
const (
	kindWebhook    = "webhook"
	kindConversion = "conversion"
	kindAPIService = "apiservice"
	kindKubelet    = "kubelet"
	kindAPIServer  = "apiserver"
	kindIngress    = "ingress"
	kindGateway    = "gateway"
	kindOTLP       = "otlp"
	kindACME       = "acme"
	kindService    = "service"
)

// Kinds returns the kinds of targets that there are.
func Kinds() []string {
	return []string{kindWebhook, kindConversion, kindAPIService, kindKubelet, kindAPIServer,
		kindIngress, kindGateway, kindOTLP, kindACME, kindService}
}
