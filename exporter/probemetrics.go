package exporter

import (
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/prometheus/common/expfmt"

	"tlsprobe/probe"
)

// A probeMetric is a metric of /probe. Names, labels, meanings and when there are
// series are blackbox_exporter's, so that dashboards and alerts made for it work;
// BLACKBOX.md lists where they differ on purpose.
type probeMetric struct {
	metric
	fill func(*family, *probe.Result)
}

// probeMetrics are all metrics of /probe, in order of their names.
var probeMetrics = []probeMetric{
	{metric{name: "probe_dns_additional_rrs", kind: gauge, help: "How many additional records the DNS server sent."}, fillDNS(dnsAdditional)},
	{metric{name: "probe_dns_answer_rrs", kind: gauge, help: "How many records the DNS server answered."}, fillDNS(dnsAnswers)},
	{metric{name: "probe_dns_authority_rrs", kind: gauge, help: "How many authority records the DNS server sent."}, fillDNS(dnsAuthority)},
	{metric{name: "probe_dns_duration_seconds", kind: gauge, labels: []string{"phase"}, help: "How long the phases of asking a DNS server took; connect includes TLS."}, fillDNSDuration},
	{metric{name: "probe_dns_lookup_time_seconds", kind: gauge, help: "How long the name's lookup took."}, fillLookup},
	{metric{name: "probe_dns_query_succeeded", kind: gauge, help: "Whether the DNS server answered, whatever it answered."}, fillDNS(dnsAnswered)},
	{metric{name: "probe_dns_serial", kind: gauge, help: "The zone's serial number, if its SOA record was asked for."}, fillSerial},
	{metric{name: "probe_duration_seconds", kind: gauge, help: "How long the probe took."},
		func(f *family, r *probe.Result) { f.add(r.Duration.Seconds()) }},
	{metric{name: "probe_expect_info", kind: gauge, help: "What was found in a line that was expected, with the labels that the module names; always 1."}, fillExpected},
	{metric{name: "probe_failed_due_to_bytes", kind: gauge, help: "Whether the probe failed because other bytes came than expected."}, fillMismatchedBytes},
	{metric{name: "probe_failed_due_to_cel", kind: gauge, help: "Whether the probe failed because of a CEL expression; absent if there is none."}, fillFailedCEL},
	{metric{name: "probe_failed_due_to_regex", kind: gauge, help: "Whether the probe failed because of a regular expression: of the body, a header, or a line before the server closed."}, fillFailedRegexp},
	{metric{name: "probe_failure_info", kind: gauge, labels: []string{"reason", "phase"}, help: "Why the probe failed; absent if it did not."}, fillFailure},
	{metric{name: "probe_grpc_duration_seconds", kind: gauge, labels: []string{"phase"}, help: "How long the lookup took, and the check from connecting to the answer."}, fillGRPCDuration},
	{metric{name: "probe_grpc_healthcheck_response", kind: gauge, labels: []string{"serving_status"}, help: "1 for the health that the server answered with; all 0 if it did not."}, fillGRPCHealth},
	{metric{name: "probe_grpc_ssl", kind: gauge, help: "Whether the health was answered over TLS."}, fillGRPCTLS},
	{metric{name: "probe_grpc_status_code", kind: gauge, help: "The status of the gRPC call: 0 OK, 12 without the health service, 14 where the server cannot be reached."}, fillGRPCStatus},
	{metric{name: "probe_http_content_length", kind: gauge, help: "The Content-Length of the last answer; -1 if it did not say, 0 without an answer."}, fillContentLength},
	{metric{name: "probe_http_duration_seconds", kind: gauge, labels: []string{"phase"}, help: "How long the phases of a request took, summed over redirects."}, fillHTTPDuration},
	{metric{name: "probe_http_last_modified_timestamp_seconds", kind: gauge, help: "The Last-Modified of the last answer, in Unix time; absent if it did not say."}, fillLastModified},
	{metric{name: "probe_http_redirects", kind: gauge, help: "How many answers were redirects; a loop counts as one more than are followed."}, fillRedirects},
	{metric{name: "probe_http_ssl", kind: gauge, help: "Whether the last hop used TLS."}, fillHTTPTLS},
	{metric{name: "probe_http_status_code", kind: gauge, help: "The last hop's status; 0 without an answer."}, fillStatus},
	{metric{name: "probe_http_uncompressed_body_length", kind: gauge, help: "How many bytes of the last body were read."}, fillBody},
	{metric{name: "probe_http_version", kind: gauge, help: "The last hop's HTTP version; 0 without an answer."}, fillHTTPVersion},
	{metric{name: "probe_ip_addr_hash", kind: gauge, help: "FNV-1a hash of the address, to see that it changed; 0 without one."}, fillAddressHash},
	{metric{name: "probe_ip_protocol", kind: gauge, help: "4 or 6; 0 without an address."}, fillProtocol},
	{metric{name: "probe_node_info", kind: gauge, labels: []string{"node"}, help: "The node that was probed from; always 1."},
		func(f *family, r *probe.Result) { f.add(1, r.Node) }},
	{metric{name: "probe_ssl_earliest_cert_expiry", kind: gauge, help: "When the first of the certificates that the server sent expires, in Unix time; also if the probe failed."}, fillEarliestExpiry},
	{metric{name: "probe_ssl_last_chain_expiry_timestamp_seconds", kind: gauge, help: "When the path to a trusted root that holds longest ends; absent without one."}, fillLastChainExpiry},
	{metric{name: "probe_ssl_last_chain_info", kind: gauge, labels: []string{"fingerprint_sha256", "subject", "issuer", "subjectalternative", "serialnumber"},
		help: "The leaf certificate; always 1."}, fillLeaf},
	{metric{name: "probe_success", kind: gauge, help: "Whether the probe succeeded."},
		func(f *family, r *probe.Result) { f.add(boolean(r.OK())) }},
	{metric{name: "probe_timeout_seconds", kind: gauge, help: "How long the probe might have taken."},
		func(f *family, r *probe.Result) { f.add(effectiveTimeout(r.Target).Seconds()) }},
	{metric{name: "probe_tls_cipher_info", kind: gauge, labels: []string{"cipher"}, help: "The cipher suite agreed on; always 1."}, fillCipher},
	{metric{name: "probe_tls_version_info", kind: gauge, labels: []string{"version"}, help: "The TLS version agreed on; always 1."}, fillVersion},
}

