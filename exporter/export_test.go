package exporter

// DescribedMetrics returns the labels of every metric in the table.
func DescribedMetrics() map[string][]string {
	described := map[string][]string{}
	for _, m := range metricTable {
		described[m.name] = m.labels
	}
	return described
}
