package probe_test

import (
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"tlsprobe/probe"
)

// dnsTarget asks address for the A records of a name, unless an edit says
// otherwise.
func dnsTarget(address, name string, edits ...func(*probe.DNSProber)) *probe.Target {
	p := probe.NewProber("dns").(*probe.DNSProber)
	p.QueryName, p.QueryType = name, "A"
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Target{
		Name: "dns", Address: address, Schedule: probe.Schedule{Timeout: 5 * time.Second},
		Module: &probe.Module{Name: "dns", Kind: "dns", Prober: p},
	}
}

func overTCP(p *probe.DNSProber) { p.TransportProtocol = "tcp" }

func queryType(name string) func(*probe.DNSProber) {
	return func(p *probe.DNSProber) { p.QueryType = name }
}

func validRcodes(names ...string) func(*probe.DNSProber) {
	return func(p *probe.DNSProber) { p.ValidRcodes = names }
}

func runDNS(t *testing.T, target *probe.Target) *probe.Result {
	t.Helper()
	if err := target.Module.Prober.Validate(); err != nil {
		t.Fatal(err)
	}
	return probe.NewRunner("test-node").Run(t.Context(), target)
}

// checkVerdict fails unless the only reason is want, "" for none, and its detail
// says as much.
func checkVerdict(t *testing.T, res *probe.Result, want, detail string) {
	t.Helper()
	if got := strings.Join(ids(res), " "); got != want {
		t.Fatalf("reasons %q, want %q: %+v", got, want, res.Worst())
	}
	if want != "" && !strings.Contains(res.Worst().Detail, detail) {
		t.Errorf("detail %q, want %q in it", res.Worst().Detail, detail)
	}
}

