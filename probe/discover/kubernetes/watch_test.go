package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// reported returns what was reported of a resource, as "starting, synced".
func (r *running) reported(resource string) []string {
	var all []string
	for _, line := range r.reports {
		if of, change, _ := strings.Cut(line, ": "); of == resource {
			all = append(all, change)
		}
	}
	return all
}

func TestWatchAbsent(t *testing.T) {
	const gateways = "gateways.gateway.networking.k8s.io"
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.answer("Gateway", http.StatusNotFound)
		r := run(t, a, &running{})
		r.after(5 * time.Minute)
		noDiff(t, "when lists were made", []time.Duration{0}, r.times())
		noDiff(t, "unread", map[string]bool{"gateways": true}, r.last(t).unread)
		if s := r.of(t, gateways); s.State != Absent || s.Err != nil {
			t.Errorf("status %+v", s)
		}

		a.answer("Gateway", http.StatusOK)
		a.put(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {namespace: a, name: public}}`)
		r.after(61 * time.Second)
		noDiff(t, "gateways", "public", names(r.last(t).gateways))
		noDiff(t, "unread", map[string]bool{}, r.last(t).unread)

		a.answer("Gateway", http.StatusNotFound)
		r.after(10 * time.Second)
		noDiff(t, "gateways when the kind is gone", "", names(r.last(t).gateways))
		noDiff(t, "unread", map[string]bool{"gateways": true}, r.last(t).unread)
		noDiff(t, "reports", []string{"starting, absent", "absent, synced", "synced, absent"}, r.reported(gateways))
	})
}

// TestWatchBuiltInAbsent: Ingresses do not leave a cluster. What says so is not the
// API, and no target is lost for it.
func TestWatchBuiltInAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.put(t, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: shop, name: web}}`)
		r := run(t, a, &running{})
		r.after(5 * time.Second)
		a.answer("Ingress", http.StatusNotFound)
		r.after(5 * time.Minute)
		noDiff(t, "ingresses", "web", names(r.last(t).ingresses))
		noDiff(t, "reports", []string{"starting, synced", "synced, absent"}, r.reported("ingresses.networking.k8s.io"))
	})
}

// TestWatchAbsentIsCheap: a kind that is missing costs a request or two a minute.
func TestWatchAbsentIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.answer("Gateway", http.StatusNotFound)
		run(t, a, &running{}).after(time.Hour)
		if n := a.asked("Gateway"); n < 60 || n > 240 {
			t.Errorf("%d requests in an hour", n)
		}
	})
}

func TestWatchForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.answer("Ingress", http.StatusForbidden)
		a.put(t, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: shop, name: web}}`)
		r := run(t, a, &running{})
		r.after(10 * time.Minute)
		noDiff(t, "when lists were made", []time.Duration{0}, r.times())
		noDiff(t, "unread", map[string]bool{"ingresses": true}, r.last(t).unread)
		want := `ingresses is forbidden: User "hub" cannot list resource; bind a ClusterRole with the rule ` +
			`{apiGroups: ["networking.k8s.io"], resources: [ingresses], verbs: [list, watch]} to that user`
		noDiff(t, "error", want, fmt.Sprint(r.of(t, "ingresses.networking.k8s.io").Err))

		a.answer("Ingress", http.StatusOK)
		r.after(62 * time.Second)
		noDiff(t, "ingresses once they may be read", "web", names(r.last(t).ingresses))

		a.answer("Ingress", http.StatusForbidden)
		r.after(10 * time.Minute)
		noDiff(t, "ingresses when they may not be read any more", "web", names(r.last(t).ingresses))
		noDiff(t, "unread", map[string]bool{}, r.last(t).unread)
		noDiff(t, "reports", []string{"starting, forbidden", "forbidden, synced", "synced, forbidden"},
			r.reported("ingresses.networking.k8s.io"))
	})
}

// TestWatchNothing: that there is nothing is worth a new list once it is known.
func TestWatchNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.answer("IngressClass", http.StatusForbidden)
		r := run(t, a, &running{})
		r.after(0)
		a.answer("IngressClass", http.StatusOK)
		r.after(10 * time.Second)
		noDiff(t, "how many lists were made", 2, len(r.rebuilds))
		noDiff(t, "unread", map[string]bool{}, r.last(t).unread)
	})
}

// TestWatchForbiddenAlone: a list that may be read and not watched is no news each
// time that it is read.
func TestWatchForbiddenAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.edit(func() { a.kinds[apiPaths["Node"]].unwatched = true })
		r := run(t, a, &running{})
		r.after(10 * time.Minute)
		noDiff(t, "reports", []string{"starting, forbidden"}, r.reported("nodes"))
	})
}

func TestWatchExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.put(t, fmt.Sprintf(node, "a", "10.0.0.1"))
		a.put(t, fmt.Sprintf(node, "b", "10.0.0.2"))
		r := run(t, a, &running{})
		r.after(0)
		a.edit(func() { a.refuses = true })
		a.disconnect()
		r.after(time.Minute)
		a.remove("Node", "a")
		a.put(t, fmt.Sprintf(node, "c", "10.0.0.3"))
		a.edit(func() {
			a.refuses, a.expired = false, a.version
			for _, k := range a.kinds {
				k.events = nil
			}
		})
		r.after(2 * time.Minute)
		noDiff(t, "nodes", "b c", names(r.last(t).nodes))
	})
}

// TestWatchCut: what happens while the API server is away is seen when it is back,
// and nothing is done if it was nothing.
func TestWatchCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.put(t, fmt.Sprintf(node, "a", "10.0.0.1"))
		r := run(t, a, &running{})
		r.after(time.Minute)

		a.disconnect()
		r.after(time.Minute)
		noDiff(t, "when lists were made", []time.Duration{0}, r.times())
		noDiff(t, "reports of a connection that was cut", []string{"starting, synced"}, r.reported("nodes"))

		a.edit(func() { a.refuses = true })
		a.disconnect()
		r.after(10 * time.Minute)
		if s := r.of(t, "nodes"); s.State != Failing || s.Err == nil || s.Objects != 1 {
			t.Errorf("status while the API server is away: %+v", s)
		}
		noDiff(t, "nodes while the API server is away", "a", names(r.last(t).nodes))
		noDiff(t, "when lists were made", []time.Duration{0}, r.times())

		a.put(t, fmt.Sprintf(node, "b", "10.0.0.2"))
		a.edit(func() { a.refuses = false })
		r.after(time.Minute)
		noDiff(t, "nodes when it is back", "a b", names(r.last(t).nodes))
		noDiff(t, "reports", []string{"starting, synced", "synced, failing", "failing, synced"}, r.reported("nodes"))
		noDiff(t, "how many lists were made", 2, len(r.rebuilds))
	})
}

// TestWatchUnanswered: a connection that nobody answers is a failure too, though
// client-go makes it a watch without events.
func TestWatchUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		r := run(t, a, &running{})
		r.after(time.Minute)
		a.edit(func() { a.silent = true })
		a.disconnect()
		r.after(2 * time.Minute)
		if s := r.of(t, "nodes"); s.State != Failing || !strings.Contains(fmt.Sprint(s.Err), "i/o timeout") {
			t.Errorf("status: %+v", s)
		}
		a.edit(func() { a.silent = false })
		r.after(2 * time.Minute)
		noDiff(t, "reports", []string{"starting, synced", "synced, failing", "failing, synced"}, r.reported("nodes"))
	})
}

// TestWatchOldServer: one that does not stream lists is asked for them, page by page.
func TestWatchOldServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPIServer(t)
		a.oldServer = true
		for i := range 2*pageSize + 1 {
			a.put(t, fmt.Sprintf(node, fmt.Sprint("n", i), "10.0.0.1"))
		}
		r := run(t, a, &running{})
		r.after(0)
		noDiff(t, "nodes", 2*pageSize+1, len(r.last(t).nodes))
		noDiff(t, "the longest page", pageSize, a.longest)
		a.put(t, fmt.Sprintf(node, "one-more", "10.0.0.2"))
		r.after(time.Second)
		noDiff(t, "nodes after one was added", 2*pageSize+2, len(r.last(t).nodes))
		noDiff(t, "reports", []string{"starting, synced"}, r.reported("nodes"))
	})
}

// TestWatchFirstList: what nearly all targets need is waited for; a kind of others,
// whose conversion webhook may be why it fails, for half a minute.
func TestWatchFirstList(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		want       []time.Duration
		unread     string
	}{
		{"Services fail", "Service", nil, ""},
		{"Challenges fail", "Challenge", []time.Duration{patience}, "challenges"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPIServer(t)
				a.answer(test.kind, http.StatusInternalServerError)
				r := run(t, a, &running{})
				r.after(10 * time.Minute)
				noDiff(t, "when lists were made", test.want, r.times())
				if test.want != nil {
					noDiff(t, "unread", map[string]bool{test.unread: true}, r.last(t).unread)
				}
			})
		})
	}
}

func TestForeignObjects(t *testing.T) {
	s := &store[*gateway]{}
	for name, err := range map[string]error{
		"added":    s.Add(&httpRoute{}),
		"deleted":  s.Delete(&httpRoute{}),
		"replaced": s.Replace([]any{&httpRoute{}}, ""),
	} {
		if err == nil || errors.Unwrap(err) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
