package exporter

import (
	"fmt"

	"tlsprobe/probe"
)

// knockDetail says what a connection was that ended before a program heard of it.
func knockDetail(t *probe.TCP) string {
	if t == nil || !t.Knocked {
		return ""
	}
	return " (only its kernel was asked)"
}

// upgradeDetail says what came before TLS.
func upgradeDetail(t *probe.TCP) string {
	switch {
	case t == nil || !t.Upgraded:
		return ""
	case t.StartTLS != "":
		return "STARTTLS of " + t.StartTLS + ", "
	}
	return "behind plain text, "
}

// talkDetail says how far a conversation came and what was found in it.
func talkDetail(t *probe.TCP) string {
	if t == nil || t.Steps == 0 {
		return ""
	}
	said := counted(t.Steps, "step")
	for _, l := range t.Labels {
		said += fmt.Sprintf(", %s=%q", l.Name, l.Value)
	}
	return said
}
