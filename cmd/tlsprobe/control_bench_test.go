package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// A benchLoad is what the control is told to do.
type benchLoad struct {
	Peer      benchPeer
	Group     string
	Names     int
	PerSecond int
	HTTPS     bool // one GET by hand, written and read without net/http
}

// benchName is the i-th name of a group.
func benchName(group string, i int) string { return fmt.Sprintf("t%05d.%s.bench.test", i, group) }

// benchControl is the process that the agent is compared with: the least code
// that judges a TLS server honestly, at an even pace. It dials, shakes hands with
// the verification of crypto/tls, closes, and keeps nothing. It reads a benchLoad
// and ends with its standard input.
func benchControl() {
	in := bufio.NewReader(os.Stdin)
	var load benchLoad
	if err := json.NewDecoder(in).Decode(&load); err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(load.Peer.CA))
	var next atomic.Int64
	start := time.Now()
	for range 8 { // kept goroutines have the stack that a handshake needs
		go func() {
			for {
				i := next.Add(1) - 1
				time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(load.PerSecond))))
				if err := load.once(int(i), roots); err != nil {
					panic(err)
				}
			}
		}()
	}
	io.Copy(io.Discard, in)
}

// once is one probe of the control.
func (l *benchLoad) once(i int, roots *x509.CertPool) error {
	name := benchName(l.Group, i%l.Names)
	conn, err := net.Dial("tcp", l.Peer.Addrs[i%len(l.Peer.Addrs)])
	if err != nil {
		return err
	}
	c := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: name})
	defer c.Close()
	if err := c.Handshake(); err != nil || !l.HTTPS {
		return err
	}
	return get(c, name)
}

// get makes one request by hand and reads the answer to its end.
func get(c io.ReadWriter, host string) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	status, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200") {
		return fmt.Errorf("the target answers %q", status)
	}
	_, err = io.Copy(io.Discard, r)
	return err
}
