package lab_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("closing the lab: %v", err)
		}
	})
	return l
}

func TestScenariosAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range lab.Scenarios() {
		if seen[s.Name] {
			t.Errorf("%q is the name of two scenarios", s.Name)
		}
		seen[s.Name] = true
		if s.Name == "" || s.Summary == "" {
			t.Errorf("scenario %q has no name or summary", s.Name)
		}
		for _, id := range s.Reasons {
			if probe.Lookup(id) == nil {
				t.Errorf("%s expects %q, which is not in the catalogue", s.Name, id)
			}
		}
	}
}

func TestTargetsCanBeScheduled(t *testing.T) {
	l := newLab(t)
	for _, s := range lab.Scenarios() {
		i, err := l.Start(s)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		target := i.Target
		if target.Name != s.Name || target.Address == "" || target.Timeout <= 0 || target.Timeout >= target.Interval {
			t.Errorf("%s: target %+v", s.Name, target)
		}
		if err := target.Module.Prober.Validate(); err != nil {
			t.Errorf("%s: module: %v", s.Name, err)
		}
	}
}

// TestCloseEndsEverything also covers connections that are open when the lab
// closes.
func TestCloseEndsEverything(t *testing.T) {
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range lab.Scenarios() {
		i, err := l.Start(s)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if conn := connect(t.Context(), i.Target); conn != nil {
			defer conn.Close()
			conn.Write([]byte("\x16\x03\x01")) // a record that never ends
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if left := labGoroutines(t); left != "" {
		t.Errorf("goroutines left:\n%s", left)
	}
}

func TestCloseRemovesFiles(t *testing.T) {
	tmp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP"} { // Unix, Windows
		t.Setenv(name, tmp)
	}
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	start(t, l, "good-mtls")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("%d entries left, the first is %s", len(left), left[0].Name())
	}
}

// start runs the scenario of this name.
func start(t *testing.T, l *lab.Lab, name string) *lab.Instance {
	t.Helper()
	for _, s := range lab.Scenarios() {
		if s.Name == name {
			i, err := l.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
	}
	t.Fatalf("no scenario %q", name)
	return nil
}

// labGoroutines returns the stacks of the goroutines that run code of this
// package, once those on their last instructions have had time to end.
func labGoroutines(t *testing.T) string {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		stacks := make([]byte, 1<<22)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = nil
		for _, stack := range strings.Split(string(stacks), "\n\n")[1:] {
			if strings.Contains(stack, "tlsprobe/probe/lab.") || strings.Contains(stack, "net/http.(*conn)") {
				left = append(left, stack)
			}
		}
		if left == nil {
			return ""
		}
	}
	return strings.Join(left, "\n\n")
}

// A client may send before it has read that the tunnel is open: the proxy hands
// that on, too.
func TestTunnelKeepsWhatComesEarly(t *testing.T) {
	l := newLab(t)
	all := lab.Scenarios()
	i, err := l.Start(all[slices.IndexFunc(all, func(s lab.Scenario) bool { return s.Name == "proxy-good" })])
	if err != nil {
		t.Fatal(err)
	}
	server := strings.TrimSuffix(strings.TrimPrefix(i.Target.Address, "https://"), "/")
	conn, err := net.Dial("tcp", i.Target.Module.Prober.(*probe.HTTPProber).Proxy.ProxyURL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\nGET / HTTP/1.0\r\n\r\n", server)
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), "Client sent an HTTP request to an HTTPS server") {
		t.Errorf("the server answers %q, %v", answer, err)
	}
}
