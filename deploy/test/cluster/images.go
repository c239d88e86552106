package cluster

import (
	"context"
	"path"
	"path/filepath"
)

// PeerImage runs ../peer. It also holds pods together, instead of Kubernetes' own
// pause image.
const PeerImage = "tlsprobe.test/peer:1"

// LoadPeer builds ../peer and gives it to all nodes. None can start a pod before.
func (c *Cluster) LoadPeer(ctx context.Context) error {
	binary := filepath.Join(c.Dir, "peer")
	if err := runCommand(goCommand(ctx, c.Programs.module, "build", "-ldflags=-s -w", "-o", binary, "./peer")); err != nil {
		return err
	}
	return c.LoadImage(ctx, &Image{
		Name:       PeerImage,
		Files:      map[string]string{"/peer": binary},
		User:       "65532:65532",
		Entrypoint: []string{"/peer"},
	})
}

// LoadTlsprobe gives the product to all nodes under this name, as the image that its
// Dockerfile describes.
func (c *Cluster) LoadTlsprobe(ctx context.Context, name string) error {
	image, err := ImageOf(filepath.Join(c.Programs.module, "../../Dockerfile"), name, func(source string) (string, error) {
		if path.Base(source) == "tlsprobe" {
			return c.Programs.Tlsprobe, nil
		}
		return source, nil // Debian's, on this machine as in the image that builds
	})
	if err != nil {
		return err
	}
	return c.LoadImage(ctx, image)
}
