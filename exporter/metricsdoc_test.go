package exporter

import (
	"fmt"
	"strings"
)

// MetricsTable returns the table of metrics as METRICS.md shows it.
func MetricsTable() string {
	var b strings.Builder
	b.WriteString(metricsPreface)
	writeTable(&b, metricTable)
	b.WriteString(sourcePreface)
	writeTable(&b, sourceMetrics)
	b.WriteString(hubPreface)
	writeTable(&b, hubMetrics)
	b.WriteString(processPreface)
	b.WriteString(probePreface)
	writeTable(&b, rows(probeMetrics))
	b.WriteString(sslPreface)
	writeTable(&b, rows(sslMetrics))
	return b.String()
}

func rows(metrics []probeMetric) []metric {
	out := make([]metric, len(metrics))
	for i, m := range metrics {
		out[i] = m.metric
	}
	return out
}

const sslPreface = `
A module with ` + "`ssl_metrics: true`" + ` adds ssl_exporter's names for the same facts:

`

const metricsPreface = `# Metrics

Written by ` + "`go test ./exporter -update`" + ` from the table in metrictable.go: edit that.

## /metrics

What the schedule found last. A target has no series before its first result, and none after it is gone. A label of a target
appears on tlsprobe_target_info under its own name, with every character that a label name cannot hold as _, and with target_ in
front where a scrape attaches a label of that name (` + "`namespace`, `pod`, `service`, `node`" + ` and the like). No series has a label for the
node: let the scrape attach it.

`

const sourcePreface = `
Where the targets come from, of agents and hubs:

`

const hubPreface = `
A hub has these of its own, and of an agent's those about its configuration and its build:

`

const processPreface = `
The metrics of the Go runtime and of the process are there too, under their usual names.
`

const probePreface = `
## /probe?format=metrics

What one probe found, under blackbox_exporter's names.

`

func writeTable(b *strings.Builder, metrics []metric) {
	b.WriteString("| metric | type | labels | means |\n| --- | --- | --- | --- |\n")
	for _, m := range metrics {
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", m.name, strings.ToLower(m.kind.String()), labels, m.help)
	}
}
