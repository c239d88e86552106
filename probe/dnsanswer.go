package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// readAnswer returns the addresses that msg, the answer to query, has at the end
// of the name's chain of aliases (RFC 1034, Section 3.6.2).
func readAnswer(msg, query *dns.Msg) ([]netip.Addr, *lookupError) {
	name := query.Question[0].Name
	end, err := followAliases(msg.Answer, name)
	if err != nil {
		return nil, &lookupError{RCode: noRCode, Err: err}
	}
	var addrs []netip.Addr
	for _, rr := range msg.Answer {
		if addr := recordAddress(rr); addr.IsValid() && strings.EqualFold(rr.Header().Name, end) {
			addrs = append(addrs, addr)
		}
	}
	switch {
	case msg.Rcode == dns.RcodeSuccess && len(addrs) > 0:
		return addrs, nil
	case isLame(msg):
		err := fmt.Errorf("lame referral: the server neither asks others nor has authority over %s", name)
		return nil, &lookupError{RCode: noRCode, Err: err}
	case strings.EqualFold(end, name):
		end = ""
	}
	return nil, &lookupError{RCode: msg.Rcode, Alias: end, Err: negative(msg.Rcode, query, end)}
}

// negative says what an answer without an address means. alias is what the name
// asked for is an alias of, or "".
func negative(rcode int, query *dns.Msg, alias string) error {
	name := query.Question[0].Name
	switch {
	case rcode == dns.RcodeNameError && alias != "":
		return fmt.Errorf("NXDOMAIN: %s is an alias of %s, which does not exist", name, alias)
	case rcode == dns.RcodeNameError:
		return errors.New("NXDOMAIN: no such name")
	case rcode == dns.RcodeSuccess && alias != "":
		return fmt.Errorf("%s is an alias of %s, which has no address", name, alias)
	case rcode == dns.RcodeSuccess:
		return fmt.Errorf("%s exists, but has no address", name)
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
	for _, rr := range msg.Ns {
		if _, ok := rr.(*dns.SOA); ok {
			return false // a negative answer (RFC 2308, Section 2.2)
		}
	}
	return true
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
