package main

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"tlsprobe/probe/discover"
)

// openMode is the line by which an agent answers as blackbox_exporter does to
// anybody's addresses.
const openMode = "\nprobe_endpoint: {allow: any}\n"

// buildBlackbox builds the blackbox_exporter that testdata/blackbox requires.
func buildBlackbox(t testing.TB) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "blackbox_exporter")
	build := exec.Command("go", "build", "-C", "testdata/blackbox", "-o", binary, "github.com/prometheus/blackbox_exporter")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return binary
}

// startBlackbox runs blackbox_exporter with this configuration and returns its URL.
func startBlackbox(t *testing.T, config []byte) (url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "blackbox.yml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(buildBlackbox(t), "--config.file="+file, "--web.listen-address=127.0.0.1:0")
	said, w := io.Pipe()
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		w.Close()
	})
	return "http://" + listeningAt(t, said)
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// listeningAt reads a log until it says where its program listens; what follows
// is thrown away.
func listeningAt(t testing.TB, log io.Reader) string {
	t.Helper()
	var before bytes.Buffer
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if at := listening.FindSubmatch(lines.Bytes()); at != nil {
			go io.Copy(io.Discard, log)
			return string(at[1])
		}
		before.Write(append(lines.Bytes(), '\n'))
	}
	t.Fatalf("the program does not listen:\n%s", before.String())
	return ""
}

// startDropIn runs an agent with the same configuration and the one line that
// opens it, and returns its URL.
func startDropIn(t testing.TB, config []byte) string {
	t.Helper()
	parsed, err := discover.Parse("blackbox.yml", append(bytes.Clone(config), openMode...))
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(agentConfig{log: slog.New(slog.DiscardHandler), node: "node-1", concurrency: 1})
	a.apply(parsed)
	server := httptest.NewServer(a.handler)
	t.Cleanup(server.Close)
	return server.URL
}
