package cluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// programNames are what the one binary of ../kubernetes is called by.
func programNames() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"}
}

// Programs are Kubernetes' own.
type Programs struct {
	// Tlsprobe is the product's binary, built from this working tree.
	Tlsprobe string
	// Version of Kubernetes, as "v1.36.3".
	Version string

	module string // the folder of the module that they are built from
	built  string // the folder of what was built
	assets string // the folder that KUBEBUILDER_ASSETS names, or ""
}

// Build makes the programs of the module in this folder, and tells log how far it
// is. Kubernetes takes minutes, once: it is kept in the user's cache folder. The
// product goes into dir.
//
// Programs that the folder KUBEBUILDER_ASSETS holds are used as they are.
func Build(ctx context.Context, module, dir string, log io.Writer) (*Programs, error) {
	p := &Programs{module: module, Tlsprobe: filepath.Join(dir, "tlsprobe"), assets: os.Getenv("KUBEBUILDER_ASSETS")}
	version, err := goOutput(ctx, module, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	p.Version = version
	if err := p.buildKubernetes(ctx, module, log); err != nil {
		return nil, fmt.Errorf("building Kubernetes %s: %w", version, err)
	}
	product := goCommand(ctx, filepath.Join(module, "../.."), "build", "-trimpath", "-o", p.Tlsprobe, "./cmd/tlsprobe")
	if err := runCommand(product); err != nil {
		return nil, fmt.Errorf("building the product: %w", err)
	}
	return p, nil
}

// Path returns the file of a program.
func (p *Programs) Path(name string) string {
	if asset := filepath.Join(p.assets, name); p.assets != "" && isFile(asset) {
		return asset
	}
	return filepath.Join(p.built, name)
}

// buildKubernetes makes what the cache does not have. Of several runs at once the
// first builds, and the others wait for it.
func (p *Programs) buildKubernetes(ctx context.Context, module string, log io.Writer) error {
	key, err := cacheKey(ctx, module)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	p.built = filepath.Join(cache, "tlsprobe", "kubernetes-"+p.Version+"-"+key)
	if err := os.MkdirAll(p.built, 0o755); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(p.built, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	binary := filepath.Join(p.built, "kubernetes")
	if isFile(binary) {
		return nil
	}
	fmt.Fprintf(log, "building Kubernetes %s into %s: about 9 minutes on two cores\n", p.Version, p.built)
	if err := compile(ctx, module, p.Version, binary+".new", log); err != nil {
		return err
	}
	for _, name := range programNames() {
		if err := os.Symlink("kubernetes", filepath.Join(p.built, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return os.Rename(binary+".new", binary)
}

// cacheKey changes whenever the binary might.
func cacheKey(ctx context.Context, module string) (string, error) {
	goVersion, err := goOutput(ctx, module, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, goVersion, runtime.GOARCH)
	for _, name := range []string{"go.sum", "kubernetes/main.go"} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %x\n", name, sha256.Sum256(content))
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:6]), nil
}

// compile builds ../kubernetes as a release of this version.
func compile(ctx context.Context, module, version, output string, log io.Writer) error {
	cmd := goCommand(ctx, module, "build", "-v", "-ldflags", versionFlags(version), "-o", output, "./kubernetes")
	progress := newProgress(log, 2400) // packages, standard library included
	defer progress.stop()
	cmd.Stderr = progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, progress.tail())
	}
	return nil
}

// versionFlags makes the programs say which version they are, as Kubernetes' own
// build does. Without, clients and API server take each other for v0.0.0.
func versionFlags(version string) string {
	numbers := strings.Split(strings.TrimPrefix(version, "v"), ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for variable, value := range map[string]string{
			"gitVersion":   version,
			"gitMajor":     numbers[0],
			"gitMinor":     numbers[1],
			"gitTreeState": "clean",
		} {
			flags = append(flags, fmt.Sprintf("-X %s.%s=%s", pkg, variable, value))
		}
	}
	return strings.Join(flags, " ")
}

// goCommand runs go in a module's folder, for programs that need no other file.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return cmd
}

func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := goCommand(ctx, dir, args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// lock waits until no other process has the file locked. The lock ends with unlock or
// with this process.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %q: %w", name, err), file.Close())
	}
	return func() { file.Close() }, nil
}
