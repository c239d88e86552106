package discover

import (
	"testing"
	"time"

	"tlsprobe/probe/discover/kubernetes"
)

// A list is as new as the last that was heard, and no newer than what it is made of
// and cannot be read any more.
func TestAsNewAs(t *testing.T) {
	start := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	synced := kubernetes.ResourceStatus{State: kubernetes.Synced, LastEvent: at(9)}
	quiet := kubernetes.ResourceStatus{State: kubernetes.Synced, LastEvent: at(2)}
	for name, test := range map[string]struct {
		newest    time.Time
		resources []kubernetes.ResourceStatus
		want      time.Time
	}{
		"the last event":         {start, []kubernetes.ResourceStatus{quiet, synced}, at(9)},
		"of the source before":   {at(10), []kubernetes.ResourceStatus{synced}, at(10)},
		"one fails":              {start, []kubernetes.ResourceStatus{{State: kubernetes.Failing, LastEvent: at(4)}, synced}, at(4)},
		"one is forbidden now":   {start, []kubernetes.ResourceStatus{synced, {State: kubernetes.Forbidden, LastEvent: at(5)}}, at(5)},
		"one was never readable": {start, []kubernetes.ResourceStatus{synced, {State: kubernetes.Forbidden}, {State: kubernetes.Failing}}, at(9)},
		"nothing was heard yet":  {time.Time{}, []kubernetes.ResourceStatus{{State: kubernetes.Starting}}, time.Time{}},
	} {
		if got := asNewAs(test.resources, test.newest); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
