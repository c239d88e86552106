package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBuildsElsewhere builds the command for the systems of the laptops that it
// is used on.
func TestBuildsElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything anew")
	}
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go build for %s: %v\n%s", system, err, out)
		}
	}
}

// TestImage runs the Dockerfile's build command in two folders: the binaries must
// be equal, need no other file of the system, and know their version.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two release binaries")
	}
	file, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	first := buildAs(t, string(file), t.TempDir())
	second := buildAs(t, string(file), t.TempDir())
	if !bytes.Equal(read(t, first), read(t, second)) {
		t.Error("two folders, two different binaries: something of the folder or the time is in them")
	}
	binary, err := elf.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the binary needs %q (%v), and the image holds nothing else", libraries, err)
	}
	out, err := exec.Command(first, "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "tlsprobe, version 1.2.3 (branch: , revision: abc)") {
		t.Errorf("--version: %v\n%s", err, out)
	}
}

// buildCommand is the Dockerfile's RUN go build with its continued lines.
var buildCommand = regexp.MustCompile(`(?m)^RUN ((?:.*\\\n)*.*go build(?:.*\\\n)*.*)$`)

// buildAs copies what dockerfile copies to dir, builds as it does, and returns
// the name of the binary.
func buildAs(t *testing.T, dockerfile, dir string) string {
	t.Helper()
	build := buildCommand.FindStringSubmatch(dockerfile)
	if build == nil {
		t.Fatal("the Dockerfile has no RUN go build")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(dir, name), read(t, "../../"+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cmd", "probe", "exporter"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../"+name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", build[1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=", "VERSION=1.2.3", "REVISION=abc")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build[1], err, out)
	}
	return filepath.Join(dir, "tlsprobe")
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
