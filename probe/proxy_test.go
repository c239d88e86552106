package probe_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"tlsprobe/probe"
)

// TestProxiedTLS asks an https URL through each kind of proxy; the server behind
// it is judged as without.
func TestProxiedTLS(t *testing.T) {
	ca := newCA(t, "proxied")
	server := httptest.NewUnstartedServer(http.HandlerFunc(sendAnswer))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	server.StartTLS()
	defer server.Close()
	config := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	for scheme, accept := range map[string]func(net.Conn) (net.Conn, string){
		"http":   acceptCONNECT,
		"https":  func(c net.Conn) (net.Conn, string) { return acceptCONNECT(tls.Server(c, config)) },
		"socks5": acceptSOCKS,
	} {
		t.Run(scheme, func(t *testing.T) {
			addr := serveProxy(t, accept)
			for trusted, want := range map[string]string{ca.PEM(): "", newCA(t, "another").PEM(): "unknown_authority"} {
				target := edited(target(ca, "http", server.URL, probe.TLSConfig{}), func(p *probe.HTTPProber) {
					p.Proxy.ProxyURL = promconfig.URL{URL: &url.URL{Scheme: scheme, Host: addr}}
				})
				target.Trust.PEM = trusted
				wantVerdict(t, target, want)
			}
		})
	}
}

// serveProxy connects whom it accepts to the address that accept returns.
func serveProxy(t *testing.T, accept func(net.Conn) (net.Conn, string)) string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				client, to := accept(conn)
				server, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer server.Close()
				go func() { io.Copy(client, server); conn.Close() }()
				io.Copy(server, client)
			}()
		}
	}()
	return l.Addr().String()
}

func acceptCONNECT(c net.Conn) (net.Conn, string) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil || req.Method != http.MethodConnect {
		return c, ""
	}
	io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	return c, req.Host
}

// acceptSOCKS takes a client without a password to an IPv4 address (RFC 1928).
func acceptSOCKS(c net.Conn) (net.Conn, string) {
	hello := make([]byte, 3)
	io.ReadFull(c, hello)
	c.Write([]byte{5, 0})
	request := make([]byte, 10)
	io.ReadFull(c, request)
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	port := int(request[8])<<8 | int(request[9])
	return c, net.JoinHostPort(net.IP(request[4:8]).String(), strconv.Itoa(port))
}
