package exporter

import (
	"bytes"
	"net/http"
	"time"
)

// listJSON is the form of /targets and /results, described in SCHEMA.md.
type listJSON[T any] struct {
	SchemaVersion int          `json:"schema_version"`
	Node          string       `json:"node,omitempty"`
	Version       string       `json:"version,omitempty"`
	Sources       []sourceJSON `json:"sources,omitempty"`
	Items         []T          `json:"items"`
}

// sourceJSON is where targets come from.
type sourceJSON struct {
	Name    string   `json:"name"`
	Updated string   `json:"updated,omitempty"`
	Age     *seconds `json:"age_seconds,omitempty"`
	Targets int      `json:"targets"`
	Error   string   `json:"error,omitempty"`
}

func newSourceJSON(s Source, now time.Time) sourceJSON {
	out := sourceJSON{Name: s.Name, Targets: s.Targets, Error: errorText(s.Err)}
	if !s.Updated.IsZero() {
		age := seconds(now.Sub(s.Updated))
		out.Updated, out.Age = timestamp(s.Updated), &age
	}
	return out
}

// summaryJSON is a result without its attempts.
type summaryJSON struct {
	Target   string   `json:"target"`
	Status   string   `json:"status"`
	Reason   string   `json:"reason,omitempty"`
	Reasons  []string `json:"reasons"`
	Duration seconds  `json:"duration_seconds"`
	Age      seconds  `json:"age_seconds"`
	Since    string   `json:"since,omitempty"`
	History  string   `json:"history,omitempty"`
}

// listTargets serves /targets: every known target, in order of the names, and how
// old what is known of them is.
func (h *Handler) listTargets(w http.ResponseWriter, _ *http.Request) {
	items := []targetJSON{}
	for _, v := range h.store.Views() {
		items = append(items, newTargetJSON(v.Target))
	}
	var sources []sourceJSON
	for _, s := range h.sources() {
		sources = append(sources, newSourceJSON(s, h.store.now()))
	}
	writeList(h, w, sources, items)
}

// listResults serves /results: what is known of every target, in order of the
// names, without the attempts; /probe?format=json has those.
func (h *Handler) listResults(w http.ResponseWriter, _ *http.Request) {
	items := []summaryJSON{}
	for _, v := range h.store.Views() {
		items = append(items, newSummaryJSON(v))
	}
	writeList(h, w, nil, items)
}

func newSummaryJSON(v View) summaryJSON {
	s := summaryJSON{
		Target:  v.Target.Name,
		Status:  v.status(),
		Reasons: []string{},
		Age:     seconds(v.Age),
		History: strip(v.History),
	}
	if v.Result == nil {
		return s
	}
	s.Duration = seconds(v.Result.Duration)
	s.Since = timestamp(v.Since)
	if worst := v.Result.Worst(); worst != nil {
		s.Reason = worst.Reason.ID
	}
	for _, r := range v.Result.Reasons() {
		s.Reasons = append(s.Reasons, r.ID)
	}
	return s
}

func writeList[T any](h *Handler, w http.ResponseWriter, sources []sourceJSON, items []T) {
	var body bytes.Buffer
	if err := encodeJSON(&body, listJSON[T]{schemaVersion, h.node, h.version, sources, items}); err != nil {
		h.log.Error("a list could not be written", "err", err)
		http.Error(w, "the list could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body.Bytes())
}
