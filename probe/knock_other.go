//go:build !linux

package probe

import "syscall"

// canKnock says whether [knock] works here.
const canKnock = false

// knock does nothing: only Linux can hold back the acknowledgement that completes
// a connection. Elsewhere the connection is made and closed, which some servers
// log.
func knock(_, _ string, _ syscall.RawConn) error { return nil }
