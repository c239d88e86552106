//go:build unix

package probe_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// The benchmarks compare the CPU time of a probe with that of the least honest
// code: dial, shake hands, verify, close. The server is a process of its own, so
// that its share does not count. Both arms run in turn, block by block; the
// figure is the median of the blocks' ratios.

const (
	serveEnv  = "TLSPROBE_BENCH_SERVER"
	benchName = "server.example"
	blockSize = 200
)

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// serve is the server's process: it prints its address and its CA, and ends with
// its standard input.
func serve() {
	ca, err := lab.NewCA("bench")
	if err != nil {
		panic(err)
	}
	inter, err := ca.Intermediate("bench intermediate")
	if err != nil {
		panic(err)
	}
	leaf, err := inter.Issue(func(c *x509.Certificate) { c.DNSNames = []string{benchName} })
	if err != nil {
		panic(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{leaf}, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		panic(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }))
	fmt.Printf("%s\n%s\n", l.Addr(), ca.PEM())
	io.Copy(io.Discard, os.Stdin)
}

type server struct {
	addr, ca string
	roots    *x509.CertPool
}

func startServer(b *testing.B) server {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); cmd.Wait() })
	r := bufio.NewReader(stdout)
	addr, err := r.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	var pem strings.Builder
	for !strings.Contains(pem.String(), "-----END") {
		line, err := r.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		pem.WriteString(line)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(pem.String()))
	return server{strings.TrimSpace(addr), pem.String(), roots}
}

func BenchmarkTLS(b *testing.B) {
	s := startServer(b)
	module := probe.BuiltinModules()["tls"]
	compare(b, s.target(s.addr, module), func() error { return s.bare(nil) })
}

func BenchmarkHTTPS(b *testing.B) {
	s := startServer(b)
	compare(b, s.request(false), func() error {
		return s.bare(func(c *tls.Conn) error {
			if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: " + benchName + "\r\nConnection: close\r\n\r\n")); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, c)
			return err
		})
	})
}

// BenchmarkNetHTTP and BenchmarkHTTP2 compare with what most programs do: a
// request of net/http in a fresh connection.
func BenchmarkNetHTTP(b *testing.B) {
	s := startServer(b)
	compare(b, s.request(false), func() error { return s.netHTTP(false) })
}

func BenchmarkHTTP2(b *testing.B) {
	s := startServer(b)
	compare(b, s.request(true), func() error { return s.netHTTP(true) })
}

// request returns a target of the http prober, over HTTP/2 or HTTP/1.1.
func (s server) request(http2 bool) *probe.Target {
	p := probe.NewProber("http").(*probe.HTTPProber)
	p.EnableHTTP2 = http2
	return s.target("https://"+s.addr+"/", &probe.Module{Name: "http", Kind: "http", Prober: p})
}

// netHTTP asks once and leaves nothing open.
func (s server) netHTTP(http2 bool) error {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{ServerName: benchName, RootCAs: s.roots},
		ForceAttemptHTTP2: http2,
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("https://" + s.addr + "/")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (s server) target(address string, m *probe.Module) *probe.Target {
	return &probe.Target{Name: address, Address: address, ServerName: benchName, Module: m, Trust: probe.Trust{PEM: s.ca}}
}

// bare is the control: what any Go program must do to judge a TLS server.
func (s server) bare(use func(*tls.Conn) error) error {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return err
	}
	c := tls.Client(conn, &tls.Config{ServerName: benchName, RootCAs: s.roots})
	defer c.Close()
	if err := c.Handshake(); err != nil {
		return err
	}
	if use != nil {
		return use(c)
	}
	return nil
}

// compare runs blocks of both arms in turn and reports the ratio of their CPU time.
func compare(b *testing.B, target *probe.Target, bare func() error) {
	r := probe.NewRunner("bench")
	ours := func() error {
		if res := r.Run(b.Context(), target); !res.OK() {
			return fmt.Errorf("%s: %s", res.Worst().Reason.ID, res.Worst().Detail)
		}
		return nil
	}
	block(b, bare)
	block(b, ours)
	var ratios []float64
	var spent time.Duration
	for b.Loop() {
		control := block(b, bare)
		cost := block(b, ours)
		ratios = append(ratios, float64(cost)/float64(control))
		spent += cost
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "cpu/bare")
	b.ReportMetric(float64(spent.Microseconds())/float64(len(ratios)*blockSize), "cpu-us/probe")
	b.ReportMetric(0, "ns/op")
}

func block(b *testing.B, arm func() error) time.Duration {
	start := cpuTime(b)
	for range blockSize {
		if err := arm(); err != nil {
			b.Fatal(err)
		}
	}
	return cpuTime(b) - start
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
