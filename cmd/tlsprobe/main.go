// Command tlsprobe tells whether the TLS endpoints that a cluster depends on can
// be reached and trusted from this machine, and if not: which reason, what it
// breaks, and what to type next.
//
// Each command has a file of its own, named after it. What they have in common is
// little: package probe finds out, package exporter says it, and the agent
// (agent.go) joins sources, schedule, prober and store. No decision about TLS is
// made here.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
)

func main() {
	if version.Version == "" {
		version.Version = "devel" // the Dockerfile's build sets it, go build and go run do not
	}
	os.Exit(run(os.Args[1:]))
}

// run runs the command that args name and returns the process's exit code.
func run(args []string) int {
	app := kingpin.New("tlsprobe", "tlsprobe tells whether TLS endpoints can be reached and trusted from here, and if not, why.")
	app.UsageWriter(os.Stdout).UsageTemplate(usageTemplate)
	app.Version(version.Print("tlsprobe"))
	app.HelpFlag.Short('h').Help("Show this help.")
	addAgent(app)
	addHub(app)
	addProbe(app)
	addExplain(app)
	addCheckConfig(app)
	addLab(app)

	if len(args) == 0 {
		app.UsageWriter(os.Stderr).Usage(nil)
		return exitTrouble
	}
	return report(parse(app, args))
}

// The exit codes of every command, besides 0.
const (
	exitProblem = 1 // the command did its work, and what it looked at is not well
	exitTrouble = 2 // wrong usage, or trouble of our own
)

// An exit is an error that ends the process with a code of its own. Every other
// error ends it with exitTrouble.
type exit struct {
	code int
	err  error // nil when all has been said already
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// report says what err has to say on standard error and returns the exit code.
func report(err error) int {
	var e *exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		if e.err != nil {
			fmt.Fprintf(os.Stderr, "tlsprobe: %v\n", e.err)
		}
		return e.code
	}
	fmt.Fprintf(os.Stderr, "tlsprobe: %v\n", err)
	fmt.Fprintln(os.Stderr, "help:     tlsprobe --help, tlsprobe <command> --help")
	return exitTrouble
}

// interruptible returns a context that ends when the user or the system asks the
// process to stop. A second signal kills it, as stop gives the signals back.
func interruptible() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
