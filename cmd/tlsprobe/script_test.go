package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tlsprobe": main, "bench-target": benchTarget, "bench-control": benchControl})
}

// TestScripts runs the scripts of testdata/script: the manual of the commands, as
// tests. Beside testscript's own commands they have
//
//	peer VAR SCENARIO        run a server of the lab: VAR is its address, HOST its name, ca.pem
//	                         its CA, CERT and KEY what it wants of clients
//	files VAR                serve the script's folder over HTTP; VAR is the URL
//	exits CODE PROGRAM…      run a program, which must exit with this code
//	start NAME PROGRAM…      run a program in the background; its output goes to the file NAME
//	await FILE REGEXP [VAR]  wait until FILE matches; VAR becomes the first group
//	signal NAME SIGNAL       send HUP, INT or TERM to what was started
//	finish NAME CODE TIME    wait until it exits, with this code and within this time
//	get CODE URL             the standard output is what the URL answers, with this status
//	post CODE URL            likewise, by POST
//
// UPDATE_SCRIPTS=1 writes what commands print to the files that cmp compares it to.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NODE_NAME", "node-1")
			env.Values[startedKey] = map[string]*started{}
			peers, err := lab.New()
			env.Values[labKey] = peers
			env.Defer(func() { peers.Close() })
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"peer": peer, "files": files, "exits": exits, "get": request(http.MethodGet), "post": request(http.MethodPost),
			"start": start, "await": await, "signal": signalStarted, "finish": finish,
		},
	})
}

// labKey is where a script keeps its lab.
const labKey = "lab"

// usage fails the script at a command that is not used as its line above says.
func usage(ts *testscript.TestScript, ok bool, how string) {
	if !ok {
		ts.Fatalf("usage: %s", how)
	}
}

func peer(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "peer VAR SCENARIO")
	all := lab.Scenarios()
	i := slices.IndexFunc(all, func(s lab.Scenario) bool { return s.Name == args[1] })
	if i < 0 {
		ts.Fatalf("the lab has no scenario %q", args[1])
	}
	peers := ts.Value(labKey).(*lab.Lab)
	instance, err := peers.Start(all[i])
	ts.Check(err)
	ts.Setenv(args[0], instance.Target.Address)
	ts.Setenv("HOST", instance.Target.ServerName)
	if p, ok := instance.Target.Module.Prober.(*probe.TLSProber); ok {
		ts.Setenv("CERT", p.TLSConfig.CertFile)
		ts.Setenv("KEY", p.TLSConfig.KeyFile)
	}
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), []byte(peers.CA.PEM()), 0o600))
}

func files(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "files VAR")
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs("."))))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "exits CODE PROGRAM…")
	err := ts.Exec(args[1], args[2:]...)
	if got := exitCode(err); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// exitCode returns the code as text, or the error of a program that did not run.
func exitCode(err error) string {
	var exited *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exited):
		return strconv.Itoa(exited.ExitCode())
	}
	return err.Error()
}

func request(method string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		usage(ts, !neg && len(args) == 2, "get|post CODE URL")
		req, err := http.NewRequest(method, args[1], nil)
		ts.Check(err)
		client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		ts.Check(err)
		defer resp.Body.Close()
		_, err = io.Copy(ts.Stdout(), resp.Body)
		ts.Check(err)
		if got := strconv.Itoa(resp.StatusCode); got != args[0] {
			ts.Fatalf("status %s, want %s", got, args[0])
		}
	}
}

// patience bounds every wait for something that must happen.
const patience = 30 * time.Second
