package main

import (
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// startedKey is where a script keeps the programs that it has started, by name.
const startedKey = "started"

// A started program runs beside its script.
type started struct {
	cmd    *exec.Cmd
	exited chan error
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "start NAME PROGRAM…")
	out, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer out.Close()
	p := &started{cmd: exec.Command(args[1], args[2:]...), exited: make(chan error, 1)}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = append(os.Environ(), "NODE_NAME="+ts.Getenv("NODE_NAME"), "TMPDIR="+ts.Getenv("TMPDIR"),
		"GORACE=atexit_sleep_ms=0") // the race detector would hold up each exit by a second
	p.cmd.Stdout, p.cmd.Stderr = out, out
	ts.Check(p.cmd.Start())
	go func() { p.exited <- p.cmd.Wait() }()
	ts.Defer(func() { p.cmd.Process.Kill() })
	ts.Value(startedKey).(map[string]*started)[args[0]] = p
}

func startedAs(ts *testscript.TestScript, name string) *started {
	p := ts.Value(startedKey).(map[string]*started)[name]
	if p == nil {
		ts.Fatalf("nothing was started as %q", name)
	}
	return p
}

// await looks at the file again and again: the program that writes it is another
// process, and offers no event to wait for.
func await(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 2 || len(args) == 3), "await FILE REGEXP [VAR]")
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		found := pattern.FindStringSubmatch(ts.ReadFile(args[0]))
		if found == nil {
			continue
		}
		if len(args) == 3 {
			ts.Setenv(args[2], found[1])
		}
		return
	}
	ts.Fatalf("%s does not come to match %q within %s; it holds\n%s", args[0], args[1], patience, ts.ReadFile(args[0]))
}

func signalStarted(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "signal NAME HUP|INT|TERM")
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "INT": os.Interrupt, "TERM": syscall.SIGTERM}
	ts.Check(startedAs(ts, args[0]).cmd.Process.Signal(signals[args[1]]))
}

func finish(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "finish NAME CODE TIME")
	within, err := time.ParseDuration(args[2])
	ts.Check(err)
	select {
	case err := <-startedAs(ts, args[0]).exited:
		if got := exitCode(err); got != args[1] {
			ts.Fatalf("%s: exit code %s, want %s\n%s", args[0], got, args[1], ts.ReadFile(args[0]))
		}
	case <-time.After(within):
		ts.Fatalf("%s still runs after %s\n%s", args[0], within, ts.ReadFile(args[0]))
	}
}
