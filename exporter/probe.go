package exporter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"

	"tlsprobe/probe"
)

// probe serves /probe: it runs the target that is asked for, or serves a run
// that ended just now, in the form that is asked for.
func (h *Handler) probe(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r, h.modules())
	if err != nil {
		h.refuse(w, q, err)
		return
	}
	view, err := h.answer(r.Context(), q)
	if err != nil {
		h.refuse(w, q, err)
		return
	}
	h.writeView(w, r, q, view)
}

// answer runs what q asks for, unless there is an answer still fresh.
func (h *Handler) answer(ctx context.Context, q query) (View, error) {
	view, known := h.store.View(q.target)
	switch {
	case known && (q.module == "" || q.module == view.Target.Module.Name):
		return h.answerKnown(ctx, q, view)
	case known && q.target != view.Target.Address:
		return View{}, refuse(http.StatusBadRequest, "target %q is probed by module %q, not %q: leave the parameter module out",
			q.target, view.Target.Module.Name, q.module)
	case h.isMistyped(q):
		return View{}, refuse(http.StatusNotFound, "no target has the name %q%s; /targets lists the names%s",
			q.target, meant(h.store.Near(q.target)), addressHint(q.target))
	}
	return h.answerAddress(ctx, q)
}

// isMistyped reports whether the target, which is not known, is rather a name
// with a mistake than an address: nobody said how to probe it, and addresses are
// not probed anyway or it resembles a name.
func (h *Handler) isMistyped(q query) bool {
	if q.module != "" {
		return false
	}
	return len(h.allow()) == 0 || q.format != formatMetrics && len(h.store.Near(q.target)) > 0
}

// answerKnown answers for a known target, of which view is what the store knows.
func (h *Handler) answerKnown(ctx context.Context, q query, view View) (View, error) {
	if view.Result != nil && view.Age < freshFor && asksSame(view.Result.Target, view.Target) {
		return view, nil
	}
	target := within(q.timeout, view.Target)
	runs := h.runsFor(q)
	key := fmt.Sprintf("%s\x00%s", target.Name, target.Timeout)
	r := runs.fresh(key, target)
	if r == nil {
		var err error
		if r, err = h.runLive(ctx, runs, key, target, func(ctx context.Context) *probe.Result {
			if q.timeout > 0 { // experiments included: a scrape does not wait for them
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, target.Timeout)
				defer cancel()
			}
			return h.runner.Run(ctx, target)
		}); err != nil {
			return View{}, err
		}
		runs.keep(key, r)
	}
	view.Result, view.Live, view.Age = r, true, runs.age(r)
	return view, nil
}

// runsFor returns the runs among which that of q is counted.
func (h *Handler) runsFor(q query) *live {
	if q.format == formatMetrics {
		return h.scraped
	}
	return h.live
}

// within returns t with a timeout of at most timeout.
func within(timeout time.Duration, t *probe.Target) *probe.Target {
	if timeout == 0 || t.Timeout != 0 && t.Timeout <= timeout {
		return t
	}
	hurried := *t
	hurried.Timeout = timeout
	return &hurried
}

func (h *Handler) runLive(ctx context.Context, runs *live, key string, t *probe.Target, run func(context.Context) *probe.Result) (*probe.Result, error) {
	r, err := runs.run(ctx, key, t, run)
	switch {
	case errors.Is(err, errBusy):
		return nil, refuse(http.StatusTooManyRequests, "%d probes run already for those who asked: try again in a second", runs.max)
	case err != nil:
		return nil, refuse(http.StatusServiceUnavailable, "the probe was not waited for: %v", err)
	case r.Invalid != "":
		return nil, refuse(http.StatusServiceUnavailable, "the probe came to no verdict: %s", printable(r.Invalid))
	}
	return r, nil
}

// meant offers names that may have been meant.
func meant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(near, ", "))
}

// addressHint tells those who gave an address how to have it probed.
func addressHint(target string) string {
	if !strings.Contains(target, ":") {
		return ""
	}
	return "; for an address add &module=tls or another module (probe_endpoint.allow must admit it)"
}

// refuse writes err. A scraper gets what blackbox_exporter says, a person what to
// write instead as well.
func (h *Handler) refuse(w http.ResponseWriter, q query, err error) {
	status, text := http.StatusInternalServerError, err.Error()
	var refused *refusal
	if errors.As(err, &refused) {
		status = refused.status
		if q.format == formatMetrics {
			text = refused.text
		}
	}
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, text, status)
}

// writeView writes view in the form that q asks for.
func (h *Handler) writeView(w http.ResponseWriter, r *http.Request, q query, view View) {
	view.Version = h.version
	view.More = "?format=json  ?format=metrics"
	status := http.StatusOK
	if q.strict && !view.Result.OK() {
		status = http.StatusServiceUnavailable
	}
	var body bytes.Buffer
	contentType, err := writeAs(&body, r, q, view)
	if err != nil {
		h.log.Error("an answer could not be written", "target", view.Result.Target.Name, "err", err)
		http.Error(w, "the answer could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	setVerdict(w.Header(), view)
	w.Header().Set("Vary", "Accept")
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(body.Bytes())
}

// setVerdict tells the verdict to those who read no body.
func setVerdict(header http.Header, view View) {
	outcome := "success"
	if !view.Result.OK() {
		outcome = "failure"
	}
	header.Set("X-Probe-Result", outcome)
	if worst := view.Result.Worst(); worst != nil {
		header.Set("X-Probe-Reason", worst.Reason.ID)
	}
	header.Set("X-Probe-Age", fmt.Sprintf("%.1f", view.Age.Seconds()))
}

// probeFormats are what /probe speaks to scrapers: as blackbox_exporter, not
// OpenMetrics.
var probeFormats = []expfmt.Format{expfmt.FmtProtoDelim, expfmt.FmtText}

// writeAs writes view and returns its media type.
func writeAs(body *bytes.Buffer, r *http.Request, q query, view View) (contentType string, err error) {
	switch {
	case q.debug:
		return "text/plain", writeDebug(body, view.Result)
	case q.format == formatJSON:
		return "application/json", WriteJSON(body, view)
	case q.format == formatMetrics:
		f := expfmt.NegotiateAccept(r.Header, probeFormats...)
		return string(f), writeProbeMetrics(body, f, view.Result)
	}
	return "text/plain; charset=utf-8", WriteText(body, view)
}
