package exporter

import (
	"net/http"
	"strconv"
	"strings"

	"tlsprobe/probe"
)

// lastHop returns the hop that was answered last, nil if there was no request.
func lastHop(r *probe.Result) *probe.Hop {
	h := deciding(r).HTTP
	if h == nil || len(h.Hops) == 0 {
		return nil
	}
	return &h.Hops[len(h.Hops)-1]
}

// answer returns the hop whose answer is the target's: blackbox_exporter knows
// none where a redirect leads to a server that does not answer. nil if none.
func answer(r *probe.Result) *probe.Hop {
	hop := lastHop(r)
	if hop == nil || hop.Status == 0 || isRedirect(hop) && !r.OK() && !isStopped(r) {
		return nil
	}
	return hop
}

func isRedirect(hop *probe.Hop) bool {
	switch hop.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return hop.Location != ""
	}
	return false
}

// isStopped reports whether the last redirect was not followed.
func isStopped(r *probe.Result) bool {
	prober, ok := r.Target.Module.Prober.(*probe.HTTPProber)
	return ok && !prober.Follows() || has(deciding(r), "redirect_loop", "redirect_limit", "address_refused")
}

func isHTTP(r *probe.Result) bool { return r.Target.Module.Kind == "http" }

// fillHTTPDuration gives the phase resolve always, and the others once there is
// an address.
func fillHTTPDuration(f *family, r *probe.Result) {
	a := deciding(r)
	if !isHTTP(r) || has(a, "target_misconfigured") {
		return
	}
	if isResolved(r) {
		f.add(a.Phases[probe.PhaseResolve].Seconds(), "resolve")
		if !a.Peer.IsValid() {
			return
		}
	}
	var processing, transfer float64
	if a.HTTP != nil {
		for i := range a.HTTP.Hops {
			processing += a.HTTP.Hops[i].Processing.Seconds()
			transfer += a.HTTP.Hops[i].Transfer.Seconds()
		}
	}
	f.add(a.Phases[probe.PhaseConnect].Seconds(), "connect")
	f.add(processing, "processing")
	f.add(a.Phases[probe.PhaseTLS].Seconds(), "tls")
	f.add(transfer, "transfer")
}

// loopRedirects is how many redirects blackbox_exporter counts in a loop, which
// it does not recognise: those that it follows and the one that it does not.
const loopRedirects = 11

func fillRedirects(f *family, r *probe.Result) {
	switch a := deciding(r); {
	case !isHTTP(r):
	case has(a, "redirect_loop"):
		f.add(loopRedirects)
	case lastHop(r) == nil:
		f.add(0)
	case isRedirect(lastHop(r)):
		f.add(float64(len(a.HTTP.Hops)))
	default:
		f.add(float64(len(a.HTTP.Hops) - 1))
	}
}

func fillHTTPTLS(f *family, r *probe.Result) {
	if isHTTP(r) {
		hop := answer(r)
		f.add(boolean(hop != nil && hop.TLS != nil))
	}
}

func fillStatus(f *family, r *probe.Result) {
	switch hop := answer(r); {
	case !isHTTP(r):
	case hop == nil:
		f.add(0)
	default:
		f.add(float64(hop.Status))
	}
}

// fillBody does not count the body of a redirect that is not followed, which
// blackbox_exporter does not read.
func fillBody(f *family, r *probe.Result) {
	switch hop := answer(r); {
	case !isHTTP(r):
	case hop == nil || isRedirect(hop) && isStopped(r):
		f.add(0)
	default:
		f.add(float64(withinLimit(r, deciding(r).HTTP.Body)))
	}
}

// withinLimit takes off the byte by which we see that a body goes on.
func withinLimit(r *probe.Result, length int64) int64 {
	prober, ok := r.Target.Module.Prober.(*probe.HTTPProber)
	if ok && prober.BodySizeLimit > 0 {
		return min(length, int64(prober.BodySizeLimit))
	}
	return length
}

func fillHTTPVersion(f *family, r *probe.Result) {
	switch hop := answer(r); {
	case !isHTTP(r):
	case hop == nil:
		f.add(0)
	default:
		version, _ := strconv.ParseFloat(strings.TrimPrefix(hop.Proto, "HTTP/"), 64)
		f.add(version)
	}
}

// fillContentLength gives what the answer said, -1 where it did not.
func fillContentLength(f *family, r *probe.Result) {
	switch hop := answer(r); {
	case !isHTTP(r):
	case hop == nil:
		f.add(0)
	default:
		f.add(float64(deciding(r).HTTP.ContentLength))
	}
}

func fillLastModified(f *family, r *probe.Result) {
	if isHTTP(r) && answer(r) != nil && !deciding(r).HTTP.LastModified.IsZero() {
		f.add(unix(deciding(r).HTTP.LastModified))
	}
}

// fillFailedRegexp is there for each probe of http, and for those of tcp that came
// to talk.
func fillFailedRegexp(f *family, r *probe.Result) {
	switch a := deciding(r); {
	case isHTTP(r):
		f.add(boolean(has(a, "http_header_mismatch", "http_body_mismatch")))
	case a.TCP != nil:
		f.add(boolean(a.TCP.MismatchedLine))
	}
}

func fillFailedCEL(f *family, r *probe.Result) {
	p, ok := r.Target.Module.Prober.(*probe.HTTPProber)
	if ok && p.FailIfJSONMatches+p.FailIfJSONNotMatches != "" {
		f.add(boolean(has(deciding(r), "http_cel_mismatch")))
	}
}
