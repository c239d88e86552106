//go:build !linux

package probe

import (
	"errors"
	"syscall"
)

// clampMSS fails: only Linux takes a maximum segment size before connecting in a
// way that this package relies on, so path_mtu is told apart there only.
func clampMSS(int) func(network, address string, c syscall.RawConn) error {
	return func(string, string, syscall.RawConn) error { return errors.ErrUnsupported }
}
