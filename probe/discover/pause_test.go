package discover

import (
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	for _, test := range []struct {
		failures      int
		refresh, want time.Duration
	}{
		{0, 30 * time.Second, 30 * time.Second},
		{1, 30 * time.Second, time.Second},
		{2, 30 * time.Second, 2 * time.Second},
		{5, 30 * time.Second, 16 * time.Second},
		{6, 30 * time.Second, 30 * time.Second},
		{1, 100 * time.Millisecond, 100 * time.Millisecond},
		{1 << 40, time.Hour, time.Hour},
	} {
		if got := pause(test.failures, test.refresh); got != test.want {
			t.Errorf("after %d failures with refresh %s: %s, want %s", test.failures, test.refresh, got, test.want)
		}
	}
}

func TestJitter(t *testing.T) {
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := jitter(10 * time.Second)
		low, high = min(low, d), max(high, d)
	}
	if low < 9*time.Second || high > 11*time.Second || high-low < time.Second {
		t.Errorf("from %s to %s, want a spread within 9s to 11s", low, high)
	}
}
