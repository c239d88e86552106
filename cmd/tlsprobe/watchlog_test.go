package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe/discover/kubernetes"
)

// TestWatchIsLogged: what may not or cannot be read is told, and that it is read
// again, in a line for all that it happens to at once; what is normal is not.
func TestWatchIsLogged(t *testing.T) {
	refused, forbidden := errors.New("refused"), errors.New("cannot list")
	for _, test := range []struct {
		name string
		news []kubernetes.ResourceStatus
		want []string
	}{
		{"a start", []kubernetes.ResourceStatus{
			{Resource: "nodes", State: kubernetes.Synced, Was: kubernetes.Starting},
			{Resource: "gateways", State: kubernetes.Absent, Was: kubernetes.Starting},
		}, nil},
		{"no right", []kubernetes.ResourceStatus{
			{Resource: "nodes", State: kubernetes.Forbidden, Was: kubernetes.Starting, Err: forbidden},
		}, []string{`level=WARN msg="Resources may not be read; all else is watched" resources=nodes objects=0 err="cannot list"`}},
		{"a right", []kubernetes.ResourceStatus{
			{Resource: "nodes", State: kubernetes.Synced, Was: kubernetes.Forbidden, Objects: 3},
		}, []string{`level=INFO msg="Resources are read" resources=nodes objects=3`}},
		{"the API server goes away, for one in another way", []kubernetes.ResourceStatus{
			{Resource: "services", State: kubernetes.Failing, Was: kubernetes.Synced, Objects: 2, Err: refused},
			{Resource: "ingresses", State: kubernetes.Failing, Was: kubernetes.Synced, Err: errors.New("reset")},
			{Resource: "nodes", State: kubernetes.Failing, Was: kubernetes.Synced, Objects: 3, Err: refused},
		}, []string{
			`level=WARN msg="Resources cannot be read; what was read last stays" resources=nodes,services objects=5 err=refused`,
			`level=WARN msg="Resources cannot be read; what was read last stays" resources=ingresses objects=0 err=reset`,
		}},
		{"and for a moment", []kubernetes.ResourceStatus{
			{Resource: "nodes", State: kubernetes.Failing, Was: kubernetes.Synced, Objects: 3, Err: refused},
			{Resource: "nodes", State: kubernetes.Synced, Was: kubernetes.Failing, Objects: 4},
		}, []string{
			`level=WARN msg="Resources cannot be read; what was read last stays" resources=nodes objects=3 err=refused`,
			`level=INFO msg="Resources are read" resources=nodes objects=4`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				w := newWatchLog(slog.New(slog.NewTextHandler(&out, nil)))
				for range 2 { // after it has been told, it is news again
					for _, r := range test.news {
						w.note(r)
					}
					time.Sleep(gatherTime)
					synctest.Wait()
				}
				var got []string
				for line := range strings.Lines(out.String()) {
					_, said, _ := strings.Cut(strings.TrimSpace(line), " ") // the time is first
					got = append(got, said)
				}
				if diff := cmp.Diff(append(test.want, test.want...), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
