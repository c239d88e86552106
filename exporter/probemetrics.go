package exporter

import (
	"encoding/hex"
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"

	"tlsprobe/probe"
)

// A probeMetric is a metric of /probe. Names and meanings are
// blackbox_exporter's, so that dashboards and alerts made for it work, but for
// two: the facts of certificates do not vanish when a probe fails, and
// probe_failure_info tells why it did.
type probeMetric struct {
	metric
	fill func(*family, *probe.Result)
}

// probeMetrics are all metrics of /probe, in order of their names.
var probeMetrics = []probeMetric{
	{metric{name: "probe_dns_lookup_time_seconds", kind: gauge, help: "How long the name's lookup took."}, fillLookup},
	{metric{name: "probe_duration_seconds", kind: gauge, help: "How long the probe took."},
		func(f *family, r *probe.Result) { f.add(r.Duration.Seconds()) }},
	{metric{name: "probe_failure_info", kind: gauge, labels: []string{"reason", "phase"}, help: "Why the probe failed; absent if it did not."}, fillFailure},
	{metric{name: "probe_http_duration_seconds", kind: gauge, labels: []string{"phase"}, help: "How long the phases of a request took, summed over redirects."}, fillHTTPDuration},
	{metric{name: "probe_http_redirects", kind: gauge, help: "How many redirects were followed."}, fillRedirects},
	{metric{name: "probe_http_ssl", kind: gauge, help: "Whether the last hop used TLS."}, fillHTTPTLS},
	{metric{name: "probe_http_status_code", kind: gauge, help: "The last hop's status; 0 without an answer."}, fillStatus},
	{metric{name: "probe_http_uncompressed_body_length", kind: gauge, help: "How many bytes of the last body were read."}, fillBody},
	{metric{name: "probe_http_version", kind: gauge, help: "The last hop's HTTP version; 0 without an answer."}, fillHTTPVersion},
	{metric{name: "probe_ip_addr_hash", kind: gauge, help: "FNV-1a hash of the address, to see that it changed; 0 without one."}, fillAddressHash},
	{metric{name: "probe_ip_protocol", kind: gauge, help: "4 or 6; 0 without an address."}, fillProtocol},
	{metric{name: "probe_node_info", kind: gauge, labels: []string{"node"}, help: "The node that was probed from; always 1."},
		func(f *family, r *probe.Result) { f.add(1, r.Node) }},
	{metric{name: "probe_ssl_earliest_cert_expiry", kind: gauge, help: "When the first of the certificates that the server sent expires, in Unix time; also if the probe failed."}, fillEarliestExpiry},
	{metric{name: "probe_ssl_last_chain_info", kind: gauge, labels: []string{"fingerprint_sha256", "subject", "issuer", "subjectalternative", "serialnumber"},
		help: "The leaf certificate; always 1."}, fillLeaf},
	{metric{name: "probe_success", kind: gauge, help: "Whether the probe succeeded."},
		func(f *family, r *probe.Result) { f.add(boolean(r.OK())) }},
	{metric{name: "probe_tls_cipher_info", kind: gauge, labels: []string{"cipher"}, help: "The cipher suite agreed on; always 1."}, fillCipher},
	{metric{name: "probe_tls_version_info", kind: gauge, labels: []string{"version"}, help: "The TLS version agreed on; always 1."}, fillVersion},
}

