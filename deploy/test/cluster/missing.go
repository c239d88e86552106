package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// commands are what the rig calls beside the programs that it builds.
func commands() []string {
	return []string{"ip", "nsenter", "nft", "containerd", "runc", "iptables", "conntrack", "socat", "ethtool", "/usr/lib/cni/bridge"}
}

// Missing says what to do before a cluster can be started here, nil if nothing.
func Missing() error {
	if os.Geteuid() != 0 {
		return errors.New("a cluster needs root, for network namespaces and containers: run the tests by sudo, or with -short to leave them out")
	}
	extendPath()
	var missing []string
	for _, command := range commands() {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, command)
		}
	}
	if missing != nil {
		return fmt.Errorf("a cluster needs the commands %s: run bash .ci/packages, or the tests with -short to leave them out", strings.Join(missing, ", "))
	}
	return nil
}

// extendPath adds the folders that Debian keeps system programs in, which are not
// in the PATH of every root.
func extendPath() {
	path := os.Getenv("PATH")
	for _, folder := range []string{"/usr/sbin", "/sbin"} {
		if !strings.Contains(":"+path+":", ":"+folder+":") {
			path += ":" + folder
		}
	}
	os.Setenv("PATH", path)
}
