package exporter_test

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

// sslLines returns the ssl_* series of a live probe of a scenario of the lab.
func sslLines(t *testing.T, scenario string) (lines []string, target *probe.Target) {
	t.Helper()
	target = startLab(t, scenario)[scenario].Target
	with, module := *target, *target.Module
	module.SSLMetrics, with.Module = true, &module
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{&with})
	text := body(t, get(t, newHandler(store), "/probe?format=metrics&target="+scenario))
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ssl_") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines, target
}

func checkLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, line) }) {
			t.Errorf("no line begins with %s:\n%s", line, strings.Join(got, "\n"))
		}
	}
}

// TestSSLMetrics has the names and labels that ssl_exporter has.
func TestSSLMetrics(t *testing.T) {
	lines, target := sslLines(t, "good-chain")
	result := probe.NewRunner("").Run(t.Context(), target)
	var want []string
	for i, c := range result.Attempts[0].TLS.Chain {
		parsed, err := x509.ParseCertificate(c.Raw)
		if err != nil {
			t.Fatal(err)
		}
		labels := fmt.Sprintf(`serial_no="%s",issuer_cn="%s",cn="%s",dnsnames="%s",ips="%s",emails="",ou=""} %s`,
			parsed.SerialNumber, parsed.Issuer.CommonName, parsed.Subject.CommonName,
			[]string{",good.lab.test,localhost,", ""}[i], []string{",127.0.0.1,::1,", ""}[i], "1.")
		want = append(want, "ssl_cert_not_after{"+labels, "ssl_cert_not_before{"+labels,
			`ssl_verified_cert_not_after{chain_no="0",`+labels, `ssl_verified_cert_not_before{chain_no="0",`+labels)
	}
	checkLines(t, lines, append(want, "ssl_probe_success 1", `ssl_prober{prober="tcp"} 1`, `ssl_tls_version_info{version="TLS 1.3"} 1`,
		"ssl_ocsp_response_stapled 0", "ssl_ocsp_response_status 0", "ssl_ocsp_response_produced_at 0", "ssl_ocsp_response_this_update 0",
		"ssl_ocsp_response_next_update 0", "ssl_ocsp_response_revoked_at 0")...)
	if n := len(lines); n != 2*2+2*3+9 {
		t.Errorf("%d series:\n%s", n, strings.Join(lines, "\n"))
	}
}

// TestSSLMetricsOfRevoked keeps the certificate's series where ssl_exporter drops
// them, and tells of the staple.
func TestSSLMetricsOfRevoked(t *testing.T) {
	lines, _ := sslLines(t, "cert-revoked")
	checkLines(t, lines, "ssl_probe_success 0", "ssl_cert_not_after{", "ssl_ocsp_response_stapled 1", "ssl_ocsp_response_status 1",
		"ssl_ocsp_response_revoked_at 1.", "ssl_ocsp_response_produced_at 1.", "ssl_ocsp_response_this_update 1.")
}

// TestSSLMetricsAreAsked for by the module.
func TestSSLMetricsAreAsked(t *testing.T) {
	target := startLab(t, "good-tls")["good-tls"].Target
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{target})
	if text := body(t, get(t, newHandler(store), "/probe?format=metrics&target=good-tls")); strings.Contains(text, "\nssl_") {
		t.Errorf("nobody asked for ssl_*:\n%s", text)
	}
}
