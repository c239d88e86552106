package probe

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// plainTime bounds the question whether plain http is served: who answers at all
// answers by then, and a firewall that drops it must not take long.
const plainTime = 2 * time.Second

// checkPlain asks the host that was probed for its target over plain http, and makes
// it a problem if that is served. A redirect to another host is up to that host.
func (w *walk) checkPlain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, plainTime)
	defer cancel()
	u := w.plainURL()
	addr := netip.AddrPortFrom(w.attempt.Peer.Addr(), w.prober.HTTPPort)
	// Its home is the target's: what is meant for TLS is not sent.
	aside := &walk{prober: w.prober, session: w.session, attempt: &Attempt{Peer: addr, HTTP: &HTTP{}}, home: w.home}
	resp := aside.hop(ctx, http.MethodGet, u, addr)
	if resp == nil || !serves(resp.StatusCode) {
		return
	}
	if next := location(u, resp); next == nil || next.Scheme == "http" && w.isOwn(next.Hostname()) {
		w.problem(missingRedirect(u, resp))
	}
}

// plainURL is the target's URL over plain http.
func (w *walk) plainURL() *url.URL {
	u := *w.home
	u.Scheme = "http"
	u.Host = strings.TrimSuffix(net.JoinHostPort(w.home.Hostname(), strconv.Itoa(int(w.prober.HTTPPort))), ":80")
	return &u
}

// serves reports whether an answer with this status comes from what the host is
// for, as far as a status tells: one that asks for a password does.
func serves(status int) bool {
	return status < 400 || status == http.StatusUnauthorized || status == http.StatusForbidden
}
