package probe

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
)

func TestEmbeddedSCTs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		value string // of the extension
		want  int
	}{
		{"two", "\x04\x0a\x00\x08\x00\x02ab\x00\x02cd", 2},
		{"an empty list", "\x04\x02\x00\x00", 0},
		{"the second is cut off", "\x04\x09\x00\x07\x00\x02ab\x00\x05c", 1},
		{"the list is cut off", "\x04\x04\x00\x08\x00\x02", 0},
		{"no octet string", "\x30\x02\x00\x00", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cert := issue(t, nil, "x", func(c *x509.Certificate) {
				c.ExtraExtensions = []pkix.Extension{{Id: sctList, Value: []byte(tc.value)}}
			})
			if got := factsOf(cert.Certificate).SCTs; got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
	if got := factsOf(issue(t, nil, "x").Certificate).SCTs; got != 0 {
		t.Errorf("without the extension: got %d", got)
	}
}
