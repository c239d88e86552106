package probe

import (
	"crypto/x509"
	"net"
	"strings"
	"testing"
)

// FuzzFitsName compares the matching with x509.VerifyHostname, whose rules it
// keeps. The certificate's names are separated by commas.
func FuzzFitsName(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.example.com", "a.example.com"}, {"A.Example.com.", "a.example.COM"}, {"a.example.com", "*.example.com"},
		{"a.b.example.com", "*.example.com"}, {"example.com", "*.example.com"}, {"a.example.com", "a*.example.com"},
		{"a.example.com", "*.*.com"}, {"localhost", "*"}, {"a_b.example", "*.example"}, {"-a.example", "*.example"},
		{"-a.example", "-A.example"}, {"a..b", "a..b"}, {"a.example.com", "b,a.example.com."}, {"", ""}, {".", "."},
		{"10.0.0.1", "10.0.0.1"}, {"10.0.0.1", "*.0.0.1"}, {"[::1]", "::1"}, {"::ffff:10.0.0.1", "10.0.0.1"},
		{"\xff.example", "\xff.example"}, {"K.example", "k.example"}, {"*.example", "*.example"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, sans string) {
		if strings.Contains(name, "%") {
			return // a zone: Go takes it for a host name, here it is no part of the address
		}
		cert := &x509.Certificate{}
		for san := range strings.SplitSeq(sans, ",") {
			cert.DNSNames = append(cert.DNSNames, san)
			if ip := net.ParseIP(san); ip != nil {
				cert.IPAddresses = append(cert.IPAddresses, ip)
			}
		}
		want := cert.VerifyHostname(name) == nil
		if got := fitsName(cert, name); got != want {
			t.Errorf("%q fits %q: %v, x509 says %v", name, sans, got, want)
		}
	})
}

func TestNamesText(t *testing.T) {
	for _, tc := range []struct {
		name  string
		edits []edit
		want  string
	}{
		{"none", nil, "no subject alternative names; the subject is CN=x"},
		{"two kinds", []edit{forDNS("a", "b"), forIP("::1")}, "DNS:a, DNS:b, IP:::1"},
		{"many", []edit{forDNS(strings.Fields("a b c d e f g h i j")...)}, "DNS:a, DNS:b, DNS:c, DNS:d, DNS:e, DNS:f, DNS:g, DNS:h and 2 more"},
		{"long", []edit{forDNS(strings.Repeat("a", 150), strings.Repeat("b", 150))}, "DNS:" + strings.Repeat("a", 150) + " and 1 more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := namesText(issue(t, nil, "x", tc.edits...).Certificate); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
