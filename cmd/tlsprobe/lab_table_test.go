package main

import (
	"strings"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// The lab is as expected if it finds every fault of a server, and no other.
func TestLabExpectsAllReasons(t *testing.T) {
	for _, tt := range []struct {
		found, want string
		expected    bool
	}{
		{"", "", true},
		{"", "eof", false},
		{"eof", "", false},
		{"eof", "eof", true},
		{"cert_expired", "cert_expired hostname_mismatch", false},
		{"cert_expired hostname_mismatch", "cert_expired", false},
		{"cert_expired hostname_mismatch weak_crypto", "cert_expired weak_crypto hostname_mismatch", true},
		{"hostname_mismatch cert_expired", "cert_expired hostname_mismatch", false},
	} {
		var a probe.Attempt
		for _, id := range strings.Fields(tt.found) {
			a.Problems = append(a.Problems, probe.Problem{Reason: probe.Lookup(id)})
		}
		var out strings.Builder
		s := lab.Scenario{Name: "s", Reasons: strings.Fields(tt.want)}
		results := map[string]*probe.Result{"s": {Target: &probe.Target{Name: "s"}, Attempts: []probe.Attempt{a}}}
		err := writeLab(&out, []lab.Scenario{s}, results, false)
		if (err == nil) != tt.expected || strings.Contains(out.String(), "UNEXPECTED") == tt.expected {
			t.Errorf("found %q, want %q: error %v and\n%s", tt.found, tt.want, err, out.String())
		}
	}
}
