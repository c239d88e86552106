package main

import (
	"fmt"
	"strings"
)

// An intendedDifference is one that blackbox_exporter's users are told of.
type intendedDifference struct {
	what   string // metrics, or status, text, content_type; several are separated by spaces; "*": the whole answer
	how    how
	cases  []string // patterns of path.Match for the names of requests; nil: any
	failed bool     // only where the probe fails here
	when   string   // the same in words
	why    string
}

var intendedDifferences = []intendedDifference{
	{what: "probe_node_info", how: onlyHere, when: "always",
		why: "Behind a Service a random node answers: a dashboard must see which."},
	{what: "probe_failure_info", how: onlyHere, failed: true, when: "the probe failed",
		why: "The reason and its phase, as labels of few values; blackbox_exporter tells its log only."},
	{what: "probe_timeout_seconds", how: onlyHere, when: "always",
		why: "blackbox_exporter has it since the version after 0.28."},
	{what: "probe_ssl_earliest_cert_expiry probe_ssl_last_chain_expiry_timestamp_seconds probe_ssl_last_chain_info probe_tls_version_info probe_tls_cipher_info",
		how: onlyHere, failed: true, when: "the probe failed, and there was a handshake",
		why: "Facts are kept whatever the verdict: an alert on a certificate that has expired fires, where it goes silent otherwise."},
	{what: "probe_ssl_last_chain_expiry_timestamp_seconds", how: onlyThere, cases: []string{"*: not verified*"},
		when: "`insecure_skip_verify: true`",
		why:  "There is no verified chain, so there is no series; blackbox_exporter says -6.2e+10, the year 1."},
	{what: "probe_success", how: otherValue, failed: true,
		cases: []string{"lab: client-cert-* (tcp)", "lab: good-mtls (tcp)", "tcp: no client certificate", "tcp: not verified, nor trusted"},
		when:  "tcp with TLS 1.3, and the server does not accept our client certificate, or that there is none",
		why:   "The server's verdict comes behind the handshake (RFC 8446, Section 4.4.2.4). blackbox_exporter does not read it, and says success."},
	{what: "probe_success", how: otherValue, failed: true, cases: []string{"lab: cert-revoked *"},
		when: "a stapled OCSP response says that the certificate is revoked", why: "It is checked, and no request is sent to such a server."},
	{what: "probe_failed_due_to_regex probe_failed_due_to_bytes", how: onlyThere, failed: true, cases: []string{"lab: cert-revoked (tcp)"},
		when: "the same", why: "The same: nothing is expected of it."},
	{what: "probe_http_status_code probe_http_version probe_http_ssl probe_http_content_length probe_http_uncompressed_body_length", how: otherValue,
		failed: true, cases: []string{"lab: cert-revoked *"}, when: "the same", why: "The same: there is no answer."},
	{what: "probe_success", how: otherValue, failed: true, cases: []string{"lab: redirect-downgrade", "http: redirect to http"},
		when: "a redirect leads from https to http", why: "From there on the request is in the clear."},
	{what: "probe_http_status_code probe_http_version probe_http_ssl probe_http_content_length", how: otherValue, failed: true,
		cases: []string{"lab: redirect-ping-pong"}, when: "redirects lead in a circle",
		why: "The circle is recognised where it closes, and the facts are that hop's; blackbox_exporter goes round ten times. probe_http_redirects is 11 for both."},
	{what: "probe_success probe_http_status_code probe_http_version probe_http_ssl", how: otherValue, failed: true, cases: []string{"lab: hostile-headers"},
		when: "the header of an answer is larger than 64 KiB", why: "What a peer may make us keep is bounded."},
	{what: "probe_success probe_http_uncompressed_body_length", how: otherValue, cases: []string{"lab: hostile-body"},
		when: "a body is larger than 10 MiB, without `body_size_limit`", why: "No more of it is read; blackbox_exporter reads until the timeout."},
	{what: "probe_success", how: otherValue, failed: true, cases: []string{"dns: dns_nodata"},
		when: "dns: the name exists without a record of the type asked for, and the module validates neither rcodes nor records",
		why:  "An answer without what was asked for is the failure `dns_nodata`; `valid_rcodes: [NOERROR]` takes it for right."},
	{what: "probe_ssl_earliest_cert_expiry probe_ssl_last_chain_expiry_timestamp_seconds probe_ssl_last_chain_info probe_tls_version_info",
		how: onlyHere, cases: []string{"dns: over TLS"}, when: "dns with `dns_over_tls`", why: "The server's certificate expires as others do."},
	{what: "*", cases: []string{"grpc: without a section"}, when: "grpc: the module has no section `grpc`",
		why: "It has the section's defaults; blackbox_exporter 0.28 then probes IPv6 only."},
	{what: "*", cases: []string{"lab: connect-local-error *"}, when: "the target is a link-local or cloud metadata address: status 403",
		why: "`allow: any` does not admit them; a rule that names their network does."},
	{what: "*", cases: []string{"lab: grpc-hangs", "lab: hostile-grpc-pings"}, when: "grpc: the server does not answer the call",
		why: "Timeouts hold; blackbox_exporter 0.28 does not answer the scrape either."},
}

