package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// walk follows the redirects of one attempt. Our own code does, not net/http's
// client: each hop is judged, each address asked of the guard, and a loop is
// told from a long way.
type walk struct {
	prober  *HTTPProber
	session *session
	attempt *Attempt
	visited map[string]int // request, as key says -> its hop
	cookies *cookiejar.Jar // nil until a redirect sets a cookie
	home    *url.URL       // of the first hop

	// Of an ACME challenge: whether the key was read, what was read at its end, and
	// whether that is an answer for the token.
	keyRead      bool
	read         string
	otherAccount bool
}

// follow sends the first request to u and goes where the answers lead.
func (w *walk) follow(ctx context.Context, u *url.URL) {
	w.home = u
	w.attempt.HTTP = &HTTP{}
	method := w.prober.Method
	addr := w.attempt.Peer
	for n := 0; ; n++ {
		w.visited[w.key(method, u)] = n
		resp := w.hop(ctx, method, u, addr)
		if resp == nil {
			break
		}
		next := location(u, resp)
		if next == nil || !w.follows(next) {
			w.arrive(ctx, u, resp, next)
			break
		}
		w.keepCookies(u, resp)
		method = methodAfter(resp.StatusCode, method)
		if !w.mayGoOn(n, method, u, next) {
			break
		}
		if addr = w.resolve(ctx, next); !addr.IsValid() {
			break
		}
		u = next
	}
	if len(w.attempt.HTTP.Hops) == 0 {
		w.attempt.HTTP = nil
	}
}

// follows reports whether the settings allow to follow a redirect to next.
func (w *walk) follows(next *url.URL) bool {
	return w.prober.Follows() && (!w.prober.SameHost || w.isOwn(next.Hostname()))
}

// arrive judges the last answer. next is where it would lead on, nil if nowhere.
func (w *walk) arrive(ctx context.Context, u *url.URL, resp *response, next *url.URL) {
	if w.prober.ACMEKey != "" {
		w.readKey(resp)
	}
	reached := u
	if next != nil {
		reached = next
	}
	if w.prober.RequireHTTPS && reached.Scheme == "http" {
		w.problem(missingRedirect(u, resp))
	}
	if resp.says != nil {
		w.problem(Problem{
			Reason:   resp.says,
			Detail:   fmt.Sprintf("%s says so in an error page", u.Redacted()),
			Received: fmt.Sprintf("status %d: %s", resp.StatusCode, resp.excerpt),
		})
		return
	}
	redirected := next != nil && len(w.prober.ValidStatusCodes) == 0 && w.prober.RequireHTTPS
	if !w.prober.statusOK(resp.StatusCode) && !redirected {
		w.problem(Problem{
			Reason:   reasonHTTPStatus,
			Detail:   fmt.Sprintf("%s answered %s", u.Redacted(), resp.Status),
			Expected: w.prober.expectedStatus(),
			Received: "status " + resp.Status,
		})
	}
	hops := w.attempt.HTTP.Hops
	for _, p := range w.prober.judge(w.session.programs, &hops[len(hops)-1], resp) {
		w.problem(p)
	}
	if w.prober.CheckHTTP3 {
		w.checkHTTP3(ctx, u, resp)
	}
}

func missingRedirect(u *url.URL, resp *response) Problem {
	return Problem{
		Reason:   reasonMissingHTTPSRedirect,
		Detail:   fmt.Sprintf("%s is served over plain http", u.Redacted()),
		Expected: "a redirect to https",
		Received: fmt.Sprintf("status %d", resp.StatusCode),
	}
}

// mayGoOn judges the redirect from u to next, which the nth hop answered.
func (w *walk) mayGoOn(n int, method string, u, next *url.URL) bool {
	if u.Scheme == "https" && next.Scheme == "http" && w.prober.ACMEKey == "" && !w.has(reasonRedirectDowngrade) {
		w.problem(Problem{
			Reason:   reasonRedirectDowngrade,
			Detail:   fmt.Sprintf("%s redirects to %s", u.Redacted(), next.Redacted()),
			Expected: "https all the way",
			Received: "a redirect to http",
		})
	}
	if first, seen := w.visited[w.key(method, next)]; seen {
		w.problem(loopProblem(w.attempt.HTTP.Hops, first))
		return false
	}
	if n >= w.prober.MaxRedirects {
		w.problem(reasonRedirectLimit.problem("%d redirects, each to another URL; the last leads to %s",
			n+1, next.Redacted()))
		return false
	}
	return true
}

