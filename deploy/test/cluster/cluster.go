// Package cluster starts a real Kubernetes on this machine for tests: etcd, an API
// server, and whatever else of a cluster a test wants, each host of it a network
// namespace without a way out.
//
// Nothing in it is a stand-in: the programs are Kubernetes' own and etcd, built from
// their Go modules (programs.go), and Debian's containerd and runc. It needs root and the
// packages that [Missing] names. Start reading at [Start].
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// Addresses in every cluster. Each has a switch of its own, so that two clusters do
// not meet.
const (
	controlPlaneAddress = "10.77.0.10"
	serviceNetwork      = "10.96.0.0/16"
	serverPort          = "6443"
)

// A Config says what is special about a cluster. The zero value of each field but
// Name and Programs is what most tests want.
type Config struct {
	Name     string // short, and unique among the clusters of this process
	Programs *Programs
	// APIServerFlags are further flags of kube-apiserver, as "--v=2". They win over
	// the rig's own.
	APIServerFlags []string
}

// A Cluster is a control plane and the network it is in. Methods that start
// something return when it answers.
type Cluster struct {
	Dir          string // everything that the cluster writes; logs are in Dir/log
	Programs     *Programs
	Processes    *Processes
	Network      *Network
	ControlPlane *Host  // where etcd, the API server and the controllers run
	Server       string // the API server's URL
	PKI          *PKI
	Admin        string // a kubeconfig file that may do everything
	Nodes        []*Node
	DNS          *DNS // nil until StartDNS

	flags     []string
	apiServer *Process
}

// Start starts etcd and an API server. On an error nothing is left behind but the
// logs, which the error quotes.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	c, err := newCluster(config)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the cluster %q: %w", config.Name, err), c.Close())
	}
	return c, nil
}

func newCluster(config Config) (*Cluster, error) {
	if err := Missing(); err != nil {
		return nil, err
	}
	if err := sweep(); err != nil {
		return nil, fmt.Errorf("removing what earlier runs left: %w", err)
	}
	dir, err := os.MkdirTemp("", ownName(config.Name))
	if err != nil {
		return nil, err
	}
	processes, err := NewProcesses(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	network, err := NewNetwork(config.Name)
	if err != nil {
		return nil, err
	}
	return &Cluster{
		Dir:       dir,
		Programs:  config.Programs,
		Processes: processes,
		Network:   network,
		Server:    "https://" + controlPlaneAddress + ":" + serverPort,
		Admin:     filepath.Join(dir, "admin.conf"),
		flags:     config.APIServerFlags,
	}, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.ControlPlane, err = c.Network.AddHost("cp", netip.MustParseAddr(controlPlaneAddress)); err != nil {
		return err
	}
	if c.PKI, err = newPKI(filepath.Join(c.Dir, "pki"), c.ControlPlane.Address); err != nil {
		return err
	}
	if err := c.kubeconfigFor(c.Admin, "kubernetes-admin", "system:masters"); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// Close ends all processes and removes the namespaces and the files.
func (c *Cluster) Close() error {
	var errs []error
	if c.DNS != nil {
		errs = append(errs, c.DNS.close())
	}
	for _, node := range c.Nodes {
		errs = append(errs, node.close())
	}
	c.Processes.Stop()
	return errors.Join(append(errs, c.Network.Close(), os.RemoveAll(c.Dir))...)
}
