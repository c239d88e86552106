package probe

import (
	"cmp"
	"syscall"
)

// canKnock says whether [knock] works here.
const canKnock = true

// knock makes a connection that is closed at once end without a trace at the
// other side: the acknowledgement that would complete it there is held back
// (TCP_QUICKACK), and closing sends RST in its place (SO_LINGER of 0). So the
// peer's kernel has answered, and no program of its own was told: a TLS server
// logs nothing, where connecting and closing makes it log an EOF.
//
// A sidecar or proxy in between completes connections itself: its answer is the
// one that is seen, as it would be by any connection.
func knock(_, _ string, c syscall.RawConn) error {
	var quick, linger error
	err := c.Control(func(fd uintptr) {
		quick = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 0)
		linger = syscall.SetsockoptLinger(int(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	})
	return cmp.Or(err, quick, linger)
}
