package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Kubectl runs kubectl on the control plane host as one who may do everything, and
// returns its output. The error holds what it said on standard error.
func (c *Cluster) Kubectl(args ...string) (string, error) {
	return output(c.kubectl(args...))
}

// Apply creates the objects of a YAML text, or makes them so. Kubernetes keeps their
// status apart: see [Cluster.ApplyStatus].
func (c *Cluster) Apply(yaml string) error {
	return c.feed(yaml, "apply", "--server-side", "--force-conflicts")
}

// ApplyStatus gives objects that exist the status that they have in a YAML text.
func (c *Cluster) ApplyStatus(yaml string) error {
	return c.feed(yaml, "apply", "--server-side", "--force-conflicts", "--subresource=status")
}

// Delete deletes the objects of a YAML text and waits until they are gone. Those
// that do not exist are fine.
func (c *Cluster) Delete(yaml string) error { return c.feed(yaml, "delete", "--ignore-not-found") }

// feed runs kubectl with a text for --filename.
func (c *Cluster) feed(yaml string, args ...string) error {
	cmd := c.kubectl(append(args, "--filename=-")...)
	cmd.Stdin = strings.NewReader(yaml)
	_, err := output(cmd)
	return err
}

func (c *Cluster) kubectl(args ...string) *exec.Cmd {
	return c.ControlPlane.Command(context.Background(), c.Programs.Path("kubectl"), append([]string{"--kubeconfig=" + c.Admin}, args...)...)
}

func output(cmd *exec.Cmd) (string, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// FollowLog writes the log of a pod, from its beginning to its end, to the log of a
// process of this name, which ends with the pod.
func (c *Cluster) FollowLog(namespace, pod, name string) (*Process, error) {
	return c.Processes.Start(name, c.kubectl("logs", "--follow", "--namespace="+namespace, pod))
}
