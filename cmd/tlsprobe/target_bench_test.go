package main

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"tlsprobe/probe/lab"
)

// A benchPeer is how the benchmarks' target tells where it is. The target is a
// process of its own, so that its CPU time is nobody else's. It answers TLS and
// HTTPS for any name, each with a certificate of its own, as the services of a
// cluster have.
type benchPeer struct {
	Addrs    []string // where it answers; several, for enough free port numbers
	Hang     string   // where it accepts and stays silent
	Arrivals string   // URL of the list of the connections since the last request
	CA       string   // PEM
}

// An arrival is one connection that came as far as to say whom it wants.
type arrival struct {
	At   time.Time // when it was accepted
	Name string    // the name it asked for
}

const (
	benchAddrs = 16
	// groupsOfHTTP2 ends the names of groups to which the target offers HTTP/2.
	groupsOfHTTP2 = "-h2"
)

// benchTarget is the target's process. It prints a benchPeer and ends with its
// standard input.
func benchTarget() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	t, err := newTarget()
	check(err)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(err)
		return l
	}
	var peer benchPeer
	config := &tls.Config{GetCertificate: t.certificate, NextProtos: []string{"http/1.1"}}
	config2 := &tls.Config{GetCertificate: t.certificate, NextProtos: []string{"h2", "http/1.1"}}
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if strings.HasSuffix(groupOf(hello.ServerName), groupsOfHTTP2) {
			return config2, nil
		}
		return nil, nil
	}
	for range benchAddrs {
		l := listen()
		peer.Addrs = append(peer.Addrs, l.Addr().String())
		go http.Serve(tls.NewListener(stamping{l}, config), http.HandlerFunc(answerOK))
	}
	silent := listen()
	go hang(silent)
	control := listen()
	go http.Serve(control, http.HandlerFunc(t.serveArrivals))
	peer.Hang, peer.CA = silent.Addr().String(), t.root.PEM()
	peer.Arrivals = "http://" + control.Addr().String() + "/"
	check(json.NewEncoder(os.Stdout).Encode(peer))
	io.Copy(io.Discard, os.Stdin)
}

func answerOK(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }

func hang(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			io.Copy(io.Discard, c)
			c.Close()
		}()
	}
}

// target makes certificates and keeps arrivals.
type target struct {
	root, inter *lab.CA
	key         crypto.Signer // of every certificate: making keys takes time

	mu       sync.Mutex
	issued   map[string]*tls.Certificate
	arrivals []arrival
}

func newTarget() (*target, error) {
	root, err := lab.NewCA("bench")
	if err != nil {
		return nil, err
	}
	inter, err := root.Intermediate("bench intermediate")
	if err != nil {
		return nil, err
	}
	first, err := inter.Issue()
	if err != nil {
		return nil, err
	}
	return &target{root: root, inter: inter, key: first.PrivateKey.(crypto.Signer), issued: map[string]*tls.Certificate{}}, nil
}

func (t *target) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	at := hello.Conn.(*stamped).at
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrivals = append(t.arrivals, arrival{at, hello.ServerName})
	if known := t.issued[hello.ServerName]; known != nil {
		return known, nil
	}
	cert, err := t.inter.IssueFor(t.key, func(c *x509.Certificate) {
		c.DNSNames = []string{hello.ServerName, hello.ServerName + ".cluster.local"}
	})
	if err == nil {
		t.issued[hello.ServerName] = &cert
	}
	return &cert, err
}

func (t *target) serveArrivals(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	taken := t.arrivals
	t.arrivals = nil
	t.mu.Unlock()
	json.NewEncoder(w).Encode(taken)
}

// stamping is a listener whose connections know when they were accepted.
type stamping struct{ net.Listener }

type stamped struct {
	net.Conn
	at time.Time
}

func (l stamping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &stamped{c, time.Now()}, err
}

// groupOf returns who asked for a name: benchName puts it behind the first dot.
func groupOf(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	group, _, _ := strings.Cut(rest, ".")
	return group
}
