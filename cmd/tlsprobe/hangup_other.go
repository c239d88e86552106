//go:build !unix

package main

import "os"

// hangups returns a channel that never receives: there is no SIGHUP here.
func hangups() (received <-chan os.Signal, stop func()) {
	return nil, func() {}
}
