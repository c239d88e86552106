package exporter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

// writeDebug writes the three blocks of blackbox_exporter's debug=true: what
// happened as log lines, the metrics, and the module.
func writeDebug(w *bytes.Buffer, r *probe.Result) error {
	fmt.Fprintf(w, "Logs for the probe:\n")
	debugLog(w, r)
	fmt.Fprintf(w, "\n\n\nMetrics that would have been returned:\n")
	if err := writeProbeMetrics(w, expfmt.FmtText, r); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n\n\nModule configuration:\n")
	return writeModule(w, r.Target.Module)
}

// debugLog tells r as a log would have told it.
func debugLog(w io.Writer, r *probe.Result) {
	text := slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}).
		WithAttrs([]slog.Attr{slog.String("module", r.Target.Module.Name), slog.String("target", r.Target.Name)})
	say := func(at time.Time, level slog.Level, msg string, args ...any) {
		record := slog.NewRecord(at, level, msg, 0)
		record.Add(args...)
		text.Handle(context.Background(), record) // into memory: it cannot fail
	}
	say(r.Start, slog.LevelDebug, "Beginning probe", "probe", r.Target.Module.Kind, "timeout_seconds", effectiveTimeout(r.Target).Seconds())
	for _, p := range r.Target.Faults {
		debugProblem(&p, p.Reason.Phase, r.Start, say)
	}
	for i := range r.Attempts {
		a := r.Attempts[i]
		a.Problems = r.Found(i)
		debugAttempt(r, &a, say)
	}
	end, took := r.Start.Add(r.Duration), r.Duration.Seconds()
	if r.OK() {
		say(end, slog.LevelDebug, "Probe succeeded", "duration_seconds", took)
	} else {
		say(end, slog.LevelError, "Probe failed", "duration_seconds", took)
	}
}

// debugSay writes a line of the log.
type debugSay func(at time.Time, level slog.Level, msg string, args ...any)

// debugAttempt tells the steps of an attempt, and what was wrong behind each.
func debugAttempt(r *probe.Result, a *probe.Attempt, say debugSay) {
	if a.Via != "" {
		plain := say
		say = func(at time.Time, level slog.Level, msg string, args ...any) {
			plain(at, level, msg, append(args, "via", a.Via)...)
		}
	}
	at := r.Start
	for _, phase := range probe.AllPhases() {
		problems := inPhase(a, phase)
		at = at.Add(a.Phases[phase])
		if a.Phases[phase] > 0 {
			say(at, slog.LevelDebug, "Phase ended", "phase", phase, "peer", a.Peer, "duration_seconds", a.Phases[phase].Seconds(),
				"detail", stepDetail(r, a, phase))
		}
		for _, p := range problems {
			debugProblem(p, phase, at, say)
		}
	}
}

func debugProblem(p *probe.Problem, phase probe.Phase, at time.Time, say debugSay) {
	level := slog.LevelError
	if p.Reason.Severity != probe.Error {
		level = slog.LevelWarn
	}
	say(at, level, p.Reason.Title, "reason", p.Reason.ID, "phase", phase, "detail", p.Detail,
		"notes", strings.Join(p.Notes, "; "), "err", p.Err)
}

// writeModule writes m in the configuration's grammar, without its secrets.
func writeModule(w io.Writer, m *probe.Module) error {
	var node yaml.Node
	if err := node.Encode(map[string]any{"prober": m.Kind, "timeout": m.Timeout.String(), m.Kind: m.Prober}); err != nil {
		return fmt.Errorf("writing module %q: %w", m.Name, err)
	}
	maskSecrets(&node, false)
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(&node); err != nil {
		return fmt.Errorf("writing module %q: %w", m.Name, err)
	}
	return e.Close()
}

// secretKeys are headers and the like whose values are nobody's business; what
// prometheus/common calls a secret masks itself.
var secretKeys = []string{"authorization", "proxy-authorization", "cookie", "x-api-key"}

// maskSecrets replaces the scalars below secret keys, or all of n.
func maskSecrets(n *yaml.Node, all bool) {
	if n.Kind == yaml.ScalarNode && all {
		n.SetString("<secret>")
	}
	for i, child := range n.Content {
		secret := all
		if n.Kind == yaml.MappingNode {
			key := n.Content[i-i%2]
			secret = i%2 == 1 && (all || isSecretKey(key.Value))
		}
		maskSecrets(child, secret)
	}
}

func isSecretKey(key string) bool {
	for _, secret := range secretKeys {
		if strings.EqualFold(key, secret) {
			return true
		}
	}
	return false
}
