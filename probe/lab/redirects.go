package lab

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"tlsprobe/probe"
)

// redirectScenarios lead a client astray.
func redirectScenarios() []Scenario {
	return []Scenario{
		{Name: "redirect-self", Summary: "redirects every request to where it came from", Reasons: []string{"redirect_loop"},
			start: func(i *Instance) error { return i.requestAt(http.HandlerFunc(toHTTPS)) }},
		{Name: "redirect-ping-pong", Summary: "redirects http to https, and https to http",
			Reasons: []string{"redirect_loop", "redirect_downgrade"},
			start:   startPingPong},
		{Name: "redirect-circle", Summary: "redirects in a circle of three pages", Reasons: []string{"redirect_loop"},
			start: func(i *Instance) error { return i.requestAt(circle(3)) }},
		{Name: "redirect-cookie", Summary: "sets a cookie and redirects to the same page, which then answers",
			start: func(i *Instance) error { return i.requestAt(http.HandlerFunc(setCookieFirst)) }},
		{Name: "redirect-endless", Summary: "redirects to another page every time", Reasons: []string{"redirect_limit"},
			start: func(i *Instance) error { return i.requestAt(http.HandlerFunc(toNextPage)) }},
		{Name: "redirect-downgrade", Summary: "redirects from https to http", Reasons: []string{"redirect_downgrade"},
			start: startDowngrade},
		{Name: "redirect-missing", Summary: "serves plain http without a redirect to https",
			Reasons: []string{"missing_https_redirect"},
			start:   func(i *Instance) error { return i.requirePlain(http.HandlerFunc(answerOK)) }},
	}
}

// toHTTPS redirects to the https URL of the request, whatever it came by: right
// for a server that sees http, a loop for one that is behind TLS.
func toHTTPS(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "https://"+r.Host+r.URL.RequestURI(), http.StatusMovedPermanently)
}

// circle redirects from page to page of n.
func circle(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/?page=%d", (page(r)+1)%n), http.StatusFound)
	})
}

func toNextPage(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, fmt.Sprintf("/?page=%d", page(r)+1), http.StatusFound)
}

func page(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("page")) // without one it is the first
	return n
}

func setCookieFirst(w http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie("seen"); err == nil {
		answerOK(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Secure: true})
	http.Redirect(w, r, r.URL.RequestURI(), http.StatusFound)
}

func startPingPong(i *Instance) error {
	var plain atomic.Value // the URL of the http side, which is started last
	https, err := i.serveHTTPS(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.Load().(string), http.StatusFound)
	}))
	if err != nil {
		return err
	}
	url, err := i.serveHTTP(http.RedirectHandler(https+"/", http.StatusMovedPermanently))
	plain.Store(url + "/")
	i.Target.Address = url + "/"
	i.Target.Module = httpModule()
	return err
}

func startDowngrade(i *Instance) error {
	plain, err := i.serveHTTP(http.HandlerFunc(answerOK))
	if err != nil {
		return err
	}
	return i.requestAt(http.RedirectHandler(plain+"/", http.StatusFound))
}

// requirePlain serves handler over plain http, to a target that requires https.
func (i *Instance) requirePlain(handler http.Handler) error {
	url, err := i.serveHTTP(handler)
	i.Target.Address = url + "/"
	i.Target.Module = httpModule(func(p *probe.HTTPProber) { p.RequireHTTPS = true })
	return err
}
