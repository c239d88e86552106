package exporter

import "slices"

// AgentMetrics returns the labels of every metric that an agent serves.
func AgentMetrics() map[string][]string { return labelsOf(metricTable, sourceMetrics) }

// HubMetrics returns the labels of every metric that only a hub serves.
func HubMetrics() map[string][]string { return labelsOf(hubMetrics) }

func labelsOf(tables ...[]metric) map[string][]string {
	described := map[string][]string{}
	for _, m := range slices.Concat(tables...) {
		described[m.name] = m.labels
	}
	return described
}
