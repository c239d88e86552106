package exporter

import "tlsprobe/probe"

// The metrics of the tcp prober are there once it came to talk.

func fillMismatchedBytes(f *family, r *probe.Result) {
	if t := deciding(r).TCP; t != nil {
		f.add(boolean(t.MismatchedBytes))
	}
}

func fillExpected(f *family, r *probe.Result) {
	t := deciding(r).TCP
	if t == nil || len(t.Labels) == 0 {
		return
	}
	var names, values []string
	for _, l := range t.Labels {
		names, values = append(names, l.Name), append(values, labelValue(l.Value))
	}
	f.addLabelled(1, names, values)
}
