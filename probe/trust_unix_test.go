//go:build unix

package probe

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A CA file, or a client certificate, on a file system that hangs holds up its
// own targets alone.
func TestHangingFilesHoldUpNoOther(t *testing.T) {
	trusts, pairs := newTrustStore(), newKeypairStore()
	for _, tt := range []struct {
		name string
		load func(file string)
	}{
		{"CA file", func(file string) { trusts.roots(Trust{File: file}) }},
		{"client certificate", func(file string) { pairs.load(file, file) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			hanging := filepath.Join(dir, "hanging.pem")
			if err := syscall.Mkfifo(hanging, 0o600); err != nil {
				t.Fatal(err)
			}
			first := make(chan struct{})
			go func() {
				defer close(first)
				tt.load(hanging)
			}()
			pipe, err := os.OpenFile(hanging, os.O_WRONLY, 0) // waits for the reader
			if err != nil {
				t.Fatal(err)
			}
			other := make(chan struct{})
			go func() {
				defer close(other)
				tt.load(filepath.Join(dir, "missing.pem"))
			}()
			select {
			case <-other:
			case <-time.After(10 * time.Second):
				t.Error("another file is waited for as well")
			}
			os.Remove(hanging) // so that it is not read again
			pipe.Close()
			<-first
			<-other
		})
	}
}
