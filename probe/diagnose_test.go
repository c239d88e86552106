package probe_test

import (
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
)

// A failure that does not repeat proves nothing: the experiment that completes
// must not be taken for the cure.
func TestPassingFailureIsNotExplained(t *testing.T) {
	ca := newCA(t, "passing")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n == 0 {
				io.ReadFull(c, make([]byte, 1024)) // closing with unread bytes would be a reset
				c.(*net.TCPConn).CloseWrite()
				continue
			}
			go func() {
				defer c.Close()
				io.Copy(io.Discard, tls.Server(c, cfg))
			}()
		}
	}()
	target := target(ca, "tls", l.Addr().String(), probe.TLSConfig{})
	worst := probe.NewRunner("n").Run(t.Context(), target).Worst()
	if worst == nil || worst.Reason.ID != "eof" {
		t.Fatalf("a connection that is closed once gives %+v, want eof", worst)
	}
	if !slices.ContainsFunc(worst.Notes, func(n string) bool { return strings.Contains(n, "comes and goes") }) {
		t.Errorf("the notes do not say that it comes and goes: %q", worst.Notes)
	}
}
