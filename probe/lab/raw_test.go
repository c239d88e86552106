package lab_test

import (
	"net"
	"net/url"
	"time"

	"tlsprobe/probe"
)

// connect opens a connection to a target, or returns nil.
func connect(target *probe.Target) net.Conn {
	addr := target.Address
	if u, err := url.Parse(addr); err == nil && u.Host != "" {
		addr = u.Host
	}
	conn, err := net.DialTimeout("tcp4", addr, 200*time.Millisecond)
	if err != nil {
		return nil
	}
	return conn
}
