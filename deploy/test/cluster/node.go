package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// A Node is a real one: containerd, a kubelet and kube-proxy on a host, with mounts
// and a host name of its own. Its /run, /var/lib and /var/log are the node's alone,
// so that these programs find everything in the places that they are used to.
type Node struct {
	*Host
	Dir        string       // its files: Dir/lib is its /var/lib, Dir/log its /var/log
	PodNetwork netip.Prefix // its pods' addresses
	Containerd *Process
	Kubelet    *Process
	Proxy      *Process

	cluster *Cluster
	cgroup  string   // below which all containers run
	holder  *Process // keeps the mounts
}

// AddNode makes the host a node. It returns when containerd runs and the kubelet and
// kube-proxy are started; [Cluster.WaitForNodes] waits for the rest. It has no images
// but those that are loaded then.
func (c *Cluster) AddNode(ctx context.Context, host *Host, settings KubeletSettings) (*Node, error) {
	n := &Node{
		Host:       host,
		Dir:        filepath.Join(c.Dir, "nodes", host.Name),
		PodNetwork: podNetwork(len(c.Nodes) + 1),
		cluster:    c,
		cgroup:     host.namespace,
	}
	c.Nodes = append(c.Nodes, n) // for Close, whatever comes
	for _, start := range []func(context.Context) error{
		n.hold,
		n.joinPodNetworks,
		n.startContainerd,
		func(context.Context) error { return makeCgroups(n.cgroup) },
		func(ctx context.Context) error { return n.StartKubelet(ctx, settings) },
		n.startProxy,
	} {
		if err := start(ctx); err != nil {
			return nil, fmt.Errorf("starting the node %q: %w", host.Name, err)
		}
	}
	return n, nil
}

// podNetwork is the network of the pods of the cluster's first, second... node.
func podNetwork(number int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(number), 0}), 24)
}

// holdScript makes the node's mounts and host name, and becomes a process that keeps them.
// Nothing mounted there is seen outside, and all of it goes with the last process.
const holdScript = `set -e
hostname "$1"
mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir /run/netns /run/lock
mount --bind "$2/lib" /var/lib
mount --bind "$2/log" /var/log
touch "$2/held"
exec sleep infinity`

func (n *Node) hold(ctx context.Context) error {
	for _, folder := range []string{"lib", "log", "etc"} {
		if err := os.MkdirAll(filepath.Join(n.Dir, folder), 0o755); err != nil {
			return err
		}
	}
	cmd := n.Host.Command(context.WithoutCancel(ctx), "unshare", "--mount", "--uts", "--propagation", "private",
		"sh", "-c", holdScript, "hold", n.Name, n.Dir)
	var err error
	if n.holder, err = n.cluster.Processes.Start(n.Name+"-mounts", cmd); err != nil {
		return err
	}
	return n.until(ctx, n.holder, func() error {
		_, err := os.Stat(filepath.Join(n.Dir, "held"))
		return err
	})
}

// Command is [exec.CommandContext] on the node: in its network, mounts and host name.
func (n *Node) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "nsenter",
		append([]string{"--target=" + strconv.Itoa(n.holder.PID()), "--mount", "--net", "--uts", name}, args...)...)
}

// start starts a program that runs until the node ends.
func (n *Node) start(program, path string, args ...string) (*Process, error) {
	return n.cluster.Processes.Start(n.Name+"-"+program, n.Command(context.Background(), path, args...))
}

// until waits for a condition that the process is to bring about.
func (n *Node) until(ctx context.Context, process *Process, check func() error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-process.Done():
			cancel(process.Err())
		case <-ctx.Done():
		}
	}()
	err := Until(ctx, check)
	if ended := process.Err(); err != nil && ended != nil {
		return ended
	}
	return err
}

// write writes a file of the node's settings and returns its path.
func (n *Node) write(name, content string) (string, error) {
	file := filepath.Join(n.Dir, "etc", name)
	return file, os.WriteFile(file, []byte(content), 0o644)
}

// close ends everything that runs on the node, containers included. The network
// namespace is not the node's to remove.
func (n *Node) close() error {
	for _, process := range []*Process{n.Kubelet, n.Proxy} {
		if process != nil {
			process.Stop()
		}
	}
	err := killCgroups(n.cgroup)
	if n.Containerd != nil {
		n.Containerd.Stop()
	}
	if n.holder != nil {
		n.holder.Kill()
	}
	return errors.Join(err, endProcesses(n.namespace), removeCgroups(n.cgroup))
}

// WaitForNodes waits until the cluster calls all nodes ready.
func (c *Cluster) WaitForNodes(ctx context.Context) error {
	return Until(ctx, func() error {
		for _, n := range c.Nodes {
			ready, err := c.Kubectl("get", "node", n.Name, `--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
			if err == nil && ready != "True" {
				err = fmt.Errorf("the node %q is not ready", n.Name)
			}
			if err != nil {
				return errors.Join(err, n.Kubelet.Err())
			}
		}
		return nil
	})
}
