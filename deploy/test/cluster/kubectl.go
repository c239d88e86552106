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

// Apply creates the objects of a YAML text, or makes them so.
func (c *Cluster) Apply(yaml string) error {
	cmd := c.kubectl("apply", "--server-side", "--force-conflicts", "--filename=-")
	cmd.Stdin = strings.NewReader(yaml)
	_, err := output(cmd)
	return err
}

// Delete deletes the objects of a YAML text and waits until they are gone. Those
// that do not exist are fine.
func (c *Cluster) Delete(yaml string) error {
	cmd := c.kubectl("delete", "--ignore-not-found", "--filename=-")
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
