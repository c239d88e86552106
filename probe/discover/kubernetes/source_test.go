package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A rebuild is a list that a source had to make.
type rebuild struct {
	at      time.Duration // since the source started
	objects *objects
}

// A running source is one that watches an apiServer, in a bubble of time.
type running struct {
	*Source
	cost  time.Duration // of each rebuild
	until time.Duration // after each rebuild, the objects make other targets; 0: never

	start    time.Time
	end      func()
	rebuilds []rebuild // read them after a wait
	reports  []string  // likewise: "nodes: starting, synced"
}

// run starts a source, and ends it with the test.
func run(t *testing.T, a *apiServer, r *running) *running {
	t.Helper()
	s, err := newSource(Config{}, a.connection())
	if err != nil {
		t.Fatal(err)
	}
	r.Source, r.start = s, time.Now()
	s.Report = func(status ResourceStatus) {
		r.reports = append(r.reports, fmt.Sprintf("%s: %s, %s", status.Resource, status.Was, status.State))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		err := s.run(ctx, func(o *objects) time.Time {
			r.rebuilds = append(r.rebuilds, rebuild{time.Since(r.start), o})
			time.Sleep(r.cost)
			if r.until == 0 {
				return time.Time{}
			}
			return time.Now().Add(r.until)
		})
		if err != nil {
			t.Error(err)
		}
	})
	r.end = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(r.end)
	return r
}

// after lets time pass, and all work that comes with it be done.
func (r *running) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// last returns the objects of the last list.
func (r *running) last(t *testing.T) *objects {
	t.Helper()
	if len(r.rebuilds) == 0 {
		t.Fatal("no list has been made")
	}
	return r.rebuilds[len(r.rebuilds)-1].objects
}

// times returns when lists were made.
func (r *running) times() []time.Duration {
	var all []time.Duration
	for _, r := range r.rebuilds {
		all = append(all, r.at)
	}
	return all
}

// of returns the status of a resource.
func (r *running) of(t *testing.T, resource string) ResourceStatus {
	t.Helper()
	all := r.Status().Resources
	i := slices.IndexFunc(all, func(s ResourceStatus) bool { return s.Resource == resource })
	if i < 0 {
		t.Fatalf("no resource %s", resource)
	}
	return all[i]
}

// noDiff fails the test if the values differ.
func noDiff[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func names[T interface{ GetName() string }](all []T) string {
	var text []string
	for _, o := range all {
		text = append(text, o.GetName())
	}
	return strings.Join(text, " ")
}

const node = `{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {addresses: [{type: InternalIP, address: %s}]}}`

func TestSourceFollowsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.put(t, fmt.Sprintf(node, "b", "10.0.0.2"))
		a.put(t, fmt.Sprintf(node, "a", "10.0.0.1"))
		r := run(t, a, &running{})
		r.after(0)
		noDiff(t, "nodes at first", "a b", names(r.last(t).nodes))
		noDiff(t, "unread at first", map[string]bool{}, r.last(t).unread)

		a.put(t, fmt.Sprintf(node, "c", "10.0.0.3"))
		r.after(time.Second)
		noDiff(t, "nodes after one was added", "a b c", names(r.last(t).nodes))

		a.put(t, fmt.Sprintf(node, "a", "10.0.0.9"))
		r.after(time.Second)
		noDiff(t, "the address that changed", "10.0.0.9", r.last(t).nodes[0].Status.Addresses[0].Address)

		a.remove("Node", "b")
		r.after(time.Second)
		noDiff(t, "nodes after one was deleted", "a c", names(r.last(t).nodes))
		noDiff(t, "when lists were made", []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, r.times())
	})
}

func TestSourceReadsEveryKind(t *testing.T) {
	t.Run("streamed", func(t *testing.T) { readsEveryKind(t, false) })
	t.Run("listed", func(t *testing.T) { readsEveryKind(t, true) })
}

func readsEveryKind(t *testing.T, oldServer bool) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.oldServer = oldServer
		a.put(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: validating}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: mutating}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crd},
 spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://a/"}}}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: plain}, spec: {conversion: {strategy: None}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: aggregated}, spec: {service: {namespace: a, name: b}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: own}}