func writeProbeMetrics(w io.Writer, format expfmt.Format, r *probe.Result) error {
	var f family
	f.writeTo(w, format)
	for _, m := range probeMetrics {
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

// lastHop returns the hop that was answered last, nil if there was no request.
func lastHop(r *probe.Result) *probe.Hop {
	h := deciding(r).HTTP
	if h == nil || len(h.Hops) == 0 {
		return nil
	}
	return &h.Hops[len(h.Hops)-1]
}

// lastTLS returns the facts of the last handshake: of the last hop, as
// blackbox_exporter does, else of the attempt. nil if there was none.
func lastTLS(r *probe.Result) *probe.TLS {
	if hop := lastHop(r); hop != nil && hop.TLS != nil {
		return hop.TLS
	}
	return deciding(r).TLS
}

func fillLookup(f *family, r *probe.Result) {
	f.add(deciding(r).Phases[probe.PhaseResolve].Seconds())
}

func fillFailure(f *family, r *probe.Result) {
	if !r.OK() {
		reason := r.Worst().Reason
		f.add(1, reason.ID, reason.Phase.String())
	}
}

func fillHTTPDuration(f *family, r *probe.Result) {
	a := deciding(r)
	if a.HTTP == nil {
		return
	}
	var processing, transfer float64
	for i := range a.HTTP.Hops {
		processing += a.HTTP.Hops[i].Processing.Seconds()
		transfer += a.HTTP.Hops[i].Transfer.Seconds()
	}
	f.add(a.Phases[probe.PhaseConnect].Seconds(), "connect")
	f.add(processing, "processing")
	f.add(a.Phases[probe.PhaseResolve].Seconds(), "resolve")
	f.add(a.Phases[probe.PhaseTLS].Seconds(), "tls")
	f.add(transfer, "transfer")
}

func fillRedirects(f *family, r *probe.Result) {
	if lastHop(r) != nil {
		f.add(float64(len(deciding(r).HTTP.Hops) - 1))
	}
}

func fillHTTPTLS(f *family, r *probe.Result) {
	if hop := lastHop(r); hop != nil {
		f.add(boolean(hop.TLS != nil))
	}
}

func fillStatus(f *family, r *probe.Result) {
	if hop := lastHop(r); hop != nil {
		f.add(float64(hop.Status))
	}
}

func fillBody(f *family, r *probe.Result) {
	if lastHop(r) != nil {
		f.add(float64(deciding(r).HTTP.Body))
	}
}

func fillHTTPVersion(f *family, r *probe.Result) {
	if hop := lastHop(r); hop != nil {
		version, _ := strconv.ParseFloat(strings.TrimPrefix(hop.Proto, "HTTP/"), 64)
		f.add(version)
	}
}

func fillAddressHash(f *family, r *probe.Result) {
	peer := deciding(r).Peer
	if !peer.IsValid() {
		f.add(0)
		return
	}
	hash := fnv.New32a()
	hash.Write(peer.Addr().AsSlice())
	f.add(float64(hash.Sum32()))
}

func fillProtocol(f *family, r *probe.Result) {
	switch addr := deciding(r).Peer.Addr(); {
	case addr.Unmap().Is4():
		f.add(4)
	case addr.Is6():
		f.add(6)
	default:
		f.add(0)
	}
}

func fillEarliestExpiry(f *family, r *probe.Result) {
	t := lastTLS(r)
	if t == nil || len(t.Chain) == 0 {
		return
	}
	earliest := t.Chain[0].NotAfter
	for _, c := range t.Chain[1:] {
		if c.NotAfter.Before(earliest) {
			earliest = c.NotAfter
		}
	}
	f.add(unix(earliest))
}

func fillLeaf(f *family, r *probe.Result) {
	t := lastTLS(r)
	if t == nil || len(t.Chain) == 0 {
		return
	}
	leaf := t.Chain[0]
	f.add(1, hex.EncodeToString(leaf.SHA256[:]), labelValue(leaf.Subject), labelValue(leaf.Issuer),
		labelValue(strings.Join(leaf.DNSNames, ",")), leaf.Serial)
}

// labelValue makes a label's value of what a peer chose: label values are UTF-8.
func labelValue(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func fillCipher(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && t.Version != 0 && lastHop(r) != nil {
		f.add(1, cipherName(t.Cipher))
	}
}

func fillVersion(f *family, r *probe.Result) {
	if t := lastTLS(r); t != nil && t.Version != 0 {
		f.add(1, versionName(t.Version))
	}
}
