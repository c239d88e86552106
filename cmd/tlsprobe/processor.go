package main

import (
	"os"
	"runtime"
)

// useOneProcessor lets Go code of this process run on one processor at a time,
// unless the environment's GOMAXPROCS says otherwise. Thousands of targets take a
// part of one; with more, the Go scheduler wakes a thread for most events of the
// network, which finds nothing left to do. That is a fifteenth of what a probe
// costs.
func useOneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