// dropInDocument renders the list.
func dropInDocument() string {
	var b strings.Builder
	b.WriteString(dropInPreface)
	b.WriteString("| what | how | when | why |\n| --- | --- | --- | --- |\n")
	for _, d := range intendedDifferences {
		what, how := "`"+strings.Join(strings.Fields(d.what), "`, `")+"`", string(d.how)
		if d.what == "*" {
			what, how = "the answer", "another one"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", what, how, d.when, d.why)
	}
	b.WriteString(dropInUnseen)
	return b.String()
}

const dropInPreface = `# For users of blackbox_exporter

Written by ` + "`UPDATE_DOCS=1 go test ./cmd/tlsprobe -run TestDropIn`" + `, which makes the same requests to blackbox_exporter 0.28.0 and to
` + "`tlsprobe agent`" + ` with the same configuration and compares status, media type, and each metric's name, type, labels and value
(how long something took: that it is there).

## Moving

A blackbox.yml is a configuration of tlsprobe. Add one line and start the agent where the exporter was:

    echo 'probe_endpoint: {allow: any}' >> blackbox.yml
    tlsprobe agent --config.file=blackbox.yml --web.listen-address=:9115

- The line opens /probe to any address, but link-local and cloud metadata ones, for whoever can reach it. Better: name the
  networks and ports that you probe ([config.example.yaml](../config.example.yaml)), or the targets, which also have a schedule then.
- Modules whose prober is icmp, unix or websocket are left out, each with a warning at start; /probe answers 400 for them.
- ` + "`module` defaults to `http_2xx`. `http_2xx`, `http_post_2xx`, `tcp_connect`, `tls_connect`, `grpc`, `grpc_plain`, `pop3s_banner`, `ssh_banner` and `irc_banner`" + `
  are there without an entry in the file; an entry of that name takes their place.
- Scrapes get metrics: what sends X-Prometheus-Scrape-Timeout-Seconds, or accepts ` + "`text/plain; version=0.0.4`" + ` or protobuf by name.
  curl and browsers get a page of text for people; ` + "`?format=metrics`" + ` gets them the metrics, ` + "`&debug=true`" + ` blackbox_exporter's three blocks.
- ` + "`ssl_metrics: true`" + ` in a module adds [ssl_exporter's metrics](METRICS.md) for its users.

## What differs on purpose

`

const dropInUnseen = `
Beside what the requests show:

- Addresses that the configuration does not allow are refused with 403, where blackbox_exporter probes anything.
- More than 1,000 probes at once are refused with 429.
- Answers to /probe are never compressed.
- A scrape's timeout below the half second that is left for the way back is taken as it is.
- The first 100 names of a certificate are in ` + "`subjectalternative`" + `, and label values end after 1 KiB.
- ` + "`send`" + ` gets no line feed behind it where it holds a NUL byte: PostgreSQL logs one as an attack.
- ` + "`pop3s_banner`" + `, as built in, expects ` + "`^\\+OK`" + `; as blackbox_exporter ships it, ` + "`^+OK`" + `, it matches no greeting.
- A tcp module that says and expects nothing only asks the server's kernel, on Linux: no program logs the connection.
- The peer sees another User-Agent, a polite end of each connection, and no request where it is not trusted.
`
