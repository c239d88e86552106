package lab_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"golang.org/x/crypto/ocsp"

	"tlsprobe/probe"
)

// goClient connects to a target as any Go program would, and returns what the
// standard library says of it: the status of the answer, completed for a TLS
// peer, or the error.
func goClient(ctx context.Context, target *probe.Target) string {
	ctx, cancel := context.WithTimeout(ctx, target.Timeout)
	defer cancel()
	var err error
	said := completed
	switch p := target.Module.Prober.(type) {
	case *probe.TLSProber:
		err = dialTLS(ctx, target, clientConfig(target, &p.TLSConfig, p.ALPN))
	case *probe.DNSProber:
		said, err = lookUp(ctx, target, p)
	case *probe.TCPProber:
		err = dialTLS(ctx, target, clientConfig(target, &p.TLSConfig, nil))
	case *probe.GRPCProber:
		err = dialTLS(ctx, target, clientConfig(target, &p.TLSConfig, []string{"h2"}))
	case *probe.OTLPProber:
		err = dialTLS(ctx, target, clientConfig(target, &p.TLSConfig, []string{"h2"}))
	case *probe.QUICProber:
		said, err = dialQUIC(ctx, target.Address, clientConfig(target, &p.TLSConfig, p.ALPN))
	case *probe.HTTPProber:
		if p.EnableHTTP3 {
			host := strings.TrimSuffix(strings.TrimPrefix(target.Address, "https://"), "/")
			said, err = dialQUIC(ctx, host, clientConfig(target, &p.TLSConfig, []string{"h3"}))
			break
		}
		said, err = get(ctx, target.Address, &http.Transport{
			Proxy:             p.Proxy.Proxy(),
			DialContext:       dialer(resolverOf(target)).DialContext,
			TLSClientConfig:   clientConfig(target, &p.TLSConfig, nil),
			DisableKeepAlives: true,
		})
	}
	if err != nil {
		return err.Error()
	}
	return said
}

func clientConfig(target *probe.Target, c *probe.TLSConfig, alpn []string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(target.Trust.PEM))
	cfg := &tls.Config{
		ServerName: target.ServerName,
		RootCAs:    roots,
		NextProtos: alpn,
		MinVersion: uint16(c.MinVersion),
		MaxVersion: uint16(c.MaxVersion),
	}
	if c.CertFile != "" {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
			return &cert, err
		}
	}
	return cfg
}

// dialTLS shakes hands and reads once: only then does a TLS 1.3 server say what
// it thinks of the client's certificate.
func dialTLS(ctx context.Context, target *probe.Target, cfg *tls.Config) error {
	raw, err := dialer(resolverOf(target)).DialContext(ctx, "tcp", target.Address)
	if err != nil {
		return err
	}
	defer raw.Close()
	deadline, _ := ctx.Deadline()
	raw.SetDeadline(deadline)
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(target.Address)
	}
	conn := tls.Client(raw, cfg)
	if err := conn.Handshake(); err != nil {
		return err
	}
	conn.CloseWrite()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return err
	}
	if staple := conn.OCSPResponse(); staple != nil {
		response, err := ocsp.ParseResponse(staple, nil)
		if err != nil {
			return err
		}
		if response.Status == ocsp.Revoked {
			return fmt.Errorf("stapled: revoked at %v", response.RevokedAt)
		}
	}
	return nil
}

// lookUp asks the target for the addresses of the name.
func lookUp(ctx context.Context, target *probe.Target, p *probe.DNSProber) (string, error) {
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if p.DNSOverTLS {
			return (&tls.Dialer{Config: clientConfig(target, &p.TLSConfig, nil)}).DialContext(ctx, "tcp", target.Address)
		}
		return new(net.Dialer).DialContext(ctx, network, target.Address)
	}}
	addrs, err := r.LookupHost(ctx, p.QueryName)
	slices.Sort(addrs) // the order is the machine's
	return fmt.Sprintf("looked up %v", addrs), err
}

// dialQUIC shakes hands over QUIC and waits for a stream, as HTTP/3 has the server
// open one at once.
func dialQUIC(ctx context.Context, address string, cfg *tls.Config) (string, error) {
	udp, err := net.Dial("udp", address)
	if err != nil {
		return "", err
	}
	defer udp.Close()
	transport := &quic.Transport{Conn: connected{udp}}
	defer transport.Close()
	conn, err := transport.Dial(ctx, udp.RemoteAddr(), cfg, nil)
	if err != nil {
		return "", err
	}
	defer conn.CloseWithError(0, "")
	if _, err := conn.AcceptUniStream(ctx); err != nil {
		return "", err
	}
	return completed + " over QUIC", nil
}

// connected is a UDP socket that hears of closed ports.
type connected struct{ net.Conn }

func (c connected) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := c.Read(b)
	return n, c.RemoteAddr(), err
}

func (c connected) WriteTo(b []byte, _ net.Addr) (int, error) { return c.Write(b) }

func (c connected) SetReadBuffer(int) error  { return nil }
func (c connected) SetWriteBuffer(int) error { return nil }

// dialer returns one that looks names up at this DNS server, "" for the machine's.
func dialer(server string) *net.Dialer {
	if server == "" {
		return new(net.Dialer)
	}
	return &net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		},
	}}
}

func get(ctx context.Context, url string, transport *http.Transport) (string, error) {
	client := &http.Client{Transport: transport}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 2<<20))
	if n == 2<<20 {
		return "", errors.New("the body goes on after 2 MiB")
	}
	return resp.Request.URL.Scheme + " " + resp.Status, err
}

// connect opens a connection to a target, or returns nil.
func connect(ctx context.Context, target *probe.Target) net.Conn {
	addr := target.Address
	if u, err := url.Parse(addr); err == nil && u.Host != "" {
		addr = u.Host
	}
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	conn, err := dialer(resolverOf(target)).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil
	}
	return conn
}

// resolverOf returns the DNS server of a target's module.
func resolverOf(target *probe.Target) string {
	switch p := target.Module.Prober.(type) {
	case *probe.TLSProber:
		return p.Resolver
	case *probe.HTTPProber:
		return p.Resolver
	case *probe.GRPCProber:
		return p.Resolver
	case *probe.OTLPProber:
		return p.Resolver
	}
	return ""
}
