package exporter

import (
	"bytes"
	"net/http"
)

// listJSON is the form of /targets and /results, described in SCHEMA.md.
type listJSON[T any] struct {
	SchemaVersion int    `json:"schema_version"`
	Node          string `json:"node,omitempty"`
	Version       string `json:"version,omitempty"`
	Items         []T    `json:"items"`
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

// listTargets serves /targets: every known target, in order of the names.
func (h *Handler) listTargets(w http.ResponseWriter, _ *http.Request) {
	items := []targetJSON{}
	for _, v := range h.store.Views() {
		items = append(items, newTargetJSON(v.Target))
	}
	writeList(h, w, items)
}

// listResults serves /results: what is known of every target, in order of the
// names, without the attempts; /probe?format=json has those.
func (h *Handler) listResults(w http.ResponseWriter, _ *http.Request) {
	items := []summaryJSON{}
	for _, v := range h.store.Views() {
		items = append(items, newSummaryJSON(v))
	}
	writeList(h, w, items)
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

func writeList[T any](h *Handler, w http.ResponseWriter, items []T) {
	var body bytes.Buffer
	if err := encodeJSON(&body, listJSON[T]{schemaVersion, h.node, h.version, items}); err != nil {
		h.log.Error("a list could not be written", "err", err)
		http.Error(w, "the list could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body.Bytes())
}
