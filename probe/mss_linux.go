package probe

import "syscall"

// clampMSS bounds the segments of a connection, before its SYN announces them.
func clampMSS(mss int) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var setErr error
		err := c.Control(func(fd uintptr) {
			setErr = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, mss)
		})
		if err != nil {
			return err
		}
		return setErr
	}
}
