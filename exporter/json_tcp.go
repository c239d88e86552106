package exporter

import "tlsprobe/probe"

type tcpJSON struct {
	StartTLS string            `json:"starttls,omitempty"`
	Upgraded bool              `json:"upgraded"`
	Knocked  bool              `json:"knocked"`
	Steps    int               `json:"steps"`
	Labels   map[string]string `json:"labels,omitempty"`
}

func newTCPJSON(t *probe.TCP) *tcpJSON {
	if t == nil {
		return nil
	}
	out := &tcpJSON{StartTLS: t.StartTLS, Upgraded: t.Upgraded, Knocked: t.Knocked, Steps: t.Steps}
	if len(t.Labels) > 0 {
		out.Labels = map[string]string{}
	}
	for _, l := range t.Labels {
		out.Labels[l.Name] = l.Value
	}
	return out
}
