package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// logChange writes the one line for a change of a target's verdict or reasons.
func (a *agent) logChange(change exporter.Transition) {
	r := change.Result
	attrs := []any{"target", r.Target.Name, "address", r.Target.Address}
	level, msg := slog.LevelInfo, "Target works"
	switch worst := r.Worst(); {
	case worst != nil:
		level, msg = slog.LevelWarn, "Target works, with a warning"
		if !r.OK() {
			msg = "Target fails"
		}
		attrs = append(attrs, "reason", worst.Reason.ID, "phase", worst.Reason.Phase, "detail", worst.Detail)
		if via := failingVia(r); via != "" {
			attrs = append(attrs, "via", via)
		}
		if others := reasonIDs(r)[1:]; len(others) > 0 {
			attrs = append(attrs, "also", strings.Join(others, ","))
		}
	case change.Previous == nil:
		level = slog.LevelDebug // the expected thing, for every target, at every start
	}
	if p := change.Previous; p != nil {
		attrs = append(attrs, "was", verdictOf(p), "since", change.Since)
	}
	a.log.Log(context.Background(), level, msg, attrs...)
}

// failingVia names the routes along which r fails, "" if it has none.
func failingVia(r *probe.Result) string {
	const most = 3
	var names []string
	for _, a := range r.Failing() {
		if a.Via != "" && !slices.Contains(names, a.Via) {
			names = append(names, a.Via)
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// reasonIDs returns the ids of r's reasons, that of its verdict first.
func reasonIDs(r *probe.Result) []string {
	worst := r.Worst()
	if worst == nil {
		return nil
	}
	ids := []string{worst.Reason.ID}
	for _, reason := range r.Reasons() {
		if reason != worst.Reason {
			ids = append(ids, reason.ID)
		}
	}
	return ids
}

// verdictOf returns the id of the reason that r fails or warns for, or "ok".
func verdictOf(r *probe.Result) string {
	if worst := r.Worst(); worst != nil {
		return worst.Reason.ID
	}
	return "ok"
}
