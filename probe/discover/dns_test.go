package discover_test

import (
	"strings"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// A module of blackbox_exporter's grammar means what it means there.
func TestDNSModule(t *testing.T) {
	c := parse(t, `
modules:
  soa:
    prober: dns
    dns:
      query_name: "example.com"
      query_type: "SOA"
  udp:
    prober: dns
    timeout: 5s
    dns:
      query_name: www.example.com
      preferred_ip_protocol: ip4
      ip_protocol_fallback: false
      recursion_desired: false
      valid_rcodes:
        - NOERROR
      validate_answer_rrs:
        fail_if_matches_regexp:
          - ".*127.0.0.1"
        fail_if_not_matches_regexp:
          - "www.example.com.\t300\tIN\tA\t127.0.0.1"
      validate_additional_rrs: {fail_if_none_matches_regexp: ["a"], fail_if_all_match_regexp: ["b"]}
targets:
  - {address: 10.96.0.10, module: soa}
  - {address: "2001:db8::1", module: soa}
  - {address: "[2001:db8::2]", module: soa}
  - {address: dns.example, module: soa}
  - {address: "dns.example:5353", module: udp}
`)
	soa := c.Modules["soa"].Prober.(*probe.DNSProber)
	if soa.QueryType != "SOA" || soa.QueryClass != "IN" || !soa.RecursionDesired || !soa.IPProtocolFallback {
		t.Errorf("module soa: %+v", soa)
	}
	udp := c.Modules["udp"].Prober.(*probe.DNSProber)
	if udp.QueryType != "ANY" || udp.RecursionDesired || udp.IPProtocolFallback || udp.PreferredIPProtocol != "ip4" {
		t.Errorf("module udp: %+v", udp)
	}
	line := "www.example.com.\t300\tIN\tA\t127.0.0.1"
	rules := udp.ValidateAnswerRRs
	if len(rules.FailIfNotMatches) != 1 || !rules.FailIfNotMatches[0].MatchString(line) || len(rules.FailIfMatches) != 1 {
		t.Errorf("rules: %+v", rules)
	}
}

func TestDNSModuleMistakes(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{"query_type: A", "c.yaml:1:33: modules.m.dns.query_name: is missing: write the name to ask for"},
		{"query_name: a..b", `modules.m.dns.query_name: "a..b" is not a DNS name`},
		{"query_name: a, query_type: a", `modules.m.dns.query_type: unknown type "a": write A, AAAA`},
		{"query_name: a, query_class: X", `modules.m.dns.query_class: unknown class "X"`},
		{"query_name: a, transport_protocol: tls", `modules.m.dns.transport_protocol: "tls" is neither udp nor tcp`},
		{"query_name: a, transport_protocol: udp, dns_over_tls: true", `modules.m.dns.transport_protocol: udp excludes dns_over_tls`},
		{"query_name: a, source_ip_address: eth0", `modules.m.dns.source_ip_address: "eth0" is not an IP address`},
		{"query_name: a, valid_rcodes: [NOERROR, nxdomain]", `modules.m.dns.valid_rcodes[1]: unknown response code "nxdomain"`},
		{"query_name: a, validate_answer_rrs: {fail_if_matches_regexp: ['(']}", `modules.m.dns.validate_answer_rrs.fail_if_matches_regexp[0]: "(" is no regular expression`},
		{"query_name: a, tls_config: {cert_file: x}", `modules.m.dns.tls_config: cert_file and key_file go together`},
		{"query_name: a, preferred_ip_protocol: ipv4", `modules.m.dns.preferred_ip_protocol: "ipv4" is neither ip4 nor ip6`},
		{"query_nam: a", `query_nam`},
	} {
		_, err := discover.Parse("c.yaml", []byte("modules: {m: {prober: dns, dns: {"+test.settings+"}}}\ntargets: [{address: \"a:1\"}]"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got\n%v\nwant %q", test.settings, err, test.want)
		}
	}
}

func TestDNSAddressMistakes(t *testing.T) {
	for _, address := range []string{"2001:db8::1:5353:x", "dns.example:dns", "a b", "https://dns.example/", ":53"} {
		_, err := discover.Parse("c.yaml", []byte(`{modules: {m: {prober: dns, dns: {query_name: a}}}, targets: [{address: "`+address+`", module: m}]}`))
		if err == nil || !strings.Contains(err.Error(), "targets[0].address") {
			t.Errorf("%q: got %v, want an error at the address", address, err)
		}
	}
}