func writeProbeMetrics(w io.Writer, format expfmt.Format, r *probe.Result) error {
	var f family
	f.writeTo(w, format)
	metrics := probeMetrics
	if r.Target.Module.SSLMetrics {
		metrics = slices.Concat(probeMetrics, sslMetrics)
	}
	for _, m := range metrics {
		f.begin(m.metric)
		m.fill(&f, r)
		f.end()
	}
	return f.close()
}

// deciding returns the attempt that decided the verdict: the first that failed,
// else the first. blackbox_exporter makes but one.
func deciding(r *probe.Result) *probe.Attempt {
	for i := range r.Attempts {
		for j := range r.Attempts[i].Problems {
			if r.Attempts[i].Problems[j].Reason.Severity == probe.Error {
				return &r.Attempts[i]
			}
		}
	}
	return &r.Attempts[0]
}

// effectiveTimeout is what bounds a run of t.
func effectiveTimeout(t *probe.Target) time.Duration {
	if limit := t.Module.Timeout; limit > 0 && (t.Timeout == 0 || limit < t.Timeout) {
		return limit
	}
	return t.Timeout
}

// has reports whether a has a problem of one of the reasons.
func has(a *probe.Attempt, ids ...string) bool {
	return slices.ContainsFunc(a.Problems, func(p probe.Problem) bool { return slices.Contains(ids, p.Reason.ID) })
}

// isResolved reports whether there was an address to look for at all, and by us.
func isResolved(r *probe.Result) bool {
	prober, ok := r.Target.Module.Prober.(*probe.HTTPProber)
	return !r.Target.Undialled && !has(deciding(r), "target_misconfigured") && (!ok || prober.LooksUp())
}

func fillLookup(f *family, r *probe.Result) {
	if isResolved(r) {
		f.add(deciding(r).Phases[probe.PhaseResolve].Seconds())
	}
}

func fillFailure(f *family, r *probe.Result) {
	if !r.OK() {
		reason := r.Worst().Reason
		f.add(1, reason.ID, reason.Phase.String())
	}
}

func fillAddressHash(f *family, r *probe.Result) {
	switch peer := deciding(r).Peer; {
	case !isResolved(r):
	case peer.IsValid():
		hash := fnv.New32a()
		hash.Write(peer.Addr().AsSlice())
		f.add(float64(hash.Sum32()))
	default:
		f.add(0)
	}
}

func fillProtocol(f *family, r *probe.Result) {
	switch addr := deciding(r).Peer.Addr(); {
	case !isResolved(r):
	case addr.Unmap().Is4():
		f.add(4)
	case addr.Is6():
		f.add(6)
	default:
		f.add(0)
	}
}
