package test

import (
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

func TestRig(t *testing.T) {
	c := startCluster(t, cluster.Config{Name: "rig"})
	if err := c.StartControllers(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := c.Kubectl("version")
	if err != nil || !strings.Contains(out, "Server Version: "+programs.Version) {
		t.Errorf("kubectl version: %v\n%s", err, out)
	}
	t.Log(out)
}
