package probe

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// DNSProber asks a DNS server one question and judges its answer:
// blackbox_exporter's grammar. A module that says neither which response codes
// nor which records are right wants the records it asks for, unless it asks for
// ANY.
type DNSProber struct {
	QueryName  string `yaml:"query_name"`            // required; always absolute: no search domains
	QueryType  string `yaml:"query_type,omitempty"`  // default ANY
	QueryClass string `yaml:"query_class,omitempty"` // default IN
	// RecursionDesired asks the server to ask others; default true.
	RecursionDesired bool `yaml:"recursion_desired"`
	// TransportProtocol is "udp" or "tcp"; empty: udp, or tcp for DNS over TLS.
	TransportProtocol string    `yaml:"transport_protocol,omitempty"`
	DNSOverTLS        bool      `yaml:"dns_over_tls,omitempty"` // RFC 7858
	TLSConfig         TLSConfig `yaml:"tls_config,omitempty"`
	// ValidRcodes are the response codes that are right; default: NOERROR.
	ValidRcodes           []string    `yaml:"valid_rcodes,omitempty"`
	ValidateAnswerRRs     RecordRules `yaml:"validate_answer_rrs,omitempty"`
	ValidateAuthorityRRs  RecordRules `yaml:"validate_authority_rrs,omitempty"`
	ValidateAdditionalRRs RecordRules `yaml:"validate_additional_rrs,omitempty"`
	SourceIPAddress       string      `yaml:"source_ip_address,omitempty"` // empty: as routed
	AddressSettings       `yaml:",inline"`
}

// DNS holds the facts of a question and of its answer. Read-only.
type DNS struct {
	Name, Type, Class string // of the question
	Transport         string // "udp", "tcp" or "tls"
	Retried           bool   // over TCP, as the answer over UDP was truncated

	// Answered says that an answer came. Without one the following are zero.
	Answered           bool
	RCode              string // "NOERROR"
	Authoritative      bool   // the server speaks for the zone
	RecursionAvailable bool
	// Answers, Authority and Additional are how many records the sections have.
	Answers, Authority, Additional int
	Records                        []string // of the answer section in zone file form, at most maxRecords
	Serial                         uint32   // of the zone, if its SOA record is among the answers
}

// maxRecords bounds the records of an answer that are kept.
const maxRecords = 16

var _ = registerProber("dns", func() Prober {
	return &DNSProber{QueryType: "ANY", QueryClass: "IN", RecursionDesired: true, AddressSettings: defaultAddresses()}
})

// Validate implements [Prober].
func (p *DNSProber) Validate() error {
	if p.QueryName == "" {
		return settingErrorf("query_name", "is missing: write the name to ask for")
	}
	if _, ok := dns.IsDomainName(p.QueryName); !ok {
		return settingErrorf("query_name", "%q is %v", p.QueryName, errBadName)
	}
	if _, known := dns.StringToType[p.QueryType]; p.QueryType != "" && !known {
		return settingErrorf("query_type", "unknown type %q: write A, AAAA, SOA, SRV, TXT, HTTPS or another in capitals", p.QueryType)
	}
	if _, known := dns.StringToClass[p.QueryClass]; p.QueryClass != "" && !known {
		return settingErrorf("query_class", "unknown class %q: write IN, CH, HS or ANY", p.QueryClass)
	}
	if err := p.validateTransport(); err != nil {
		return err
	}
	if err := p.validateRcodes(); err != nil {
		return err
	}
	return cmp.Or(p.TLSConfig.validate(), p.AddressSettings.validate())
}

func (p *DNSProber) validateTransport() error {
	switch {
	case !slices.Contains([]string{"", "udp", "tcp"}, p.TransportProtocol):
		return settingErrorf("transport_protocol", "%q is neither udp nor tcp", p.TransportProtocol)
	case p.DNSOverTLS && p.TransportProtocol == "udp":
		return settingErrorf("transport_protocol", "udp excludes dns_over_tls: write tcp, or leave it out")
	}
	if _, err := netip.ParseAddr(p.SourceIPAddress); p.SourceIPAddress != "" && err != nil {
		return settingErrorf("source_ip_address", "%q is not an IP address", p.SourceIPAddress)
	}
	return nil
}

const dotPort = 853 // RFC 7858, Section 3.1

func (p *DNSProber) endpoint(t *Target) (endpoint, error) {
	host, port, err := p.splitAddress(t.Address)
	return endpoint{host, port, p.AddressSettings}, err
}

// splitAddress reads host[:port].
func (p *DNSProber) splitAddress(address string) (host string, port uint16, err error) {
	literal := strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
	_, notIP := netip.ParseAddr(literal)
	switch {
	case address == "" || notIP != nil && strings.Contains(address, ":"):
		return splitAddress(address)
	case p.DNSOverTLS:
		return literal, dotPort, nil
	}
	return literal, dnsPort, nil
}

func (p *DNSProber) attempt(ctx context.Context, s *session, a *Attempt) {
	x := &dnsProbe{session: s, prober: p, attempt: a, query: p.query()}
	q := x.query.Question[0]
	a.DNS = &DNS{Name: q.Name, Type: dns.TypeToString[q.Qtype], Class: dns.ClassToString[q.Qclass]}
	var msg *dns.Msg
	switch {
	case p.DNSOverTLS:
		a.DNS.Transport = "tls"
		msg = x.overTLS(ctx)
	case p.TransportProtocol == "tcp":
		a.DNS.Transport = "tcp"
		msg = x.overTCP(ctx)
	default:
		a.DNS.Transport = "udp"
		msg = x.overUDP(ctx)
	}
	if msg != nil {
		a.DNS.note(msg)
		a.Problems = append(a.Problems, x.judge(msg)...)
	}
}

// query makes the question. Like blackbox_exporter's it offers no extensions:
// with them, the counts of additional records would differ.
func (p *DNSProber) query() *dns.Msg {
	q := dns.Question{Name: dns.Fqdn(p.QueryName), Qtype: dns.TypeANY, Qclass: dns.ClassINET}
	if p.QueryType != "" {
		q.Qtype = dns.StringToType[p.QueryType]
	}
	if p.QueryClass != "" {
		q.Qclass = dns.StringToClass[p.QueryClass]
	}
	msg := &dns.Msg{Question: []dns.Question{q}}
	msg.Id, msg.RecursionDesired = dns.Id(), p.RecursionDesired
	return msg
}

// note keeps the facts of an answer.
func (d *DNS) note(msg *dns.Msg) {
	d.Answered = true
	d.RCode = rcodeName(msg.Rcode)
	d.Authoritative, d.RecursionAvailable = msg.Authoritative, msg.RecursionAvailable
	d.Answers, d.Authority, d.Additional = len(msg.Answer), len(msg.Ns), len(msg.Extra)
	for i, rr := range msg.Answer {
		if i < maxRecords {
			d.Records = append(d.Records, cut(rr.String()))
		}
		if soa, ok := rr.(*dns.SOA); ok {
			d.Serial = soa.Serial
		}
	}
}
