//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The benchmarks of this package measure whole processes: the agent as it is
// released, the control, and the target that both probe. BENCHMARKS.md in the
// folder probe says how and what came out.

// A process is one that a benchmark has started, and ends with it.
type process struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader // of standard output and standard error
}

func startProcess(b *testing.B, name string, args ...string) *process {
	b.Helper()
	p := &process{b: b, cmd: exec.Command(name, args...)}
	out, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	p.cmd.Stdout, p.cmd.Stderr, p.out = w, w, bufio.NewReader(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		p.in.Close()
		p.cmd.Process.Signal(os.Interrupt)
		p.cmd.Wait()
		out.Close()
	})
	return p
}

// cpu returns the user and system time of all threads so far. The clock of a
// process (clock_getcpuclockid(3)) counts nanoseconds, /proc/PID/stat hundredths
// of a second.
func (p *process) cpu() time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel
	clock := ^p.cmd.Process.Pid<<3 | scheduled
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		p.b.Fatalf("the CPU clock of %s: %v", p.cmd.Path, errno)
	}
	return time.Duration(t.Nano())
}

// resident returns the resident memory in KiB.
func (p *process) resident() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kib float64
			fmt.Sscan(value, &kib)
			return kib
		}
	}
	p.b.Fatalf("%s has no VmRSS", p.cmd.Path)
	return 0
}

// buildAgent builds the command as the Dockerfile does and returns its name.
func buildAgent(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "tlsprobe")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the agent: %v\n%s", err, out)
	}
	return program
}

// A targetProcess is the target of a benchmark.
type targetProcess struct {
	*process
	benchPeer
}

func startTarget(b *testing.B) *targetProcess {
	b.Helper()
	t := &targetProcess{process: startProcess(b, "bench-target")}
	if err := json.NewDecoder(t.out).Decode(&t.benchPeer); err != nil {
		b.Fatal(err)
	}
	return t
}

// arrivals returns those since the last call, in order of their time.
func (t *targetProcess) arrivals() []arrival {
	t.b.Helper()
	resp, err := http.Get(t.Arrivals)
	if err != nil {
		t.b.Fatal(err)
	}
	defer resp.Body.Close()
	var list []arrival
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.b.Fatal(err)
	}
	slices.SortFunc(list, func(a, b arrival) int { return a.At.Compare(b.At) })
	return list
}

// of returns the arrivals of one group.
func of(list []arrival, group string) []arrival {
	return slices.DeleteFunc(slices.Clone(list), func(a arrival) bool { return groupOf(a.Name) != group })
}

// An agentLoad is what an agent is configured to probe.
type agentLoad struct {
	group    string
	prober   string // tls or http
	targets  int
	dead     int // this many more that accept and stay silent
	interval time.Duration
	first    int // number of the first target, to tell lists apart
}

func (l agentLoad) perSecond() int { return int(float64(l.targets) / l.interval.Seconds()) }

// config writes the configuration of l, in the folder of file.
func (l agentLoad) config(t *targetProcess, file string) {
	t.b.Helper()
	ca := filepath.Join(filepath.Dir(file), "ca.pem")
	var text strings.Builder
	fmt.Fprintf(&text, "interval: %s\nmodules:\n  internal: {prober: %s, %[2]s: {tls_config: {ca_file: %q}}}\ntargets:\n", l.interval, l.prober, ca)
	for i := l.first; i < l.first+l.targets+l.dead; i++ {
		address := t.Addrs[i%len(t.Addrs)]
		if i >= l.first+l.targets {
			address = t.Hang
		}
		if l.prober == "http" {
			address = "https://" + address + "/"
		}
		name := benchName(l.group, i)
		fmt.Fprintf(&text, "  - {name: ns-%d/service-%d, address: %q, module: internal, server_name: %s, labels: {namespace: ns-%[1]d, service: service-%d}}\n",
			i%50, i, address, name, i)
	}
	for name, content := range map[string]string{ca: t.CA, file: text.String()} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.b.Fatal(err)
		}
	}
}

// An agentProcess is a running agent.
type agentProcess struct {
	*process
	agentLoad
	file string // its configuration
	url  string // where it serves
}

func startAgent(program string, t *targetProcess, l agentLoad) *agentProcess {
	t.b.Helper()
	a := &agentProcess{agentLoad: l, file: filepath.Join(t.b.TempDir(), "config.yaml")}
	l.config(t, a.file)
	a.process = startProcess(t.b, program, "agent", "--config.file="+a.file, "--web.listen-address=127.0.0.1:0", "--node.name="+l.group)
	for a.url == "" {
		line, err := a.out.ReadString('\n')
		if err != nil {
			t.b.Fatalf("the agent ends with %q: %v", line, err)
		}
		if found := listening.FindStringSubmatch(line); found != nil {
			a.url = "http://" + found[1]
		}
	}
	go io.Copy(io.Discard, a.out)
	return a
}

// startControl starts the control at the pace of l.
func startControl(t *targetProcess, l agentLoad) *process {
	t.b.Helper()
	p := startProcess(t.b, "bench-control")
	load := benchLoad{Peer: t.benchPeer, Group: l.group, Names: l.targets, PerSecond: l.perSecond(), HTTPS: l.prober == "http"}
	if err := json.NewEncoder(p.in).Encode(load); err != nil {
		t.b.Fatal(err)
	}
	return p
}

// scrape returns the agent's metrics.
func (a *agentProcess) scrape() []byte {
	a.b.Helper()
	resp, err := http.Get(a.url + "/metrics")
	if err != nil {
		a.b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		a.b.Fatal(err)
	}
	return text
}

var success = regexp.MustCompile(`(?m)^tlsprobe_success\{.* 1$`)

// checkHealth fails the benchmark if a target that should work does not: then it
// measured something else.
func (a *agentProcess) checkHealth() {
	a.b.Helper()
	if works := len(success.FindAll(a.scrape(), -1)); works != a.targets {
		a.b.Fatalf("%d of %d targets work", works, a.targets)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
