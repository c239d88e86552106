package probe

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// http3Time bounds the attempt to reach an advertised HTTP/3: who answers at all
// answers by then.
const http3Time = 2 * time.Second

// checkHTTP3 tries the HTTP/3 that u's answer or its HTTPS record advertises. That
// it fails is the only problem that can come of it: the certificate is judged
// over TCP.
func (w *walk) checkHTTP3(ctx context.Context, u *url.URL, resp *response) {
	hops := w.attempt.HTTP.Hops
	last := &hops[len(hops)-1]
	if u.Scheme != "https" || resp.ProtoMajor == 3 || last.Proxy != "" {
		return // nobody goes through a proxy to HTTP/3
	}
	ctx, cancel := context.WithTimeout(ctx, http3Time)
	defer cancel()
	host, port, ok := advertised(resp.Header)
	if !ok {
		host, port, ok = w.session.resolver.http3Record(ctx, u.Hostname(), portOf(u), w.prober.Resolver)
	}
	if !ok {
		return
	}
	leg := Attempt{Peer: netip.AddrPortFrom(last.Peer.Addr(), port)}
	switch {
	case w.routed(cmp.Or(host, u.Hostname())):
		leg.Peer = w.alongRoute(port)
	case host != "":
		found := w.session.resolve(ctx, endpoint{host, port, w.prober.AddressSettings}, &leg)
		if len(found) > 0 {
			leg.Peer = netip.AddrPortFrom(found[0], port)
		}
	}
	if len(leg.Problems) == 0 {
		if c := w.session.openQUIC(ctx, &leg, w.peer(u), []string{"h3"}); c != nil {
			c.close()
			return
		}
	}
	p := reasonHTTP3Unreachable.problem("%s advertises HTTP/3 at UDP port %d of %s", u.Redacted(), port, cmp.Or(host, leg.Peer.Addr().String()))
	p.Expected, p.Received = "a QUIC handshake", "none"
	if n := len(leg.Problems); n > 0 {
		why := leg.Problems[n-1]
		p.Received, p.Err = why.Reason.ID+": "+why.Detail, why.Err
	}
	w.problem(p)
}

var h3Service = regexp.MustCompile(`(?:^|,)\s*h3="([^"]*)"`)

// advertised returns where an answer says that HTTP/3 is to be had (RFC 7838,
// Section 3). An empty host is the one that answered.
func advertised(h http.Header) (host string, port uint16, ok bool) {
	for _, value := range h.Values("Alt-Svc") {
		found := h3Service.FindStringSubmatch(value)
		if found == nil {
			continue
		}
		host, digits, err := net.SplitHostPort(found[1])
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil && n > 0 {
			return host, uint16(n), true
		}
	}
	return "", 0, false
}
