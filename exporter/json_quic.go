package exporter

import (
	"fmt"

	"tlsprobe/probe"
)

type quicJSON struct {
	Version  string   `json:"version,omitempty"`
	Retry    bool     `json:"retry"`
	Offered  []string `json:"offered_versions,omitempty"`
	Received int      `json:"datagrams_received"`
}

func newQUICJSON(q *probe.QUIC) *quicJSON {
	if q == nil {
		return nil
	}
	out := &quicJSON{Version: quicVersion(q.Version), Retry: q.Retry, Received: q.Received}
	for _, v := range q.Offered {
		out.Offered = append(out.Offered, quicVersion(v))
	}
	return out
}

// quicVersion names the versions that have a number of their own (RFC 9000, RFC
// 9369), "" for 0.
func quicVersion(v uint32) string {
	switch v {
	case 0:
		return ""
	case 1:
		return "QUIC v1"
	case 0x6b3343cf:
		return "QUIC v2"
	}
	return fmt.Sprintf("0x%08x", v)
}

// quicDetail says what the handshake's packets were.
func quicDetail(q *probe.QUIC) string {
	said := quicVersion(q.Version)
	if q.Retry {
		said += " after a Retry,"
	}
	return said
}
