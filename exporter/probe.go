package exporter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"

	"tlsprobe/probe"
)

// probe serves /probe: it runs the target that is asked for, or serves a run
// that ended just now, in the form that is asked for.
func (h *Handler) probe(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r)
	if err != nil {
		h.refuse(w, err)
		return
	}
	view, err := h.answer(r.Context(), q)
	if err != nil {
		h.refuse(w, err)
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
	case known:
		return View{}, refuse(http.StatusBadRequest, "target %q is probed by module %q, not %q: leave the parameter module out",
			q.target, view.Target.Module.Name, q.module)
	case q.module != "":
		return h.answerAddress(ctx, q)
	}
	return View{}, refuse(http.StatusNotFound, "no target has the name %q%s; /targets lists the names%s",
		q.target, meant(h.store.Near(q.target)), addressHint(q.target))
}

// answerKnown answers for a known target, of which view is what the store knows.
func (h *Handler) answerKnown(ctx context.Context, q query, view View) (View, error) {
	if view.Result != nil && view.Age < freshFor {
		return view, nil
	}
	target := within(q.timeout, view.Target)
	key := fmt.Sprintf("%s\x00%s", target.Name, target.Timeout)
	r := h.live.fresh(key)
	if r == nil || !asksSame(r.Target, target) {
		var err error
		if r, err = h.runLive(ctx, key, h.runner, target); err != nil {
			return View{}, err
		}
		h.live.keep(key, r)
	}
	view.Result, view.Live, view.Age = r, true, h.live.age(r)
	return view, nil
}

// answerAddress answers for an address that is no known target, if the
// configuration allows that.
func (h *Handler) answerAddress(ctx context.Context, q query) (View, error) {
	modules := h.modules()
	module := modules[q.module]
	if module == nil {
		return View{}, refuse(http.StatusBadRequest, "no module has the name %q%s", q.module,
			meant(probe.Nearest(q.module, slices.Sorted(maps.Keys(modules)))))
	}
	allow := h.allow()
	if len(allow) == 0 {
		return View{}, refuse(http.StatusForbidden, "no target has the name %q%s, and addresses are not probed on request: %s",
			q.target, meant(h.store.Near(q.target)), howToAllow)
	}
	const patience = 10 * time.Second // for a module without a timeout of its own
	target := &probe.Target{Name: q.target, Address: q.target, Module: module}
	target.Timeout = patience
	if module.Timeout > 0 {
		target.Timeout = module.Timeout
	}
	target = within(q.timeout, target)
	key := fmt.Sprintf("%s\x00%s\x00%s", q.module, q.target, target.Timeout)
	defer h.runner.Forget(target.Name) // nobody comes back to it by this name
	r, err := h.runLive(ctx, key, h.runner.Guarded(allow.Guard()), target)
	if err != nil {
		return View{}, err
	}
	if err := judgeAddress(r); err != nil {
		return View{}, err
	}
	return View{Result: r, Live: true, Age: h.live.age(r)}, nil
}

const howToAllow = "probe_endpoint.allow is empty; to allow it, name the networks and ports there, such as {network: 10.0.0.0/8, ports: [443]}"

// within returns t with a timeout of at most timeout.
func within(timeout time.Duration, t *probe.Target) *probe.Target {
	if timeout == 0 || t.Timeout != 0 && t.Timeout <= timeout {
		return t
	}
	hurried := *t
	hurried.Timeout = timeout
	return &hurried
}

func (h *Handler) runLive(ctx context.Context, key string, runner *probe.Runner, t *probe.Target) (*probe.Result, error) {
	r, err := h.live.run(ctx, key, func(ctx context.Context) *probe.Result { return runner.Run(ctx, t) })
	switch {
	case errors.Is(err, errBusy):
		return nil, refuse(http.StatusTooManyRequests, "%d probes run already for those who asked: try again in a second", maxLive)
	case err != nil:
		return nil, refuse(http.StatusServiceUnavailable, "the probe was not waited for: %v", err)
	case r.Invalid != "":
		return nil, refuse(http.StatusServiceUnavailable, "the probe came to no verdict: %s", printable(r.Invalid))
	}
	return r, nil
}

// judgeAddress refuses what the guard or the prober refused before anything was
// dialled. A redirect that was refused is an answer: the rest was probed.
func judgeAddress(r *probe.Result) error {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if len(a.Problems) == 0 || a.Local.IsValid() {
			return nil
		}
		if id := a.Problems[0].Reason.ID; id != "address_refused" && id != "target_misconfigured" {
			return nil
		}
	}
	worst := r.Worst()
	if worst == nil {
		return nil
	}
	if worst.Reason.ID == "target_misconfigured" {
		return refuse(http.StatusBadRequest, "%s", printable(worst.Detail))
	}
	return refuse(http.StatusForbidden, "%s: %s", worst.Reason.Title, printable(worst.Detail))
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

func (h *Handler) refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var refused *refusal
	if errors.As(err, &refused) {
		status = refused.status
	}
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, err.Error(), status)
}

// writeView writes view in the form that q asks for.
func (h *Handler) writeView(w http.ResponseWriter, r *http.Request, q query, view View) {
	view.Version = h.version
	view.More = "?format=json  ?format=metrics"
	outcome := "success"
	if worst := view.Result.Worst(); worst != nil {
		w.Header().Set("X-Probe-Reason", worst.Reason.ID)
	}
	status := http.StatusOK
	if !view.Result.OK() {
		outcome = "failure"
		if q.strict {
			status = http.StatusServiceUnavailable
		}
	}
	w.Header().Set("X-Probe-Result", outcome)
	w.Header().Set("X-Probe-Age", fmt.Sprintf("%.1f", view.Age.Seconds()))
	w.Header().Set("Vary", "Accept")
	contentType := "text/plain; charset=utf-8"
	var body bytes.Buffer
	var err error
	switch q.format {
	case formatJSON:
		contentType = "application/json"
		err = WriteJSON(&body, view)
	case formatMetrics:
		f := expfmt.NegotiateAccept(r.Header, metricsFormats...)
		contentType = string(f)
		err = writeProbeMetrics(&body, f, view.Result)
	default:
		err = WriteText(&body, view)
	}
	if err != nil {
		h.log.Error("an answer could not be written", "target", view.Result.Target.Name, "err", err)
		http.Error(w, "the answer could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(body.Bytes())
}
