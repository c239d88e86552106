package kubernetes

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: %q, certificate-authority: ca.crt}}]
users: [{name: me, user: {token: secret}}]
`

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestNewErrors(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	folder := t.TempDir()
	noCA := write(t, filepath.Join(folder, "no-ca"), fmt.Sprintf(kubeconfig, "https://127.0.0.1:1"))
	for _, test := range []struct{ name, kubeconfig, want string }{
		{"not in a pod", "", "outside of one, name a kubeconfig"},
		{"no file", filepath.Join(folder, "none"), "reading the kubeconfig"},
		{"no kubeconfig", write(t, filepath.Join(folder, "text"), "hello"), "reading the kubeconfig"},
		{"no CA", noCA, "ca.crt"},
		{"no server", write(t, filepath.Join(folder, "empty"), "{apiVersion: v1, kind: Config}"), "reading the kubeconfig"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(Config{Kubeconfig: test.kubeconfig})
			if err == nil || !strings.Contains(err.Error(), test.want) || s != nil {
				t.Errorf("New: %v, %v; want an error with %q", s, err, test.want)
			}
		})
	}
}

// TestRun watches through a kubeconfig, over TLS.
func TestRun(t *testing.T) {
	a := newAPIServer(t)
	a.put(t, fmt.Sprintf(node, "a", "10.0.0.1"))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization") + ", " + r.UserAgent(); got != "Bearer secret, tlsprobe" {
			t.Errorf("a request from %s", got)
		}
		a.ServeHTTP(w, r)
	}))
	defer server.Close()
	folder := t.TempDir()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	write(t, filepath.Join(folder, "ca.crt"), ca)
	s, err := New(Config{Kubeconfig: write(t, filepath.Join(folder, "config"), fmt.Sprintf(kubeconfig, server.URL))})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status().Rebuilds != 0 {
		t.Error("a list was made before Run")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var nodes []int
	err = s.Run(ctx, func(c *Cluster) {
		nodes = append(nodes, c.Nodes)
		cancel()
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiff(t, "nodes of the lists", []int{1}, nodes)
	noDiff(t, "CA of the cluster", ca, s.snapshot().clusterCA)
}
