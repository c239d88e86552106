//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups returns a channel that receives each SIGHUP, by which daemons are told
// to read their configuration again.
func hangups() (received <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