---
{apiVersion: v1, kind: Node, metadata: {name: node}}
---
{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: pending}}
---
{apiVersion: v1, kind: Service, metadata: {namespace: a, name: service}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {namespace: a, name: slice, labels: {kubernetes.io/service-name: service}}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {namespace: a, name: of-nobody}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: a, name: ingress}}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: class}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {namespace: a, name: gateway}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {namespace: a, name: route}}
---
{apiVersion: acme.cert-manager.io/v1, kind: Challenge, metadata: {namespace: a, name: challenge}}
---
{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {namespace: a, name: mtls}}`)
		r := run(t, a, &running{})
		r.after(0)
		o := r.last(t)
		noDiff(t, "objects", []string{
			"validating", "mutating", "crd", "aggregated", "node", "pending", "service", "slice",
			"ingress", "class", "gateway", "route", "challenge", "mtls",
		}, []string{
			names(o.validatingWebhooks), names(o.mutatingWebhooks), names(o.crds), names(o.apiServices), names(o.nodes),
			names(o.requests), names(o.services), names(o.slices), names(o.ingresses), names(o.ingressClasses),
			names(o.gateways), names(o.httpRoutes), names(o.challenges), names(o.peerAuthentications),
		})
		for _, status := range r.Status().Resources {
			if status.State != Synced || status.Objects != 1 || status.Events == 0 || status.LastEvent.IsZero() {
				t.Errorf("%+v", status)
			}
		}
		if status := r.Status(); len(status.Resources) != len(apiPaths) || status.Rebuilds != 1 {
			t.Errorf("%d resources, %d rebuilds", len(status.Resources), status.Rebuilds)
		}
	})
}

// TestSourceIgnoresHeartbeats: what a kubelet writes each few minutes for each node,
// and a controller each few seconds into an annotation, makes no work.
func TestSourceIgnoresHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		const beat = `{apiVersion: v1, kind: Node, metadata: {name: a, annotations: {lease: "%d"}},
			status: {conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2026-11-21T10:00:%02dZ"}]}}`
		a.put(t, fmt.Sprintf(beat, 0, 0))
		r := run(t, a, &running{})
		r.after(0)
		kept := r.Source.snapshot().nodes[0]
		for i := range 10 {
			a.put(t, fmt.Sprintf(beat, i, i))
			r.after(10 * time.Second)
		}
		noDiff(t, "when lists were made", []time.Duration{0}, r.times())
		status := r.of(t, "nodes")
		if status.Events != 11 || status.Changes != 1 {
			t.Errorf("%d changes by %d events, want 1 by 11", status.Changes, status.Events)
		}
		if now := r.Source.snapshot().nodes[0]; now != kept {
			t.Error("an object that did not change was replaced")
		}
	})
}

func TestSourceGathersBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		r := run(t, a, &running{})
		r.after(10 * time.Second)
		for i := range 15 {
			a.put(t, fmt.Sprintf(node, fmt.Sprint("n", i), "10.0.0.1"))
			r.after(150 * time.Millisecond)
		}
		r.after(time.Minute)
		// Each list has what came within a second of the first change since the last.
		noDiff(t, "when lists were made", []time.Duration{0, 11 * time.Second,
			12*time.Second + 50*time.Millisecond, 13*time.Second + 100*time.Millisecond}, r.times())
		var nodes []int
		for _, r := range r.rebuilds {
			nodes = append(nodes, len(r.objects.nodes))
		}
		noDiff(t, "nodes in the lists", []int{0, 7, 14, 15}, nodes)
	})
}

// TestSourceSparesTheProcessor: making lists takes no more than a tenth of the time.
func TestSourceSparesTheProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		r := run(t, a, &running{cost: 400 * time.Millisecond})
		for i := range 200 {
			a.put(t, fmt.Sprintf(node, fmt.Sprint("n", i), "10.0.0.1"))
			r.after(100 * time.Millisecond)
		}
		var want []time.Duration
		for at := time.Duration(0); at < 20*time.Second; at += 4400 * time.Millisecond {
			want = append(want, at)
		}
		noDiff(t, "when lists were made", want, r.times())
	})
}

func TestSourceRebuildsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, newAPIServer(t), &running{until: time.Hour})
		r.after(150 * time.Minute)
		noDiff(t, "when lists were made", []time.Duration{0, time.Hour + time.Second, 2*time.Hour + 2*time.Second}, r.times())
		if at := r.last(t).at; !at.Equal(r.start.Add(2*time.Hour + 2*time.Second)) {
			t.Errorf("the last list is of %s", at)
		}
	})
}

func TestSourceEndsAtOnce(t *testing.T) {
	for _, test := range []struct {
		name string
		give func(*apiServer)
	}{
		{"while it watches", func(a *apiServer) {}},
		{"while it waits to connect again", func(a *apiServer) { a.refuses = true }},
		{"while the API server is too busy", func(a *apiServer) { a.kinds["/api/v1/nodes"].status = http.StatusTooManyRequests }},
		{"while it waits for a kind", func(a *apiServer) { a.kinds["/api/v1/nodes"].status = http.StatusNotFound }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPIServer(t)
				test.give(a)
				r := run(t, a, &running{})
				r.after(10 * time.Minute)
				before := time.Now()
				r.end()
				if took := time.Since(before); took != 0 {
					t.Errorf("ended after %s", took)
				}
			})
		})
	}
}
