package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A condition that tells nobody when it changes is looked at after pauses that grow
// with the time that has passed, between these two: a look may cost the one who is
// looked at something.
const shortPause, longPause = 50 * time.Millisecond, 3 * time.Second

// Until calls check until it returns nil. If that does not happen before ctx ends, the
// error is the last one seen.
func Until(ctx context.Context, check func() error) error {
	start := time.Now()
	for {
		err := check()
		if err == nil {
			return nil
		}
		waited := time.Since(start)
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %w", waited.Round(time.Millisecond), err)
		case <-time.After(min(max(waited/10, shortPause), longPause)):
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
