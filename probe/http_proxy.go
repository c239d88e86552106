package probe

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	promconfig "github.com/prometheus/common/config"
	socks "golang.org/x/net/proxy"
)

// ProxySettings say which proxy requests go through. The grammar is Prometheus's.
type ProxySettings struct {
	Proxy promconfig.ProxyConfig `yaml:",inline"`
	// SkipResolvePhase leaves the lookup of the target's name to the proxy. Else
	// the proxy is told the address.
	SkipResolvePhase bool `yaml:"skip_resolve_phase_with_proxy,omitempty"`
}

func (s *ProxySettings) validate() error {
	if err := s.Proxy.Validate(); err != nil {
		return settingErrorf("proxy_url", "%v", err)
	}
	u := s.Proxy.ProxyURL.URL
	if !s.UsesProxy() || s.Proxy.ProxyFromEnvironment {
		return nil
	}
	if defaultPorts[u.Scheme] == 0 || u.Hostname() == "" || portOf(u) == 0 {
		return settingErrorf("proxy_url", "%q is no proxy: write http://host:port, https://host:port or socks5://host:port", u.Redacted())
	}
	return nil
}

// UsesProxy reports whether there is a proxy, for some URLs at least.
func (s *ProxySettings) UsesProxy() bool {
	return s.Proxy.ProxyFromEnvironment || s.Proxy.ProxyURL.URL != nil && s.Proxy.ProxyURL.String() != ""
}

// proxyFor returns the proxy for u, nil if there is none.
func (s *ProxySettings) proxyFor(u *url.URL) (*url.URL, error) {
	if !s.UsesProxy() {
		return nil, nil
	}
	own := s.Proxy // Proxy keeps what it makes
	return own.Proxy()(&http.Request{URL: u})
}

// LooksUp reports whether the names of targets are looked up here, and not by a
// proxy.
func (s *ProxySettings) LooksUp() bool { return !s.SkipResolvePhase || !s.UsesProxy() }

// lookedUp returns the URL whose host is looked up in order to ask u.
func (s *ProxySettings) lookedUp(u *url.URL) (*url.URL, error) {
	if !s.SkipResolvePhase {
		return u, nil
	}
	via, err := s.proxyFor(u)
	if err != nil || via == nil {
		return u, err
	}
	return via, nil
}

var errRoutesThroughProxy = errors.New("routes say where to dial, and a proxy dials itself: remove one of the two")

// dialProxy connects to the proxy via, in place of leg's peer. nil says that
// there is no connection, and a problem of leg says why.
func (w *walk) dialProxy(ctx context.Context, via *url.URL, leg *Attempt) (net.Conn, func()) {
	addr := leg.Peer
	if !w.prober.SkipResolvePhase {
		if guard := w.session.guard; guard != nil {
			if err := guard(leg.Peer); err != nil {
				leg.Problems = append(leg.Problems, classify(newEvidence(PhaseConnect, &refusedError{leg.Peer, err}, nil)))
				return nil, nil
			}
		}
		found := w.session.resolve(ctx, endpoint{via.Hostname(), portOf(via), defaultAddresses()}, leg)
		if len(found) == 0 {
			return nil, nil
		}
		addr = netip.AddrPortFrom(found[0], portOf(via))
	}
	start := time.Now()
	tcp, release, err := w.session.dial(ctx, addr, 0)
	leg.Phases[PhaseConnect] += time.Since(start)
	if err != nil {
		p := classify(newEvidence(PhaseConnect, err, nil))
		p.Notes = append(p.Notes, "at the proxy "+via.Redacted())
		leg.Problems = append(leg.Problems, p)
		return nil, nil
	}
	leg.Local = localOf(tcp)
	if via.Scheme == "https" {
		return w.secureProxy(tcp, release, via, leg)
	}
	return tcp, release
}

// secureProxy shakes hands with a proxy, which is judged like the target.
func (w *walk) secureProxy(tcp net.Conn, release func(), via *url.URL, leg *Attempt) (net.Conn, func()) {
	p := w.session.peerOf(&w.prober.TLSConfig, via.Hostname())
	p.name = via.Hostname()
	own := Attempt{Peer: leg.Peer}
	h, trusted, ok := w.session.prepare(&own, p, []string{"http/1.1"})
	var c *conn
	if ok {
		var ended *Evidence
		c, ended = shakeHands(tcp, release, h)
		c = w.session.settle(&own, p, trusted, c, ended)
	}
	for _, problem := range own.Problems {
		problem.Notes = append(problem.Notes, "at the proxy "+via.Redacted())
		leg.Problems = append(leg.Problems, problem)
	}
	switch {
	case c == nil && !ok:
		release()
		tcp.Close()
		return nil, nil
	case c == nil:
		return nil, nil
	case !onlyWarnings(own.Problems):
		c.close()
		return nil, nil
	}
	return c, release
}

// tunnel asks the proxy for a connection to the server of u, whose address leg
// has, and returns it.
func (w *walk) tunnel(proxied net.Conn, via, u *url.URL, leg *Attempt) (net.Conn, error) {
	to := leg.Peer.String()
	if w.prober.SkipResolvePhase {
		to = net.JoinHostPort(u.Hostname(), fmt.Sprint(portOf(u)))
	}
	start := time.Now()
	defer func() { leg.Phases[PhaseConnect] += time.Since(start) }()
	if via.Scheme == "socks5" || via.Scheme == "socks5h" {
		return throughSOCKS(proxied, via, to)
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	for name, values := range w.prober.Proxy.ProxyConnectHeader.HTTPHeader() {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	authorizeProxy(req, via)
	req.Header.Set("User-Agent", userAgent)
	if err := req.Write(proxied); err != nil {
		return nil, err
	}
	// The server of the tunnel does not speak before us, so nothing of it is lost
	// in the buffer.
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(proxied, maxHeaderBytes)), req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy answers %s", resp.Status)
	}
	return proxied, nil
}

// authorizeProxy sends the user of the proxy's URL along.
func authorizeProxy(req *http.Request, via *url.URL) {
	if via.User == nil || req.Header.Get("Proxy-Authorization") != "" {
		return
	}
	password, _ := via.User.Password()
	pair := via.User.Username() + ":" + password
	req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
}

// throughSOCKS speaks SOCKS 5 on an open connection (RFC 1928), which has its
// deadline already: the library would take it off behind its own.
func throughSOCKS(proxied net.Conn, via *url.URL, to string) (net.Conn, error) {
	var auth *socks.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &socks.Auth{User: via.User.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5("tcp", via.Host, auth, opened{proxied})
	if err != nil {
		return nil, err
	}
	return dialer.Dial("tcp", to)
}

// opened is a dialer of a connection that is open already.
type opened struct{ net.Conn }

// Dial implements [socks.Dialer].
func (o opened) Dial(string, string) (net.Conn, error) { return o.Conn, nil }
