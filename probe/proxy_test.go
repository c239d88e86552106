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

// Experiments would go around a proxy: what ends behind it is left at that, though
// the server itself is well.
func TestNoExperimentAroundProxy(t *testing.T) {
	ca := newCA(t, "proxied")
	server := httptest.NewUnstartedServer(http.HandlerFunc(sendAnswer))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	server.StartTLS()
	defer server.Close()
	addr := listenTCP(t, func(c net.Conn) {
		acceptCONNECT(c)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	})
	wantVerdict(t, edited(target(ca, "http", server.URL, probe.TLSConfig{}), func(p *probe.HTTPProber) {
		p.Proxy.ProxyURL = promconfig.URL{URL: &url.URL{Scheme: "http", Host: addr}}
	}), "eof")
}

// Who goes through a proxy does not go to an HTTP/3 that is advertised.
func TestNoHTTP3AroundProxy(t *testing.T) {
	ca := newCA(t, "proxied")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":9"`)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	server.StartTLS()
	defer server.Close()
	for _, proxied := range []bool{false, true} {
		target := edited(target(ca, "http", server.URL, probe.TLSConfig{}), func(p *probe.HTTPProber) { p.CheckHTTP3 = true })
		want := "http3_unreachable"
		if proxied {
			want = ""
			u := &url.URL{Scheme: "http", Host: serveProxy(t, acceptCONNECT)}
			edited(target, func(p *probe.HTTPProber) { p.Proxy.ProxyURL = promconfig.URL{URL: u} })
		}
		wantVerdict(t, target, want)
	}
}

// serveProxy connects whom it accepts to the address that accept returns.
func serveProxy(t *testing.T, accept func(net.Conn) (net.Conn, string)) string {
	t.Helper()
	return listenTCP(t, func(conn net.Conn) {
		client, to := accept(conn)
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { io.Copy(client, server); conn.Close() }()
		io.Copy(server, client)
	})
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
