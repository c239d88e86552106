package exporter

import (
	"crypto/x509"
	"math/big"
	"slices"
	"strings"
	"time"

	"tlsprobe/probe"
)

// certificateLabels are ssl_exporter's of one certificate. Those that hold lists
// have a comma before and behind each item, so that a query can match one.
var certificateLabels = []string{"serial_no", "issuer_cn", "cn", "dnsnames", "ips", "emails", "ou"}

// sslMetrics are ssl_exporter's metrics, for modules with ssl_metrics, in order of
// their names. Unlike there, certificates keep theirs when the probe fails.
var sslMetrics = []probeMetric{
	{metric{name: "ssl_cert_not_after", kind: gauge, labels: certificateLabels, help: "When a certificate that the server sent expires, in Unix time."},
		func(f *family, r *probe.Result) { fillSent(f, r, notAfter) }},
	{metric{name: "ssl_cert_not_before", kind: gauge, labels: certificateLabels, help: "From when a certificate that the server sent is valid, in Unix time."},
		func(f *family, r *probe.Result) { fillSent(f, r, notBefore) }},
	{metric{name: "ssl_ocsp_response_next_update", kind: gauge, help: "When the stapled OCSP response should be renewed, in Unix time; 0 without one."},
		func(f *family, r *probe.Result) {
			fillStaple(f, r, func(o *probe.OCSP) time.Time { return o.NextUpdate })
		}},
	{metric{name: "ssl_ocsp_response_produced_at", kind: gauge, help: "When the stapled OCSP response was signed, in Unix time; 0 without one."},
		func(f *family, r *probe.Result) {
			fillStaple(f, r, func(o *probe.OCSP) time.Time { return o.ProducedAt })
		}},
	{metric{name: "ssl_ocsp_response_revoked_at", kind: gauge, help: "When the certificate was revoked, in Unix time; 0 if it was not."},
		func(f *family, r *probe.Result) {
			fillStaple(f, r, func(o *probe.OCSP) time.Time { return o.RevokedAt })
		}},
	{metric{name: "ssl_ocsp_response_stapled", kind: gauge, help: "Whether the server stapled an OCSP response."}, fillStapled},
	{metric{name: "ssl_ocsp_response_status", kind: gauge, help: "The stapled status: 0 good or none, 1 revoked, 2 unknown."}, fillStapledStatus},
	{metric{name: "ssl_ocsp_response_this_update", kind: gauge, help: "When the stapled status was known to be right, in Unix time; 0 without one."},
		func(f *family, r *probe.Result) {
			fillStaple(f, r, func(o *probe.OCSP) time.Time { return o.ThisUpdate })
		}},
	{metric{name: "ssl_probe_success", kind: gauge, help: "Whether the probe succeeded."},
		func(f *family, r *probe.Result) { f.add(boolean(r.OK())) }},
	{metric{name: "ssl_prober", kind: gauge, labels: []string{"prober"}, help: "The prober, by ssl_exporter's name; always 1."},
		func(f *family, r *probe.Result) { f.add(1, sslProber(r.Target.Module.Kind)) }},
	{metric{name: "ssl_tls_version_info", kind: gauge, labels: []string{"version"}, help: "The TLS version agreed on; always 1."}, fillVersion},
	{metric{name: "ssl_verified_cert_not_after", kind: gauge, labels: append([]string{"chain_no"}, certificateLabels...),
		help: "When a certificate on a path to a trusted root expires, in Unix time. Path 0 is the one that holds longest."},
		func(f *family, r *probe.Result) { fillVerified(f, r, notAfter) }},
	{metric{name: "ssl_verified_cert_not_before", kind: gauge, labels: append([]string{"chain_no"}, certificateLabels...),
		help: "From when a certificate on a path to a trusted root is valid, in Unix time."},
		func(f *family, r *probe.Result) { fillVerified(f, r, notBefore) }},
}

func notAfter(c *probe.Certificate) time.Time  { return c.NotAfter }
func notBefore(c *probe.Certificate) time.Time { return c.NotBefore }

// sslProber returns ssl_exporter's name for a prober, our own where it has none.
func sslProber(kind string) string {
	switch kind {
	case "tls":
		return "tcp"
	case "http":
		return "https"
	}
	return kind
}

func fillSent(f *family, r *probe.Result, at func(*probe.Certificate) time.Time) {
	if t := lastTLS(r); t != nil {
		fillCertificates(f, t.Chain, at)
	}
}

func fillVerified(f *family, r *probe.Result, at func(*probe.Certificate) time.Time) {
	if t := lastTLS(r); t != nil {
		for i, path := range t.Verified {
			fillCertificates(f, path, at, position(i))
		}
	}
}

// fillCertificates adds a series for each certificate; more labels than those of
// the certificate come first. One that is there twice counts once: its series
// would have the same labels.
func fillCertificates(f *family, chain []*probe.Certificate, at func(*probe.Certificate) time.Time, before ...string) {
	var seen [][]string
	for _, c := range chain {
		labels := slices.Concat(before, certificateValues(c))
		if slices.ContainsFunc(seen, func(other []string) bool { return slices.Equal(labels, other) }) {
			continue
		}
		seen = append(seen, labels)
		f.add(unix(at(c)), labels...)
	}
}

// certificateValues are the values of certificateLabels.
func certificateValues(c *probe.Certificate) []string {
	var issuer, name string
	var units []string
	if parsed, err := x509.ParseCertificate(c.Raw); err == nil {
		issuer, name, units = parsed.Issuer.CommonName, parsed.Subject.CommonName, parsed.Subject.OrganizationalUnit
	}
	serial, _ := new(big.Int).SetString(c.Serial, 16)
	decimal := ""
	if serial != nil { // else a peer's serial number was too long to keep
		decimal = serial.String()
	}
	values := []string{decimal, issuer, name, listed(c.DNSNames), listed(c.IPAddresses), listed(c.EmailAddresses), listed(units)}
	for i, v := range values {
		values[i] = labelValue(cut(v, maxLabel))
	}
	return values
}

// maxLabel bounds a label's value, which a peer chooses.
const maxLabel = 1024

func listed(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "," + strings.Join(items, ",") + ","
}

func staple(r *probe.Result) *probe.OCSP {
	if t := lastTLS(r); t != nil {
		return t.Stapled
	}
	return nil
}

func fillStapled(f *family, r *probe.Result) { f.add(boolean(staple(r) != nil)) }

func fillStapledStatus(f *family, r *probe.Result) {
	numbers := map[string]float64{"revoked": 1, "unknown": 2, "invalid": 2}
	if o := staple(r); o != nil {
		f.add(numbers[o.Status])
		return
	}
	f.add(0)
}

// fillStaple adds a time of the stapled response, 0 where there is none.
func fillStaple(f *family, r *probe.Result, at func(*probe.OCSP) time.Time) {
	if o := staple(r); o != nil && !at(o).IsZero() {
		f.add(unix(at(o)))
		return
	}
	f.add(0)
}
