package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestColour runs the command on a terminal: only there verdicts are coloured,
// and not if NO_COLOR asks for none.
func TestColour(t *testing.T) {
	for _, test := range []struct {
		name, env string
		want      bool
	}{
		{"terminal", "NO_COLOR=", true},
		{"NO_COLOR", "NO_COLOR=1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := onTerminal(t, test.env, "probe", "127.0.0.1:1")
			if !strings.Contains(out, "tcp_refused") {
				t.Fatalf("not the expected verdict:\n%s", out)
			}
			if got := strings.Contains(out, "\x1b["); got != test.want {
				t.Errorf("coloured: %v, want %v:\n%q", got, test.want, out)
			}
		})
	}
}

// onTerminal runs tlsprobe with a terminal as its standard output and returns
// what it wrote there.
func onTerminal(t *testing.T, env string, args ...string) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer control.Close()
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tlsprobe", args...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stdout = terminal
	err = cmd.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(control) // ends with EIO when the last writer is gone
	cmd.Wait()                    // a problem was found: the code is not 0
	return string(out)
}
