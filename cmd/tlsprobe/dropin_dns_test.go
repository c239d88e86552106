package main

const dnsModules = `
  dns_a: {prober: dns, dns: {query_name: good.lab.test, query_type: A}}
  dns_any: {prober: dns, dns: {query_name: good.lab.test}}
  dns_tcp: {prober: dns, dns: {query_name: good.lab.test, query_type: A, transport_protocol: tcp}}
  dns_soa: {prober: dns, dns: {query_name: lab.test, query_type: SOA}}
  dns_mx: {prober: dns, dns: {query_name: good.lab.test, query_type: MX, recursion_desired: false}}
  dns_none: {prober: dns, dns: {query_name: nothing.lab.test, query_type: A}}
  dns_none_is_right: {prober: dns, dns: {query_name: nothing.lab.test, query_type: A, valid_rcodes: [NXDOMAIN]}}
  dns_nodata: {prober: dns, dns: {query_name: ip4only.lab.test, query_type: AAAA}}
  dns_servfail: {prober: dns, dns: {query_name: servfail.lab.test, query_type: A}}
  dns_refused: {prober: dns, dns: {query_name: refused.lab.test, query_type: A}}
  dns_silent: {prober: dns, timeout: 600ms, dns: {query_name: silent.lab.test, query_type: A}}
  dns_garbage: {prober: dns, timeout: 600ms, dns: {query_name: garbage.lab.test, query_type: A}}
  dns_matches: {prober: dns, dns: {query_name: good.lab.test, query_type: A, validate_answer_rrs: {fail_if_matches_regexp: [".*127.0.0.1"]}}}
  dns_matches_not: {prober: dns, dns: {query_name: good.lab.test, query_type: A, validate_answer_rrs: {fail_if_not_matches_regexp: ["127.0.0.1"]}}}
  dns_all: {prober: dns, dns: {query_name: many.lab.test, query_type: A, validate_answer_rrs: {fail_if_all_match_regexp: ["127"]}}}
  dns_none_of: {prober: dns, dns: {query_name: many.lab.test, query_type: A, validate_answer_rrs: {fail_if_none_matches_regexp: ["127.0.0.9"]}}}
  dns_authority: {prober: dns, dns: {query_name: good.lab.test, query_type: A, validate_authority_rrs: {fail_if_not_matches_regexp: ["NS"]}}}
  dot: {prober: dns, dns: {query_name: good.lab.test, query_type: A, transport_protocol: tcp, dns_over_tls: true, tls_config: {ca_file: CA, server_name: good.lab.test}}}
  dot_untrusting: {prober: dns, dns: {query_name: good.lab.test, query_type: A, transport_protocol: tcp, dns_over_tls: true}}
`

func (p *dropInPeers) dnsCases() []scrapeCase {
	server, overTLS := p.instances["dns-good"].Target.Address, p.instances["dot-good"].Target.Address
	var cases []scrapeCase
	for _, module := range []string{"dns_a", "dns_any", "dns_tcp", "dns_soa", "dns_mx", "dns_none", "dns_none_is_right", "dns_nodata",
		"dns_servfail", "dns_refused", "dns_silent", "dns_garbage", "dns_matches", "dns_matches_not", "dns_all", "dns_none_of", "dns_authority"} {
		cases = append(cases, scrapeCase{name: "dns: " + module, module: module, target: server})
	}
	return append(cases,
		scrapeCase{name: "dns: TCP refused", module: "dns_tcp", target: p.closed},
		scrapeCase{name: "dns: a name with a mistake", module: "dns_a", target: "a..b"},
		scrapeCase{name: "dns: over TLS", module: "dot", target: overTLS},
		scrapeCase{name: "dns: over TLS, untrusted", module: "dot_untrusting", target: overTLS},
		scrapeCase{name: "dns: over TLS, to a plain port", module: "dot", target: server},
	)
}