func TestDNSFacts(t *testing.T) {
	addr := startDNS(t).Addr()
	soa := "lab.test.\t5\tIN\tSOA\tns.lab.test. hostmaster.lab.test. 2026112101 3600 600 86400 5"
	for _, tt := range []struct {
		name   string
		target *probe.Target
		want   probe.DNS
	}{
		{"SOA", dnsTarget(addr, "lab.test", queryType("SOA")), probe.DNS{Name: "lab.test.", Type: "SOA", Transport: "udp",
			RCode: "NOERROR", Answers: 1, Records: []string{soa}, Serial: 2026112101}},
		{"over TCP", dnsTarget(addr, "good.lab.test", overTCP), probe.DNS{Name: "good.lab.test.", Type: "A", Transport: "tcp",
			RCode: "NOERROR", Answers: 1, Records: []string{"good.lab.test.\t5\tIN\tA\t127.0.0.1"}}},
		{"truncated", dnsTarget(addr, "truncated.lab.test."), probe.DNS{Name: "truncated.lab.test.", Type: "A", Transport: "udp", Retried: true,
			RCode: "NOERROR", Answers: 1, Records: []string{"truncated.lab.test.\t5\tIN\tA\t127.0.0.1"}}},
		{"HTTPS", dnsTarget(addr, "good.lab.test", queryType("HTTPS")), probe.DNS{Name: "good.lab.test.", Type: "HTTPS", Transport: "udp",
			RCode: "NOERROR", Answers: 1, Records: []string{"good.lab.test.\t5\tIN\tHTTPS\t1 . alpn=\"h2,h3\""}}},
		{"SVCB", dnsTarget(addr, "_dns.good.lab.test", queryType("SVCB")), probe.DNS{Name: "_dns.good.lab.test.", Type: "SVCB", Transport: "udp",
			RCode: "NOERROR", Answers: 1, Records: []string{"_dns.good.lab.test.\t5\tIN\tSVCB\t1 good.lab.test. alpn=\"dot\""}}},
		{"through an alias", dnsTarget(addr, "alias.lab.test", queryType("MX")), probe.DNS{Name: "alias.lab.test.", Type: "MX", Transport: "udp",
			RCode: "NOERROR", Answers: 3, Records: []string{"alias.lab.test.\t5\tIN\tCNAME\tsecond-alias.lab.test.",
				"second-alias.lab.test.\t5\tIN\tCNAME\tgood.lab.test.", "good.lab.test.\t5\tIN\tMX\t10 mail.lab.test."}}},
		{"an alias itself", dnsTarget(addr, "alias-of-nothing.lab.test", queryType("CNAME"), validRcodes("NXDOMAIN")),
			probe.DNS{Name: "alias-of-nothing.lab.test.", Type: "CNAME", Transport: "udp",
				RCode: "NXDOMAIN", Answers: 1, Records: []string{"alias-of-nothing.lab.test.\t5\tIN\tCNAME\tnothing.lab.test."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := runDNS(t, tt.target)
			checkVerdict(t, res, "", "")
			tt.want.Class, tt.want.Answered, tt.want.RecursionAvailable = "IN", true, true
			if diff := cmp.Diff(&tt.want, res.Attempts[0].DNS); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if !res.Attempts[0].Local.IsValid() || res.Attempts[0].Phases[probe.PhaseRequest] <= 0 {
				t.Errorf("local address %s, request time %s", res.Attempts[0].Local, res.Attempts[0].Phases[probe.PhaseRequest])
			}
		})
	}
}

// TestDNSFactsAreBounded asks for more records than are kept.
func TestDNSFactsAreBounded(t *testing.T) {
	server := startDNS(t)
	for i := range 60 {
		server.Add("crowd.test", netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	facts := runDNS(t, dnsTarget(server.Addr(), "crowd.test", overTCP)).Attempts[0].DNS
	if facts.Answers != 60 || len(facts.Records) != 16 {
		t.Errorf("%d answers and %d kept, want 60 and 16", facts.Answers, len(facts.Records))
	}
}

func TestDNSResponseCodes(t *testing.T) {
	addr := startDNS(t).Addr()
	withoutRecursion := func(p *probe.DNSProber) { p.RecursionDesired = false }
	for _, tt := range []struct {
		name, query    string
		edit           func(*probe.DNSProber)
		reason, detail string
	}{
		{"no such name", "nothing.lab.test", validRcodes(), "dns_nxdomain", `looking up "nothing.lab.test": ` + addr + ": NXDOMAIN: no such name"},
		{"an alias of nothing", "alias-of-nothing.lab.test", validRcodes(), "dns_nxdomain", "is an alias of nothing.lab.test., which does not exist"},
		{"no such name, as expected", "nothing.lab.test", validRcodes("NXDOMAIN"), "", ""},
		{"no such name, another code expected", "nothing.lab.test", validRcodes("NOERROR", "SERVFAIL"), "dns_nxdomain", ""},
		{"a name that should not be", "good.lab.test", validRcodes("NXDOMAIN"), "dns_validation_failed", "NOERROR to A good.lab.test."},
		{"SERVFAIL", "servfail.lab.test", validRcodes(), "dns_servfail", "SERVFAIL to A servfail.lab.test."},
		{"SERVFAIL, as expected", "servfail.lab.test", validRcodes("SERVFAIL"), "", ""},
		{"REFUSED", "refused.lab.test", validRcodes(), "dns_refused", ""},
		{"REFUSED, as expected", "refused.lab.test", validRcodes("NOERROR", "REFUSED"), "", ""},
		{"NOTIMP", "notimp.lab.test", validRcodes(), "dns_error", "NOTIMP to A notimp.lab.test."},
		{"no record of the type", "good.lab.test", queryType("TXT"), "dns_nodata", "good.lab.test. exists, but has no TXT record"},
		{"any record", "good.lab.test", queryType("ANY"), "", ""},
		{"any record, of none", "lame.lab.test", func(p *probe.DNSProber) { p.QueryType, p.QueryClass = "", "" }, "", ""},
		{"no record, only the code matters", "nodata.lab.test", validRcodes("NOERROR"), "", ""},
		{"a loop", "loop.lab.test", validRcodes(), "dns_error", "CNAME loop: loop.lab.test. -> loop-back.lab.test. -> loop.lab.test."},
		{"a referral", "lame.lab.test", validRcodes(), "dns_error", "lame referral"},
		{"a referral, without recursion", "lame.lab.test", withoutRecursion, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := runDNS(t, dnsTarget(addr, tt.query, tt.edit))
			checkVerdict(t, res, tt.reason, tt.detail)
			if tt.reason == "dns_servfail" {
				if p := res.Worst(); p.Expected != "NOERROR" || p.Received != "SERVFAIL" {
					t.Errorf("expected %q, received %q", p.Expected, p.Received)
				}
			}
		})
	}
}

// TestDNSRecordRules holds to what blackbox_exporter does with the same settings,
// on nine A records of 127.0.0.1 to 127.0.0.9.
func TestDNSRecordRules(t *testing.T) {
	addr := startDNS(t).Addr()
	type rules = probe.RecordRules
	list := func(exprs ...string) (out []probe.Regexp) {
		for _, expr := range exprs {
			out = append(out, probe.Regexp{Regexp: regexp.MustCompile(expr)})
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		answer rules
		extra  rules
		detail string // "": good
		notes  int
	}{
		{name: "matches none", answer: rules{FailIfMatches: list(`10\.0`, `10\.1`)}},
		{name: "matches one", answer: rules{FailIfMatches: list(`10\.0`, `127\.0\.0\.9$`)},
			detail: `validate_answer_rrs.fail_if_matches_regexp: the record "many.lab.test.\t5\tIN\tA\t127.0.0.9" matches`},
		{name: "all match", answer: rules{FailIfAllMatch: list(`127\.`, `\tIN\tA\t`)}},
		{name: "all but one match", answer: rules{FailIfAllMatch: list(`127\.0\.0\.[1-8]`)},
			detail: `fail_if_all_match_regexp: the record "many.lab.test.\t5\tIN\tA\t127.0.0.9" does not match`},
		{name: "all match, of none", extra: rules{FailIfAllMatch: list(`x`)}},
		{name: "each matches each", answer: rules{FailIfNotMatches: list(`127\.`, `many`)}},
		{name: "each matches one of two", answer: rules{FailIfNotMatches: list(`127\.`, `few`)},
			detail: `fail_if_not_matches_regexp: the record "many.lab.test.\t5\tIN\tA\t127.0.0.1" does not match "few"`},
		{name: "no record to match", extra: rules{FailIfNotMatches: list(`x`)},
			detail: `validate_additional_rrs.fail_if_not_matches_regexp: there is no record to match "x"`},
		{name: "one of them matches one of two", answer: rules{FailIfNoneMatches: list(`127\.0\.0\.5$`, `few`)}},
		{name: "none of them matches", answer: rules{FailIfNoneMatches: list(`10\.`, `few`)},
			detail: `fail_if_none_matches_regexp: no record of 9 matches "10\\."`},
		{name: "none to match", extra: rules{FailIfNoneMatches: list(`x`)}, detail: `no record of 0 matches "x"`},
		{name: "several rules of two sections", notes: 2,
			answer: rules{FailIfMatches: list(`127`), FailIfNoneMatches: list(`few`)}, extra: rules{FailIfNoneMatches: list(`x`)},
			detail: "validate_answer_rrs.fail_if_matches_regexp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reason := ""
			if tt.detail != "" {
				reason = "dns_validation_failed"
			}
			res := runDNS(t, dnsTarget(addr, "many.lab.test", func(p *probe.DNSProber) {
				p.ValidateAnswerRRs, p.ValidateAdditionalRRs = tt.answer, tt.extra
			}))
			checkVerdict(t, res, reason, tt.detail)
			if tt.detail != "" && len(res.Worst().Notes) != tt.notes {
				t.Errorf("notes %q, want %d", res.Worst().Notes, tt.notes)
			}
		})
	}
}

// TestDNSDialled says which address is dialled for which target, and that the
// guard is asked before.
func TestDNSDialled(t *testing.T) {
	overTLS := func(p *probe.DNSProber) { p.DNSOverTLS = true }
	for _, tt := range []struct {
		address string
		edit    func(*probe.DNSProber)
		want    string
	}{
		{"127.0.0.1", validRcodes(), "127.0.0.1:53"},
		{"127.0.0.1:5353", validRcodes(), "127.0.0.1:5353"},
		{"127.0.0.1", overTCP, "127.0.0.1:53"},
		{"127.0.0.1", overTLS, "127.0.0.1:853"},
		{"127.0.0.1:53", overTLS, "127.0.0.1:53"},
		{"::1", validRcodes(), "[::1]:53"},
		{"[::1]", overTLS, "[::1]:853"},
		{"[::1]:5353", validRcodes(), "[::1]:5353"},
	} {
		t.Run(tt.address, func(t *testing.T) {
			asked := ""
			runner := probe.NewRunner("test-node").Guarded(func(addr netip.AddrPort) error {
				asked = addr.String()
				return errors.New("not allowed")
			})
			res := runner.Run(t.Context(), dnsTarget(tt.address, "good.lab.test", tt.edit))
			checkVerdict(t, res, "address_refused", "not allowed")
			if asked != tt.want {
				t.Errorf("asked for %s, want %s", asked, tt.want)
			}
		})
	}
	for _, address := range []string{"", "dns.example:", "a:b:c", ":53", "dns.example:0"} {
		checkVerdict(t, runDNS(t, dnsTarget(address, "good.lab.test")), "target_misconfigured", "")
	}
}

func TestDNSSourceAddress(t *testing.T) {
	from := func(p *probe.DNSProber) { p.SourceIPAddress = "127.0.0.5" }
	addr := startDNS(t).Addr()
	dot := startScenario(t, newLab(t), "dot-good").Target
	from(dot.Module.Prober.(*probe.DNSProber))
	for _, target := range []*probe.Target{
		dnsTarget(addr, "good.lab.test", from), dnsTarget(addr, "good.lab.test", from, overTCP), dot,
	} {
		res := runDNS(t, target)
		checkVerdict(t, res, "", "")
		if got := res.Attempts[0].Local.Addr().String(); got != "127.0.0.5" {
			t.Errorf("over %s: asked from %s", res.Attempts[0].DNS.Transport, got)
		}
	}
}

// TestDNSWithoutAnswer has servers that answer nothing of use.
func TestDNSWithoutAnswer(t *testing.T) {
	server := startDNS(t)
	silent, _ := silentServer(t)
	for _, tt := range []struct {
		name           string
		target         *probe.Target
		reason, detail string
	}{
		{"nobody listens on UDP", dnsTarget(deadServer(t), "good.lab.test"), "dns_error", "connection refused"},
		{"nobody listens on TCP", dnsTarget(silent, "good.lab.test", overTCP), "tcp_refused", ""},
		{"silence", dnsTarget(silent, "good.lab.test"), "dns_timeout", "no answer to A good.lab.test. before the probe's time was up"},
		{"silence over TCP", dnsTarget(listenTCP(t, func(c net.Conn) { c.Read(make([]byte, 1<<10)); c.Read(make([]byte, 1)) }), "a", overTCP), "dns_timeout", ""},
		{"truncated, then silence", dnsTarget(server.Addr(), "truncated-silent.lab.test"), "dns_error",
			"the answer is truncated, and asking again over TCP failed: no answer"},
		{"truncated, then closed", dnsTarget(server.Addr(), "truncated-closed.lab.test"), "dns_error", "asking again over TCP failed"},
		{"half an answer", dnsTarget(listenTCP(t, func(c net.Conn) { c.Read(make([]byte, 1<<10)); c.Write([]byte{0, 20, 1}) }), "a", overTCP), "dns_error", "unexpected EOF"},
		{"the answers to others", dnsTarget(listenTCP(t, answerOthers), "a", overTCP), "dns_error", "none of the first 100 messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.reason == "dns_timeout" || strings.Contains(tt.detail, "no answer") {
				tt.target.Timeout = 300 * time.Millisecond
			}
			res := runDNS(t, tt.target)
			checkVerdict(t, res, tt.reason, tt.detail)
			if facts := res.Attempts[0].DNS; facts == nil || facts.Answered {
				t.Errorf("facts: %+v", facts)
			}
		})
	}
}

