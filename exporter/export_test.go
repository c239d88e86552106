package exporter

import "slices"

// DescribedMetrics returns the labels of every metric in the table.
func DescribedMetrics() map[string][]string {
	described := map[string][]string{}
	for _, m := range slices.Concat(metricTable, sourceMetrics) {
		described[m.name] = m.labels
	}
	return described
}
