// Package discover says what to probe: it reads the configuration file and runs
// the sources of further targets, and hands out lists of [probe.Target].
//
// It knows nothing of when targets are probed or of what becomes of the results.
// Start reading at [Parse]; the grammar is in grammar.go, and
// config.example.yaml shows all of it.
package discover

import (
	"context"

	"tlsprobe/probe"
)

// A Source supplies targets.
type Source interface {
	// Run calls set with the whole list of targets each time it may have
	// changed, never concurrently. It returns nil when ctx ends, and an error if
	// it cannot go on. A list that was handed over is not changed any more.
	Run(ctx context.Context, set func([]*probe.Target)) error
}
