package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// readAnswer returns the records asked for that msg, the answer to query, has at
// the end of the name's chain of aliases (RFC 1034, Section 3.6.2): at least one,
// unless there is a failure.
func readAnswer(msg, query *dns.Msg) ([]dns.RR, *lookupError) {
	q := query.Question[0]
	end := q.Name
	if q.Qtype != dns.TypeCNAME && q.Qtype != dns.TypeANY {
		var err error
		if end, err = followAliases(msg.Answer, end); err != nil {
			return nil, &lookupError{RCode: noRCode, Err: err}
		}
	}
	var records []dns.RR
	for _, rr := range msg.Answer {
		if isOfType(rr, q.Qtype) && strings.EqualFold(rr.Header().Name, end) {
			records = append(records, rr)
		}
	}
	switch {
	case msg.Rcode == dns.RcodeSuccess && len(records) > 0:
		return records, nil
	case isLame(msg):
		err := fmt.Errorf("lame referral: the server neither asks others nor has authority over %s", q.Name)
		return nil, &lookupError{RCode: noRCode, Err: err}
	case strings.EqualFold(end, q.Name):
		end = ""
	}
	return nil, &lookupError{RCode: msg.Rcode, Alias: end, Err: negative(msg.Rcode, query, end)}
}

// isOfType reports whether rr answers a question for records of this type. An
// address record may come without an address.
func isOfType(rr dns.RR, qtype uint16) bool {
	switch rr.(type) {
	case *dns.A, *dns.AAAA:
		if !recordAddress(rr).IsValid() {
			return false
		}
	}
	return qtype == dns.TypeANY || rr.Header().Rrtype == qtype
}

// negative says what an answer without a record asked for means. alias is what
// the name asked for is an alias of, or "".
func negative(rcode int, query *dns.Msg, alias string) error {
	q := query.Question[0]
	name, missing := q.Name, dns.TypeToString[q.Qtype]+" record"
	switch q.Qtype {
	case dns.TypeA, dns.TypeAAAA:
		missing = "address"
	case dns.TypeANY:
		missing = "record"
	}
	switch {
	case rcode == dns.RcodeNameError && alias != "":
		return fmt.Errorf("NXDOMAIN: %s is an alias of %s, which does not exist", name, alias)
	case rcode == dns.RcodeNameError:
		return errors.New("NXDOMAIN: no such name")
	case rcode == dns.RcodeSuccess && alias != "":
		return fmt.Errorf("%s is an alias of %s, which has no %s", name, alias, missing)
	case rcode == dns.RcodeSuccess:
		return fmt.Errorf("%s exists, but has no %s", name, missing)
	}
	if text, ok := dns.RcodeToString[rcode]; ok {
		return fmt.Errorf("%s to %s", text, questionText(query))
	}
	return fmt.Errorf("response code %d to %s", rcode, questionText(query))
}

// isLame reports whether msg leaves the question to other servers: neither
// answer nor authority, and no recursion.
func isLame(msg *dns.Msg) bool {
	if msg.Rcode != dns.RcodeSuccess || msg.Authoritative || msg.RecursionAvailable || len(msg.Answer) > 0 {
		return false
	}
	return !isNegative(msg)
}

// isNegative reports whether msg says with authority that what was asked for is
// not there (RFC 2308, Section 2).
func isNegative(msg *dns.Msg) bool {
	return slices.ContainsFunc(msg.Ns, func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeSOA })
}

// followAliases returns the last name of the chain of CNAME records that begins
// at name.
func followAliases(answer []dns.RR, name string) (string, error) {
	target := map[string]string{}
	for _, rr := range answer {
		if cname, ok := rr.(*dns.CNAME); ok {
			target[strings.ToLower(cname.Hdr.Name)] = cname.Target
		}
	}
	chain := []string{name}
	for len(chain) <= len(target)+1 {
		next, ok := target[strings.ToLower(chain[len(chain)-1])]
		if !ok {
			return chain[len(chain)-1], nil
		}
		chain = append(chain, next)
	}
	const shown = 5
	return "", fmt.Errorf("CNAME loop: %s", strings.Join(chain[:min(len(chain), shown)], " -> "))
}

// addressesOf returns the addresses that records hold.
func addressesOf(records []dns.RR) []netip.Addr {
	var addrs []netip.Addr
	for _, rr := range records {
		if addr := recordAddress(rr); addr.IsValid() {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

func recordAddress(rr dns.RR) netip.Addr {
	var addr netip.Addr
	switch rr := rr.(type) {
	case *dns.A:
		addr, _ = netip.AddrFromSlice(rr.A)
	case *dns.AAAA:
		addr, _ = netip.AddrFromSlice(rr.AAAA)
	}
	return addr
}
