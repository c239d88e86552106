package exporter

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// The names by which TLS's numbers are shown, in labels as in text: RFC 8446's
// for versions, IANA's for cipher suites, Go's for groups, which are IANA's but
// for case.

func versionName(v uint16) string {
	if v == 0 {
		return ""
	}
	return tls.VersionName(v)
}

func cipherName(c uint16) string {
	if c == 0 {
		return ""
	}
	return tls.CipherSuiteName(c)
}

func groupName(g tls.CurveID) string {
	switch name := g.String(); {
	case g == 0:
		return ""
	case strings.HasPrefix(name, "CurveID("):
		return fmt.Sprintf("0x%04X", uint16(g))
	case strings.HasPrefix(name, "Curve"):
		return strings.TrimPrefix(name, "Curve") // CurveP256: everybody else's P256
	default:
		return name
	}
}

// strip shows outcomes as a string of letters, oldest first.
func strip(outcomes []Outcome) string {
	b := make([]byte, len(outcomes))
	for i, o := range outcomes {
		b[i] = byte(o)
	}
	return string(b)
}
