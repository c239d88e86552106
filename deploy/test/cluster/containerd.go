package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const containerdSocket = "/run/containerd/containerd.sock"

// containerdConfig names the sandbox image, the folder of the pod network's settings.
// A machine without CAP_SYS_RESOURCE may not lower anybody's oom_score_adj.
const containerdConfig = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "` + containerdSocket + `"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
`

func (n *Node) startContainerd(ctx context.Context) error {
	config, err := n.write("containerd.toml", fmt.Sprintf(containerdConfig, PeerImage, filepath.Join(n.Dir, "etc", "cni")))
	if err != nil {
		return err
	}
	if n.Containerd, err = n.start("containerd", "containerd", "--config", config); err != nil {
		return err
	}
	return n.until(ctx, n.Containerd, func() error { return n.containerd(ctx, "version") })
}

// containerd asks the node's containerd for something.
func (n *Node) containerd(ctx context.Context, args ...string) error {
	return runCommand(n.Command(ctx, "ctr", append([]string{"--address", containerdSocket, "--namespace", "k8s.io"}, args...)...))
}

// LoadImage gives an image to all nodes, as if they had pulled it.
func (c *Cluster) LoadImage(ctx context.Context, image *Image) error {
	file := filepath.Join(c.Dir, strings.NewReplacer("/", "-", ":", "-").Replace(image.Name)+".tar")
	archive, err := os.Create(file)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	defer archive.Close()
	if err := image.Write(archive); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if err := n.containerd(ctx, "images", "import", file); err != nil {
			return fmt.Errorf("loading the image %q into the node %q: %w", image.Name, n.Name, err)
		}
	}
	return nil
}
