package probe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestNearest(t *testing.T) {
	known := []string{"missing_ip_san", "self_signed", "eof", "tls_timeout", "tcp_timeout", "dns_timeout", "read_timeout", "ca", "tcp", "tls"}
	for _, test := range []struct {
		name, word string
		want       []string
	}{
		{"a letter short", "mising_ip_san", []string{"missing_ip_san"}},
		{"swapped letters", "tsl", []string{"tls", "tcp"}},
		{"another case", "EOF", []string{"eof"}},
		{"a part, at most three", "timeout", []string{"dns_timeout", "read_timeout", "tcp_timeout"}},
		{"misspelt before part", "tls_timeot", []string{"tls_timeout", "dns_timeout", "tcp_timeout"}},
		{"nothing like it", "kubernetes", nil},
		{"nothing of a short word left", "<<", nil},
		{"empty", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, probe.Nearest(test.word, known)); diff != "" {
				t.Errorf("Nearest(%q) differs (-want +got):\n%s", test.word, diff)
			}
		})
	}
}
