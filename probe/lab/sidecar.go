package lab

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Istio's sidecar is Envoy, which is not here. This imitates, on the wire, what
// its inbound listener does in front of a collector that speaks plaintext:
//
//   - STRICT: TLS that demands a client certificate. For all else no filter chain
//     matches, and the connection is closed without a word.
//   - PERMISSIVE: such TLS for clients that offer a protocol of the mesh (ALPN).
//     All else goes on to the workload as it came, other TLS included.

// startSidecar runs the imitation before a receiver, for a target of the otlp
// prober.
func startSidecar(i *Instance, permissive bool, protocol, expect string) error {
	cert, err := i.lab.CA.Issue(func(c *x509.Certificate) {
		c.Subject = pkix.Name{}
		c.DNSNames, c.IPAddresses = nil, nil
		c.URIs = spiffe("monitoring", "otel-collector")
	})
	if err != nil {
		return err
	}
	cfg := withCertificate(cert)
	cfg.ClientAuth = tls.RequireAndVerifyClientCert
	cfg.ClientCAs = x509.NewCertPool()
	cfg.ClientCAs.AddCert(i.lab.CA.Cert)
	i.Target.Module = otlpModule(protocol, expect)
	return i.serveAt(func(c *peerConn) {
		r := bufio.NewReaderSize(c, recordHeader+maxRecord)
		hello, err := peekHello(r)
		if err != nil {
			return
		}
		conn := &oneConn{peerConn: c, r: r, closed: make(chan struct{})}
		switch isTLS := hello[0] == recordHandshake; {
		case isTLS && (!permissive || offersMesh(hello)):
			serveOne(conn, tls.Server(conn, cfg))
		case permissive:
			serveOne(conn, conn)
		}
	})
}

// offersMesh reports whether a ClientHello offers a protocol that only members of
// the mesh do.
func offersMesh(hello []byte) bool {
	var offered []string
	look := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		offered = h.SupportedProtos
		return nil, errors.New("seen")
	}}
	tls.Server(helloConn{Reader: bytes.NewReader(hello)}, look).Handshake()
	return slices.ContainsFunc(offered, func(protocol string) bool { return strings.HasPrefix(protocol, "istio") })
}

// helloConn lets a handshake read a ClientHello and say nothing.
type helloConn struct {
	net.Conn
	io.Reader
}

func (c helloConn) Read(b []byte) (int, error) { return c.Reader.Read(b) }
func (helloConn) Write(b []byte) (int, error)  { return len(b), nil }

// serveOne serves HTTP on what is open on conn until conn is closed.
func serveOne(conn *oneConn, open net.Conn) {
	speaks := h2c()
	speaks.SetHTTP1(true)
	// Envoy logs no handshake that fails.
	server := &http.Server{Handler: receiver(), ErrorLog: log.New(io.Discard, "", 0)}
	if open == net.Conn(conn) {
		server.Protocols = speaks
	}
	server.Serve(&oneListener{conn: conn, open: open})
}

// oneConn is a connection of which the beginning has been read ahead.
type oneConn struct {
	*peerConn
	r      *bufio.Reader
	once   sync.Once
	closed chan struct{}
}

func (c *oneConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func (c *oneConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.peerConn.Close()
}

// oneListener accepts one connection, and then none until that is closed.
type oneListener struct {
	conn *oneConn
	open net.Conn // what stands on conn; nil once accepted
}

func (l *oneListener) Accept() (net.Conn, error) {
	if open := l.open; open != nil {
		l.open = nil
		return open, nil
	}
	<-l.conn.closed
	return nil, net.ErrClosed
}

func (l *oneListener) Close() error   { return nil }
func (l *oneListener) Addr() net.Addr { return l.conn.LocalAddr() }
