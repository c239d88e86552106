package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// namesPrefix begins the names of all that outlives a process: namespaces, control
// groups, folders. The id of the process that made it follows.
const namesPrefix = "tlsprobe-"

// ownName begins the names of what this process makes for a cluster or a network.
func ownName(of string) string { return fmt.Sprintf(namesPrefix+"%d-%s-", os.Getpid(), of) }

// sweep removes what processes left that were killed before they could: containers
// too, which nobody ends with them.
func sweep() error {
	var errs []error
	for _, name := range abandoned(namespaces) {
		errs = append(errs, removeNamespaces(name))
	}
	for _, name := range abandoned(hierarchies()...) {
		errs = append(errs, killCgroups(name), removeCgroups(name))
	}
	for _, name := range abandoned(os.TempDir()) {
		errs = append(errs, os.RemoveAll(filepath.Join(os.TempDir(), name)))
	}
	return errors.Join(errs...)
}

// abandoned returns the names in these folders whose process is gone, each once.
func abandoned(folders ...string) []string {
	var names []string
	found := map[string]bool{}
	for _, folder := range folders {
		paths, _ := filepath.Glob(filepath.Join(folder, namesPrefix+"[0-9]*")) // the pattern is right
		for _, path := range paths {
			name := filepath.Base(path)
			owner, _, _ := strings.Cut(strings.TrimPrefix(name, namesPrefix), "-")
			if _, err := os.Stat(filepath.Join("/proc", owner)); err == nil || found[name] {
				continue
			}
			found[name] = true
			names = append(names, name)
		}
	}
	return names
}
