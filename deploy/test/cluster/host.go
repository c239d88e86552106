package cluster

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// A Host is one network namespace with an address on the switch.
type Host struct {
	Name    string
	Address netip.Addr

	namespace string
	network   *Network
	dns       netip.Addr // of the server that programs ask; zero: the machine's
}

// Namespace is the file that stands for the host's network namespace.
func (h *Host) Namespace() string { return filepath.Join(namespaces, h.namespace) }

// Command is [exec.CommandContext] on the host: in its network namespace, and in the
// caller's other ones. "ip netns exec" would hide the cgroups.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	enter := []string{"--net=" + h.Namespace()}
	if h.dns.IsValid() {
		enter = append(enter, "unshare", "--mount", "sh", "-c", withDNS, h.dns.String())
	}
	return exec.CommandContext(ctx, "nsenter", append(append(enter, name), args...)...)
}

// withDNS runs its arguments with another resolv.conf(5), which names the server $0.
const withDNS = `set -e
file=$(mktemp)
echo "nameserver $0" >"$file"
mount --bind "$file" /etc/resolv.conf
rm "$file"
exec "$@"`

// UseDNS makes the commands to come ask this server.
func (h *Host) UseDNS(server netip.Addr) { h.dns = server }

// Run runs a command on the host; what it says is in the error.
func (h *Host) Run(name string, args ...string) error {
	return runCommand(h.Command(context.Background(), name, args...))
}

// Do calls f on a thread that is on the host. Sockets that f makes stay there, but
// goroutines that it starts do not begin there.
func (h *Host) Do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close()
	if err := setNamespace(h.Namespace()); err != nil {
		return err
	}
	defer func() {
		if err := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); err != nil {
			panic(fmt.Sprintf("a thread cannot leave the host %q: %v", h.Name, err)) // it would serve others
		}
	}()
	return f()
}

func setNamespace(file string) error {
	namespace, err := os.Open(file)
	if err != nil {
		return err
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering %q: %w", file, err)
	}
	return nil
}

// Dial connects from the host. The address must be a literal one: the dialler would
// look a name up from elsewhere.
func (h *Host) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, fmt.Errorf("dialling from the host %q: %w", h.Name, err)
	}
	err = h.Do(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Listen listens on the host.
func (h *Host) Listen(network, address string) (listener net.Listener, err error) {
	err = h.Do(func() error {
		listener, err = net.Listen(network, address)
		return err
	})
	return listener, err
}

// SetLink plugs the host's cable into the switch, or pulls it.
func (h *Host) SetLink(up bool) error {
	state := "down"
	if up {
		state = "up"
	}
	return run("ip", "-n", h.network.switchName(), "link", "set", h.port(), state)
}

// port is the switch's interface with the host at its other end.
func (h *Host) port() string { return "to-" + h.Name }

// AddAddress gives the host a further address, as "10.77.1.1/32".
func (h *Host) AddAddress(prefix string) error {
	return run("ip", "-n", h.namespace, "addr", "add", prefix, "dev", "lo")
}

// AddRoute tells the host the way to a network, as "10.244.2.0/24".
func (h *Host) AddRoute(prefix string, via netip.Addr) error {
	return run("ip", "-n", h.namespace, "route", "add", prefix, "via", via.String())
}

// Filter puts nft(8) rules into force on the host, beside those it has. A table of its
// own can be taken away by [Host.Unfilter].
func (h *Host) Filter(rules string) error {
	cmd := h.Command(context.Background(), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	return runCommand(cmd)
}

// Unfilter removes a table, as "inet cut".
func (h *Host) Unfilter(table string) error {
	return h.Run("nft", append([]string{"delete", "table"}, strings.Fields(table)...)...)
}

// forward makes the host a router, as a node is one for its pods.
func (h *Host) forward() error {
	return h.Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
	})
}