// answerOthers sends answers to questions that nobody asked, without end.
func answerOthers(c net.Conn) {
	conn := dns.Conn{Conn: c}
	reply := new(dns.Msg).SetQuestion("b.", dns.TypeA)
	reply.Response = true
	for conn.WriteMsg(reply) == nil {
	}
}

// listenTCP serves each connection by handle, and closes it after. It returns the
// address.
func listenTCP(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

// TestDNSOverTLSTrust sends no question to a peer that is not trusted, keeps the
// facts of its certificate, and may be told not to care.
func TestDNSOverTLSTrust(t *testing.T) {
	i := startScenario(t, newLab(t), "dot-several-faults")
	res := runDNS(t, i.Target)
	checkVerdict(t, res, "cert_expired hostname_mismatch", "")
	a := res.Attempts[0]
	if a.DNS.Answered || a.Phases[probe.PhaseRequest] != 0 || a.TLS == nil || len(a.TLS.Chain) == 0 {
		t.Errorf("facts: %+v, TLS %+v", a.DNS, a.TLS)
	}
	i.Target.Module.Prober.(*probe.DNSProber).TLSConfig.InsecureSkipVerify = true
	res = runDNS(t, i.Target)
	checkVerdict(t, res, "", "")
	if a := res.Attempts[0]; !a.DNS.Answered || a.DNS.Transport != "tls" || a.Phases[probe.PhaseTLS] <= 0 {
		t.Errorf("facts: %+v, phases %v", a.DNS, a.Phases)
	}
}

// TestDNSTargetByName looks the DNS server's own name up.
func TestDNSTargetByName(t *testing.T) {
	server := startDNS(t)
	server.Add("ns.test", netip.MustParseAddr("127.0.0.1"))
	_, port, _ := net.SplitHostPort(server.Addr())
	for name, reason := range map[string]string{"ns.test": "", "gone.test": "dns_nxdomain"} {
		res := runDNS(t, dnsTarget(net.JoinHostPort(name, port), "good.lab.test", func(p *probe.DNSProber) { p.Resolver = server.Addr() }))
		checkVerdict(t, res, reason, `looking up "gone.test"`)
		if a := res.Attempts[0]; (a.DNS != nil) != (reason == "") {
			t.Errorf("%s: facts: %+v", name, a.DNS)
		}
	}
}
