package cluster

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	namespaces    = "/run/netns"
	switchAddress = "10.77.0.1"
)

// A Network is a switch with hosts, each a network namespace. It has no way to the
// machine's own network. The switch is every host's default gateway.
type Network struct {
	prefix string // of its namespaces' names; holds our process id
	hosts  []*Host
}

// NewNetwork makes a network with nothing but its switch in it. The name is to be
// short, and unique among the networks of this process.
func NewNetwork(name string) (*Network, error) {
	n := &Network{prefix: ownName(name)}
	ns := n.switchName()
	err := inOrder(
		"ip netns add "+ns,
		"ip -n "+ns+" link set lo up",
		"ip -n "+ns+" link add br0 type bridge",
		"ip -n "+ns+" addr add "+switchAddress+"/24 dev br0",
		"ip -n "+ns+" link set br0 up",
	)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Network) switchName() string { return n.prefix + "switch" }

// AddHost adds a host of this address, in 10.77.0.0/24, at its interface eth0.
func (n *Network) AddHost(name string, address netip.Addr) (*Host, error) {
	h := &Host{Name: name, Address: address, namespace: n.prefix + name, network: n}
	sw := n.switchName()
	err := inOrder(
		"ip netns add "+h.namespace,
		"ip -n "+h.namespace+" link set lo up",
		"ip -n "+sw+" link add "+h.port()+" type veth peer name eth0 netns "+h.namespace,
		"ip -n "+sw+" link set "+h.port()+" master br0 up",
		"ip -n "+h.namespace+" addr add "+address.String()+"/24 dev eth0",
		"ip -n "+h.namespace+" link set eth0 up",
		"ip -n "+h.namespace+" route add default via "+switchAddress,
	)
	if err == nil {
		err = h.forward()
	}
	if err != nil {
		return nil, fmt.Errorf("adding the host %q: %w", name, err)
	}
	n.hosts = append(n.hosts, h)
	return h, nil
}

// Close removes the network, and ends what still runs in it.
func (n *Network) Close() error { return removeNamespaces(n.prefix) }

func removeNamespaces(prefix string) error {
	names, err := filepath.Glob(filepath.Join(namespaces, prefix+"*"))
	if err != nil {
		return err
	}
	errs := make([]error, 0, len(names))
	for _, name := range names {
		errs = append(errs, endProcesses(filepath.Base(name)), run("ip", "netns", "del", filepath.Base(name)))
	}
	return errors.Join(errs...)
}

// endProcesses kills what runs in a namespace. Nothing but a rig's children can.
func endProcesses(namespace string) error {
	out, err := exec.Command("ip", "netns", "pids", namespace).Output()
	if err != nil {
		return fmt.Errorf("listing the processes of %q: %w", namespace, err)
	}
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}

// inOrder runs commands without quoting, up to the first that fails.
func inOrder(commands ...string) error {
	for _, command := range commands {
		words := strings.Fields(command)
		if err := run(words[0], words[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command; what it says is in the error.
func run(name string, args ...string) error { return runCommand(exec.Command(name, args...)) }

func runCommand(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
