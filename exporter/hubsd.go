package exporter

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// An sdGroup is an item of Prometheus's http_sd form
// (https://prometheus.io/docs/prometheus/latest/http_sd/).
type sdGroup struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// serveSD serves /sd: targets by their names, which is what /probe of an agent
// takes, and the rest of them as labels for relabelling. What all nodes have, or
// with node= what that node has.
func (h *Hub) serveSD(w http.ResponseWriter, r *http.Request, l *listing) {
	own, err := l.own(r)
	if err != nil {
		writePlain(w, http.StatusBadRequest, err.Error())
		return
	}
	groups := []sdGroup{}
	for _, t := range slices.Concat(l.Common, own) {
		groups = append(groups, sdGroup{[]string{t.Name}, sdLabels(t)})
	}
	var body bytes.Buffer
	if err := encodeJSON(&body, groups); err != nil {
		h.log.Error("a list could not be written", "err", err)
		http.Error(w, "the list could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body.Bytes())
}

// own returns what the node that r names has beside the common targets.
func (l *listing) own(r *http.Request) ([]*probe.Target, error) {
	node := r.URL.Query().Get("node")
	switch {
	case node == "":
		return nil, nil
	case len(node) > maxNodeName:
		return nil, fmt.Errorf("no node has a name of more than %d bytes", maxNodeName)
	}
	return l.Own(node), nil
}

// sdLabels are those of one target. Prometheus drops what begins with __meta_ once
// it has relabelled.
func sdLabels(t *probe.Target) map[string]string {
	kind, _, _ := strings.Cut(t.Name, "/")
	labels := map[string]string{
		"__meta_tlsprobe_kind":        kind,
		"__meta_tlsprobe_address":     t.Address,
		"__meta_tlsprobe_module":      t.Module.Name,
		"__meta_tlsprobe_server_name": t.ServerName,
	}
	for _, l := range t.Labels {
		labels["__meta_tlsprobe_label_"+l.Name] = l.Value
	}
	return labels
}
