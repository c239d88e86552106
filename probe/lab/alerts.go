package lab

import "fmt"

// Alert levels (RFC 8446, Section 6).
const (
	warning = 1
	fatal   = 2
)

// alert is a plaintext alert record.
func alert(level, description byte) []byte {
	return record(recordAlert, []byte{level, description})
}

// alertScenarios answer the ClientHello with an alert. Those that a Go server
// sends for a cause of its own are in negotiate.go and clientcerts.go; these are
// scripted, as other stacks send them.
func alertScenarios() []Scenario {
	scripted := []struct {
		name        string
		description byte
		reason      string
	}{
		{"close-notify", 0, "eof"},
		{"unexpected-message", 10, "tls_protocol_error"},
		{"bad-record-mac", 20, "bad_record_mac"},
		{"handshake-failure", 40, "handshake_failure"},
		{"no-certificate", 41, "bad_certificate"},
		{"unsupported-certificate", 43, "bad_certificate"},
		{"access-denied", 49, "alert_other"},
		{"decode-error", 50, "tls_protocol_error"},
		{"decrypt-error", 51, "alert_other"},
		{"protocol-version", 70, "protocol_version"},
		{"insufficient-security", 71, "handshake_failure"},
		{"internal-error", 80, "alert_internal_error"},
		{"inappropriate-fallback", 86, "protocol_version"},
		{"no-renegotiation", 100, "no_renegotiation"},
		{"unrecognized-name", 112, "unrecognized_name"},
		{"no-application-protocol", 120, "no_application_protocol"},
		{"unassigned", 200, "alert_other"},
	}
	var out []Scenario
	for _, s := range scripted {
		out = append(out, Scenario{Name: "alert-" + s.name, Reasons: []string{s.reason},
			Summary: fmt.Sprintf("answers the ClientHello with alert %d", s.description),
			start: func(i *Instance) error {
				return i.serveAt(afterHello(func(c *peerConn) { c.Write(alert(fatal, s.description)) }))
			}})
	}
	return append(out, Scenario{Name: "alert-unrecognized-name-warning", Reasons: []string{"unrecognized_name"},
		Summary: "warns with alert 112 and closes the connection",
		start: func(i *Instance) error {
			return i.serveAt(afterHello(func(c *peerConn) { c.Write(alert(warning, 112)) }))
		}})
}
