package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// pause is how often a condition is looked at that tells nobody when it changes.
const pause = 50 * time.Millisecond

// Until calls check until it returns nil. If that does not happen before ctx ends, the
// error is the last one seen.
func Until(ctx context.Context, check func() error) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	start := time.Now()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", time.Since(start).Round(time.Millisecond), err)
		case <-tick.C:
		}
	}
}

// Eventually fails the test if check does not return nil within this time, and says
// what it returned last.
func Eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := Until(ctx, check); err != nil {
		t.Fatal(err)
	}
}
