package probe_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// A probe must leave no line in the log of the server it probes, whatever it
// thinks of its certificate. A client that judges in the handshake leaves
// "remote error: tls: bad certificate" there, once per probe.

const (
	quietProbes = 1000
	quietName   = "quiet.example"
)

// quietCase is a certificate and the reason that it gives.
type quietCase struct {
	name, reason string
	issue        func(ca, other *lab.CA) (tls.Certificate, error)
}

func named(names ...string) lab.Edit {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

func expired(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
}

var quietCases = []quietCase{
	{"good", "", func(ca, _ *lab.CA) (tls.Certificate, error) { return ca.Issue(named(quietName)) }},
	{"expired", "cert_expired", func(ca, _ *lab.CA) (tls.Certificate, error) { return ca.Issue(named(quietName), expired) }},
	{"wrong name", "hostname_mismatch", func(ca, _ *lab.CA) (tls.Certificate, error) { return ca.Issue(named("other.example")) }},
	{"untrusted", "unknown_authority", func(_, other *lab.CA) (tls.Certificate, error) { return other.Issue(named(quietName)) }},
}

func TestQuietInGoServerLog(t *testing.T) {
	ca, other := newCA(t, "quiet"), newCA(t, "another")
	for _, tt := range quietCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cert, err := tt.issue(ca, other)
			if err != nil {
				t.Fatal(err)
			}
			lines := &lineLog{}
			srv := &http.Server{
				ErrorLog:  log.New(lines, "", 0),
				TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
				Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }),
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() { defer close(served); srv.ServeTLS(l, "", "") }()
			probeQuietly(t, l.Addr().String(), ca.PEM(), tt.reason)
			srv.Close()
			<-served
			if got := lines.String(); got != "" {
				t.Errorf("%d probes left %d lines, the first: %s", 3*quietProbes, strings.Count(got, "\n"), firstLine(got))
			}
		})
	}
}

// probeQuietly probes addr quietProbes times by each prober and demands reason
// each time.
func probeQuietly(t *testing.T, addr, ca, reason string) {
	t.Helper()
	r := probe.NewRunner("n")
	modules := probe.BuiltinModules()
	for _, target := range []*probe.Target{
		{Name: "tls", Address: addr, Module: modules["tls"]},
		{Name: "http", Address: "https://" + addr + "/", Module: modules["http"]},
		{Name: "tcp", Address: addr, Module: modules["tls_connect"]},
	} {
		target.ServerName, target.Trust = quietName, probe.Trust{PEM: ca}
		if err := probeMany(t, r, target, reason); err != nil {
			t.Error(err)
		}
	}
}

func probeMany(t *testing.T, r *probe.Runner, target *probe.Target, reason string) (err error) {
	const atOnce = 8
	var workers sync.WaitGroup
	var once sync.Once
	for range atOnce {
		workers.Go(func() {
			for range quietProbes / atOnce {
				if got := verdict(r.Run(t.Context(), target)); got != reason {
					once.Do(func() { err = fmt.Errorf("%s: verdict %q, want %q", target.Name, got, reason) })
				}
			}
		})
	}
	workers.Wait()
	return err
}

// verdict returns the id of the reason to mend first, "" if all is well.
func verdict(res *probe.Result) string {
	if p := res.Worst(); p != nil {
		return p.Reason.ID
	}
	return ""
}

func newCA(t *testing.T, name string) *lab.CA {
	t.Helper()
	ca, err := lab.NewCA(name)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// lineLog keeps what is logged, by several goroutines.
type lineLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lineLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
