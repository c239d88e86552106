package lab

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// linuxScenarios rest on what the Linux kernel does.
func linuxScenarios() []Scenario {
	return []Scenario{
		{Name: "connect-timeout", Summary: "a listener that has no room for another connection", Reasons: []string{"tcp_timeout"},
			start: startFullBacklog},
		{Name: "connect-unreachable", Summary: "an address that there is no route to", Reasons: []string{"tcp_unreachable"},
			start: func(i *Instance) error {
				// TCP to a broadcast address is ENETUNREACH; no packet leaves.
				i.Target.Address = "127.255.255.255:443"
				return nil
			}},
		{Name: "connect-local-error", Summary: "a link-local address without the interface it belongs to",
			Reasons: []string{"tcp_local_error"},
			start: func(i *Instance) error {
				i.Target.Address = "[fe80::1]:443" // EINVAL; no packet leaves
				return nil
			}},
		{Name: "tls-path-mtu", Summary: "loses the client's large packets", Reasons: []string{"path_mtu"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveGoodBehind(losingLargePackets(isSmall))
			}},
		{Name: "tls-path-mtu-back", Summary: "loses the server's large packets", Reasons: []string{"path_mtu"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveGoodBehind(losingLargePackets(func([]byte) bool { return false }))
			}},
	}
}

// linuxACMEScenarios are the part of the ACME incident that rests on the kernel.
func linuxACMEScenarios() []Scenario {
	return []Scenario{
		{Name: "acme-solver-unreachable", Summary: "is the solver, on a node that packets do not reach",
			Reasons: []string{"acme_challenge_failed", "tcp_timeout"},
			start: func(i *Instance) error {
				err := startFullBacklog(i)
				i.challengeAt("http://" + i.Target.Address)
				return err
			}},
	}
}

// startFullBacklog listens with a backlog of 0, which is room for one, and takes
// that: the kernel then drops every SYN.
func startFullBacklog(i *Instance) error {
	i.Target.Timeout = shortTimeout
	addr, err := i.listenWithoutAccepting()
	if err != nil {
		return err
	}
	i.Target.Address = addr
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return err
	}
	i.own(conn)
	return nil
}

func (i *Instance) listenWithoutAccepting() (string, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("opening a socket: %w", err)
	}
	i.own(os.NewFile(uintptr(fd), "listener"))
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", fmt.Errorf("binding a socket: %w", err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		return "", fmt.Errorf("listening: %w", err)
	}
	local, err := syscall.Getsockname(fd)
	if err != nil {
		return "", fmt.Errorf("reading the port: %w", err)
	}
	return fmt.Sprintf("127.0.0.1:%d", local.(*syscall.SockaddrInet4).Port), nil
}

// losingLargePackets imitates on loopback, where no packet is too large, a path
// that loses those of more than clampedMSS bytes: it hangs unless the client
// clamped its maximum segment size, or survives says that this ClientHello makes
// no large packet in the direction that loses them.
func losingLargePackets(survives func(hello []byte) bool) func(*peerConn) net.Conn {
	const clampedMSS = 536 // bytes; RFC 9293, Section 3.7.1: what every path takes
	return func(c *peerConn) net.Conn {
		return &gatedConn{peerConn: c, open: func(r *bufio.Reader) error {
			mss, err := maxSegment(c)
			if err != nil {
				return err
			}
			if mss <= clampedMSS {
				return nil
			}
			hello, err := peekHello(r)
			if err != nil || survives(hello) {
				return err
			}
			hang(c)
			return errors.New("gave up waiting for a packet that was lost")
		}}
	}
}

// isSmall reports whether a ClientHello fits one packet of a path with a small MTU.
func isSmall(hello []byte) bool { return len(hello) <= 1000 }

func maxSegment(c *peerConn) (mss int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := raw.Control(func(fd uintptr) {
		mss, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
	})
	return mss, errors.Join(controlErr, err)
}
