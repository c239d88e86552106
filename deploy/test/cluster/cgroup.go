package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const cgroups = "/sys/fs/cgroup"

// hierarchies returns the roots of the control groups: one for each controller with
// cgroup v1, a single one with v2 (cgroups(7)).
func hierarchies() []string {
	if _, err := os.Stat(filepath.Join(cgroups, "cgroup.controllers")); err == nil {
		return []string{cgroups}
	}
	roots, _ := filepath.Glob(filepath.Join(cgroups, "*", "cgroup.procs")) // the pattern is right
	for i, file := range roots {
		roots[i] = filepath.Dir(file)
	}
	return roots
}

// makeCgroups makes a control group that a kubelet can take for its root.
func makeCgroups(name string) error {
	for _, root := range hierarchies() {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
		if err := delegate(root, name); err != nil {
			return fmt.Errorf("the control group %q: %w", filepath.Join(root, name), err)
		}
	}
	return nil
}

// delegate gives a control group what it does not inherit by itself.
func delegate(root, name string) error {
	if controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil && root == cgroups {
		enable := "+" + strings.Join(strings.Fields(string(controllers)), " +")
		for _, group := range []string{root, filepath.Join(root, name)} {
			if err := os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte(enable), 0); err != nil {
				return err
			}
		}
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // of v1; empty, no process could be put there
		value, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name, file), value, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cgroupFolders returns the folders of a control group and all below it, the inner
// ones first.
func cgroupFolders(name string) []string {
	var folders []string
	for _, root := range hierarchies() {
		_ = filepath.WalkDir(filepath.Join(root, name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return nil // what is gone is gone
		})
	}
	slices.Reverse(folders)
	return folders
}

// killCgroups kills the processes of a control group until there are none. It is how
// containers are found whatever namespaces they are in.
func killCgroups(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return Until(ctx, func() error {
		left := 0
		for _, folder := range cgroupFolders(name) {
			pids, _ := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
			for _, field := range bytes.Fields(pids) {
				if pid, err := strconv.Atoi(string(field)); err == nil && pid > 0 {
					left++
					_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
				}
			}
		}
		if left > 0 {
			return fmt.Errorf("%d processes of the control group %q do not end", left, name)
		}
		return nil
	})
}

func removeCgroups(name string) error {
	var errs []error
	for _, folder := range cgroupFolders(name) {
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
