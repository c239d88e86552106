package exporter

import (
	dto "github.com/prometheus/client_model/go"
)

// A metric is a row of the table of what /metrics serves.
type metric struct {
	name   string
	kind   dto.MetricType
	labels []string
	help   string // HELP, and the text of METRICS.md

	// fill adds the series; nil for what a registry keeps, see [meters].
	fill func(*family, *snapshot)
}

const (
	gauge     = dto.MetricType_GAUGE
	counter   = dto.MetricType_COUNTER
	histogram = dto.MetricType_HISTOGRAM
)

// metricTable describes the metrics of an agent, in order of the names, but for
// sourceMetrics: HELP and METRICS.md derive from the two, and a test holds what is
// served against them.
var metricTable = []metric{
	{"tlsprobe_build_info", gauge, []string{"branch", "goarch", "goos", "goversion", "revision", "tags", "version"},
		"What this program was built from; always 1.", nil},
	{"tlsprobe_certificate_not_after_timestamp_seconds", gauge, []string{"target", "position"},
		"When a certificate that the server sent expires, whatever the verdict. Position 0 is the leaf. With several addresses the earliest per position.", fillNotAfter},
	{"tlsprobe_certificate_not_before_timestamp_seconds", gauge, []string{"target", "position"},
		"From when a certificate that the server sent is valid. Position 0 is the leaf. With several addresses the latest per position.", fillNotBefore},
	{"tlsprobe_client_certificate_not_after_timestamp_seconds", gauge, []string{"target"},
		"When our own client certificate for this target expires; absent if none is configured.", fillClientNotAfter},
	{"tlsprobe_config_last_reload_success_timestamp_seconds", gauge, nil,
		"When the configuration was last loaded.", nil},
	{"tlsprobe_config_last_reload_successful", gauge, nil,
		"Whether the last attempt to load the configuration succeeded. After a failure the last good one stays.", nil},
	{"tlsprobe_duration_seconds", gauge, []string{"target"},
		"How long the last run took.", fillDuration},
	{"tlsprobe_failures_by_reason_total", counter, []string{"module", "reason"},
		"Failed runs in which a reason of severity error occurred.", fillByReason},
	{"tlsprobe_failures_total", counter, []string{"target"},
		"Runs that found the target failing.", fillFailures},
	{"tlsprobe_last_run_timestamp_seconds", gauge, []string{"target"},
		"When the last run started.", fillLastRun},
	{"tlsprobe_node_info", gauge, []string{"node"},
		"The node that this agent probes from; always 1.", fillNode},
	{"tlsprobe_phase_duration_seconds", histogram, []string{"module", "phase"},
		"How long the phases of an attempt took; phases that were not reached do not count.", nil},
	{"tlsprobe_problem", gauge, []string{"target", "reason", "phase", "severity"},
		"1 exactly while the last run has this problem.", fillProblems},
	{"tlsprobe_reason_info", gauge, []string{"reason", "phase", "severity", "title"},
		"Every reason of the catalogue, also those that only log lines show; always 1.", fillReasons},
	{"tlsprobe_runs_total", counter, []string{"target"},
		"Runs that came to a verdict.", fillRuns},
	{"tlsprobe_scheduler_lateness_seconds", histogram, nil,
		"How long after its time a scheduled run started.", nil},
	{"tlsprobe_success", gauge, []string{"target"},
		"Whether the target works: 0 while it has a problem of severity error.", fillSuccess},
	{"tlsprobe_target_info", gauge, []string{"target", "module", "address"},
		"A known target with its own labels; always 1.", fillTargets},
	{"tlsprobe_tls_info", gauge, []string{"target", "version", "cipher", "group"},
		"What a completed handshake agreed on; always 1.", fillTLS},
}

// described returns the row of this name.
func described(name string) metric {
	for _, table := range [][]metric{metricTable, sourceMetrics, hubMetrics} {
		for _, m := range table {
			if m.name == name {
				return m
			}
		}
	}
	panic("exporter: " + name + " is not in the table of metrics")
}
