// Package test tries tlsprobe on real Kubernetes. The product takes part as its
// binary alone, as in a cluster.
package test

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// programs are built once, before the first test.
var programs *cluster.Programs

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("no cluster is started with -short: its tests are not run")
		os.Exit(m.Run())
	}
	os.Exit(runWithPrograms(m))
}

func runWithPrograms(m *testing.M) int {
	if err := cluster.Missing(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Package cluster removes folders of such names if this process cannot.
	dir, err := os.MkdirTemp("", fmt.Sprintf("tlsprobe-%d-programs-", os.Getpid()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs, err = cluster.Build(context.Background(), ".", dir, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := closeNodes(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// startCluster starts a control plane for the test. With -short the test is reported
// as skipped.
func startCluster(t *testing.T, config cluster.Config) *cluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	config.Programs = programs
	c, err := cluster.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// addHost adds a host to the cluster's network.
func addHost(t *testing.T, c *cluster.Cluster, name, address string) *cluster.Host {
	t.Helper()
	host, err := c.Network.AddHost(name, netip.MustParseAddr(address))
	if err != nil {
		t.Fatal(err)
	}
	return host
}