// loopProblem describes the cycle that closes at hop number first. It is the
// first thing to mend, so it goes before a downgrade on the way.
func loopProblem(hops []Hop, first int) Problem {
	last := len(hops) - 1
	p := Problem{Reason: reasonRedirectLoop, Expected: "an answer that is no redirect"}
	p.Received = fmt.Sprintf("status %d, Location: %s", hops[last].Status, hops[last].Location)
	switch {
	case first == last:
		p.Detail = fmt.Sprintf("%s redirects to itself", hops[last].URL)
	default:
		p.Detail = fmt.Sprintf("hop %d, %s, leads back to hop %d, %s", last+1, hops[last].URL, first+1, hops[first].URL)
	}
	if crossesSchemes(hops[first:]) {
		p.Notes = append(p.Notes, "the cycle goes back and forth between http and https: two places disagree on who redirects")
	}
	return p
}

func crossesSchemes(hops []Hop) bool {
	secure := func(h Hop) bool { return strings.HasPrefix(h.URL, "https:") }
	return slices.ContainsFunc(hops, func(h Hop) bool { return secure(h) != secure(hops[0]) })
}

// problem adds p: a loop before what was noticed on the way to it.
func (w *walk) problem(p Problem) {
	at := len(w.attempt.Problems)
	if p.Reason == reasonRedirectLoop {
		at = 0
	}
	w.attempt.Problems = slices.Insert(w.attempt.Problems, at, p)
}

func (w *walk) has(r *Reason) bool {
	return slices.ContainsFunc(w.attempt.Problems, func(p Problem) bool { return p.Reason == r })
}

// resolve finds the one address at which a redirect is followed. A route leads to
// the target's own host whatever its name resolves to, as curl's --connect-to does.
func (w *walk) resolve(ctx context.Context, u *url.URL) netip.AddrPort {
	if w.routed(u.Hostname()) {
		return w.alongRoute(portOf(u))
	}
	lookedUp, err := w.prober.lookedUp(u)
	if err != nil {
		w.problem(reasonTargetMisconfigured.because(err))
		return netip.AddrPort{}
	}
	at := endpoint{lookedUp.Hostname(), portOf(lookedUp), w.prober.AddressSettings}
	at.addresses.Addresses = "first"
	addrs := w.session.resolve(ctx, at, w.attempt)
	if len(addrs) == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addrs[0], at.port)
}

// key identifies a request: the same one twice is a loop. Cookies count, as a
// site may set one and send the client back to where it was.
func (w *walk) key(method string, u *url.URL) string {
	key := method + " " + u.String()
	for _, c := range w.cookiesFor(u) {
		key += "\n" + c.String()
	}
	return key
}

func (w *walk) cookiesFor(u *url.URL) []*http.Cookie {
	if w.cookies == nil {
		return nil
	}
	return w.cookies.Cookies(u)
}

func (w *walk) keepCookies(u *url.URL, resp *response) {
	set := resp.Cookies()
	if len(set) == 0 {
		return
	}
	if w.cookies == nil {
		w.cookies, _ = cookiejar.New(nil) // never fails
	}
	w.cookies.SetCookies(u, set)
}

// atHome reports whether u is the target's own, and as safe as it: what is meant
// for TLS is not sent in the clear.
func (w *walk) atHome(u *url.URL) bool {
	return u.Host == w.home.Host && (u.Scheme == "https" || w.home.Scheme == "http")
}

// location returns where a redirect leads, nil if resp is none (RFC 9110,
// Section 15.4) or leads to what is not http.
func location(from *url.URL, resp *response) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	to, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil
	}
	to.Fragment = ""
	if to, err = parseURL(to.String()); err != nil {
		return nil
	}
	return to
}

// methodAfter returns the method of the request that follows a redirect, as
// browsers choose it (RFC 9110, Sections 15.4.2 to 15.4.4).
func methodAfter(status int, method string) string {
	if method == http.MethodHead || method == http.MethodGet {
		return method
	}
	if status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect {
		return method
	}
	return http.MethodGet
}
