package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// RecordRules say what the records of one section must be like. The expressions
// are matched to each record in zone file form (RFC 1035, Section 5.1), its parts
// separated by tabs: "name.\tTTL\tclass\ttype\tdata".
type RecordRules struct {
	FailIfMatches []Regexp `yaml:"fail_if_matches_regexp,omitempty"`
	// FailIfAllMatch fails unless every record matches every expression. That is
	// not what its name says, and what blackbox_exporter does.
	FailIfAllMatch    []Regexp `yaml:"fail_if_all_match_regexp,omitempty"`
	FailIfNotMatches  []Regexp `yaml:"fail_if_not_matches_regexp,omitempty"`  // any record, any expression
	FailIfNoneMatches []Regexp `yaml:"fail_if_none_matches_regexp,omitempty"` // of all records and expressions
}

func (r *RecordRules) isZero() bool {
	return len(r.FailIfMatches)+len(r.FailIfAllMatch)+len(r.FailIfNotMatches)+len(r.FailIfNoneMatches) == 0
}

// broken says which rules the records break, each rule once.
func (r *RecordRules) broken(records []dns.RR) []string {
	lines := make([]string, len(records))
	for i, rr := range records {
		lines[i] = rr.String()
	}
	var broken []string
	add := func(rule, format string, args ...any) {
		broken = append(broken, rule+": "+fmt.Sprintf(format, args...))
	}
	if line, expr, found := firstPair(lines, r.FailIfMatches, true); found {
		add("fail_if_matches_regexp", "the record %q matches %q", line, expr)
	}
	if line, expr, found := firstPair(lines, r.FailIfAllMatch, false); found {
		add("fail_if_all_match_regexp", "the record %q does not match %q", line, expr)
	}
	if line, expr, found := firstPair(lines, r.FailIfNotMatches, false); found {
		add("fail_if_not_matches_regexp", "the record %q does not match %q", line, expr)
	} else if len(r.FailIfNotMatches) > 0 && len(lines) == 0 {
		add("fail_if_not_matches_regexp", "there is no record to match %q", r.FailIfNotMatches[0].String())
	}
	if len(r.FailIfNoneMatches) > 0 {
		if _, _, found := firstPair(lines, r.FailIfNoneMatches, true); !found {
			add("fail_if_none_matches_regexp", "no record of %d matches %q", len(lines), r.FailIfNoneMatches[0].String())
		}
	}
	return broken
}

// firstPair finds a line and an expression that match, or that do not.
func firstPair(lines []string, exprs []Regexp, match bool) (line, expr string, found bool) {
	for _, line := range lines {
		for _, expr := range exprs {
			if expr.MatchString(line) == match {
				return cut(line), expr.String(), true
			}
		}
	}
	return "", "", false
}

func (p *DNSProber) validateRcodes() error {
	for i, name := range p.ValidRcodes {
		if _, known := dns.StringToRcode[name]; !known {
			return settingErrorf(fmt.Sprintf("valid_rcodes[%d]", i),
				"unknown response code %q: write NOERROR, NXDOMAIN, SERVFAIL, REFUSED or another in capitals", name)
		}
	}
	return nil
}

// expectedRcodes are the response codes that are right.
func (p *DNSProber) expectedRcodes() []string {
	if len(p.ValidRcodes) == 0 {
		return []string{rcodeName(dns.RcodeSuccess)}
	}
	return p.ValidRcodes
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", rcode) // RFC 3597's way for types
}

// saysWhatIsRight reports whether the module does: then nothing else is asked of
// an answer.
func (p *DNSProber) saysWhatIsRight() bool {
	return len(p.ValidRcodes) > 0 ||
		!p.ValidateAnswerRRs.isZero() || !p.ValidateAuthorityRRs.isZero() || !p.ValidateAdditionalRRs.isZero()
}

// judge says what is wrong with an answer.
func (x *dnsProbe) judge(msg *dns.Msg) []Problem {
	rcode, expected := rcodeName(msg.Rcode), x.prober.expectedRcodes()
	switch {
	case !slices.Contains(expected, rcode):
		p := x.unexpectedRcode(msg)
		p.Expected, p.Received = strings.Join(expected, " or "), rcode
		return []Problem{p}
	case x.prober.saysWhatIsRight():
		return x.judgeRecords(msg)
	case x.query.Question[0].Qtype == dns.TypeANY:
		return nil // servers answer that with as little as they like (RFC 8482)
	case !x.prober.RecursionDesired && !isNegative(msg):
		return nil // a referral is as good an answer as any
	}
	if _, failure := readAnswer(msg, x.query); failure != nil {
		return []Problem{x.problem(failure)}
	}
	return nil
}

func (x *dnsProbe) unexpectedRcode(msg *dns.Msg) Problem {
	if msg.Rcode == dns.RcodeSuccess {
		return reasonDNSValidationFailed.problem("%s answers %s to %s, which valid_rcodes does not admit",
			x.attempt.Peer, rcodeName(msg.Rcode), questionText(x.query))
	}
	_, failure := readAnswer(msg, x.query)
	return x.problem(failure)
}

// judgeRecords compares the sections with their rules: one problem for all.
func (x *dnsProbe) judgeRecords(msg *dns.Msg) []Problem {
	var broken []string
	for _, section := range []struct {
		key     string
		rules   *RecordRules
		records []dns.RR
	}{
		{"validate_answer_rrs", &x.prober.ValidateAnswerRRs, msg.Answer},
		{"validate_authority_rrs", &x.prober.ValidateAuthorityRRs, msg.Ns},
		{"validate_additional_rrs", &x.prober.ValidateAdditionalRRs, msg.Extra},
	} {
		for _, rule := range section.rules.broken(section.records) {
			broken = append(broken, section.key+"."+rule)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	p := reasonDNSValidationFailed.problem("%s", broken[0])
	p.Notes = broken[1:]
	return []Problem{p}
}
