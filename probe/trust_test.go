package probe

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEqualFilesKeepTheirNames gives two targets the same CA in two files: a
// verdict names the file, so neither may be given what is remembered of the
// other.
func TestEqualFilesKeepTheirNames(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	leaf := issue(t, issue(t, nil, "another ca", asCA), "x", forDNS(webhook))
	store, cache, dir := newTrustStore(), new(chainCache), t.TempDir()
	for _, name := range []string{"a.crt", "b.crt"} {
		file := filepath.Join(dir, name)
		data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		trusted, err := store.roots(Trust{File: file})
		if err != nil {
			t.Fatal(err)
		}
		if got := cache.judge(ask(webhook, trusted, leaf)).problems[0].Expected; !strings.Contains(got, name) {
			t.Errorf("the verdict by %s speaks of %q", name, got)
		}
	}
}
