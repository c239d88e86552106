package exporter

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"tlsprobe/probe"
)

// defaultModule is what a target that is no name is probed by when nobody says
// how, as by blackbox_exporter.
const defaultModule = "http_2xx"

// answerAddress answers for an address that is no known target, if the
// configuration allows that.
func (h *Handler) answerAddress(ctx context.Context, q query) (View, error) {
	allow := h.allow()
	if len(allow) == 0 {
		return View{}, refuse(http.StatusForbidden, "no target has the name %q%s, and addresses are not probed on request: %s",
			q.target, meant(h.store.Near(q.target)), howToAllow)
	}
	target, err := h.addressTarget(q)
	if err != nil {
		return View{}, err
	}
	runner := h.runner.Guarded(allow.Guard())
	if q.format == formatMetrics {
		runner = runner.Terse() // of the next scrape's run it is not known that the verdict is the same
	}
	defer h.runner.Forget(target.Name) // nobody comes back to it by this name
	runs := h.runsFor(q)
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s", q.module, q.hostname, q.target, target.Timeout)
	r, err := h.runLive(ctx, runs, key, target, func(ctx context.Context) *probe.Result { return runner.Run(ctx, target) })
	if err != nil {
		return View{}, err
	}
	if err := judgeAddress(q, r); err != nil {
		return View{}, err
	}
	return View{Result: r, Live: true, Age: runs.age(r)}, nil
}

// addressTarget makes a target of what q asks for.
func (h *Handler) addressTarget(q query) (*probe.Target, error) {
	name := q.module
	if name == "" {
		name = defaultModule
	}
	module := h.modules()[name]
	switch {
	case module == nil:
		return nil, refuse(http.StatusBadRequest, "Unknown module %q", name)
	case module.Prober == nil:
		return nil, refuse(http.StatusBadRequest, "module %q has the prober %s, which tlsprobe does not have: keep blackbox_exporter for it",
			name, module.Kind)
	}
	if q.hostname != "" {
		var err error
		if module, err = module.WithHostname(q.hostname); err != nil {
			return nil, refuse(http.StatusBadRequest, "%s", err)
		}
	}
	target := &probe.Target{Name: q.target, Address: q.target, Module: module}
	target.Timeout = patience(q)
	if module.Timeout > 0 {
		target.Timeout = min(target.Timeout, module.Timeout)
	}
	return target, nil
}

// patience is how long q's asker waits if the module says nothing.
func patience(q query) time.Duration {
	const person = 10 * time.Second
	switch {
	case q.timeout > 0:
		return q.timeout
	case q.format == formatMetrics || q.debug:
		return scrapePatience
	}
	return person
}

const howToAllow = "probe_endpoint.allow is empty; to allow it, name the networks and ports there, such as {network: 10.0.0.0/8, ports: [443]}"

// judgeAddress refuses what the guard or the prober refused before anything was
// dialled. A redirect that was refused is an answer: the rest was probed. To a
// scraper an address that cannot be probed is a failed probe, as it is for
// blackbox_exporter.
func judgeAddress(q query, r *probe.Result) error {
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
	switch {
	case worst == nil:
		return nil
	case worst.Reason.ID != "target_misconfigured":
		return refuse(http.StatusForbidden, "%s: %s", worst.Reason.Title, printable(worst.Detail))
	case q.format == formatMetrics || q.debug:
		return nil
	}
	return refuse(http.StatusBadRequest, "%s", printable(worst.Detail))
}
