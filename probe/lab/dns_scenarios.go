package lab

import (
	"crypto/tls"
	"fmt"
	"regexp"

	"github.com/miekg/dns"

	"tlsprobe/probe"
)

// dnsScenarios are DNS servers that are asked by the dns prober.
func dnsScenarios() []Scenario {
	return []Scenario{
		asked("dns-good", "good", "a DNS server that answers"),
		asked("dns-truncated", "truncated", "a DNS server whose answer takes TCP"),
		askedWith("dns-https-record", "good", "a DNS server that answers with an HTTPS record", askFor("HTTPS")),
		askedWith("dns-serial", "good", "a DNS server that tells the serial number of its zone",
			func(p *probe.DNSProber) { p.QueryName, p.QueryType = DNSZone, "SOA" }),

		asked("dns-nxdomain", "nothing", "a DNS server that knows no such name", "dns_nxdomain"),
		askedWith("dns-nodata", "ip4only", "a DNS server that has no such record", askFor("AAAA"), "dns_nodata"),
		asked("dns-servfail", "servfail", "a DNS server that answers SERVFAIL", "dns_servfail"),
		asked("dns-refused", "refused", "a DNS server that refuses to answer", "dns_refused"),
		asked("dns-silent", "silent", "a DNS server that does not answer", "dns_timeout"),
		asked("dns-garbage", "garbage", "a DNS server that answers what is no DNS message", "dns_error"),
		asked("dns-lame", "lame", "a DNS server that refers to others", "dns_error"),
		asked("dns-loop", "loop", "a DNS server whose aliases lead in a circle", "dns_error"),
		asked("dns-truncated-closed", "truncated-closed", "a DNS server whose answer takes TCP, where it hangs up", "dns_error"),
		askedWith("dns-old-record", "good", "a DNS server that still has the old address",
			func(p *probe.DNSProber) {
				now := probe.Regexp{Regexp: regexp.MustCompile(`\t127\.0\.0\.2$`)}
				p.ValidateAnswerRRs.FailIfNotMatches = []probe.Regexp{now}
			}, "dns_validation_failed"),
		askedWith("dns-should-not-exist", "good", "a DNS server that has a name which should be gone",
			func(p *probe.DNSProber) { p.ValidRcodes = []string{"NXDOMAIN"} }, "dns_validation_failed"),

		{Name: "dot-good", Summary: "a DNS server that answers over TLS", start: startDoT(answerQueries)},
		{Name: "dot-several-faults", Summary: "a DNS server over TLS with an expired certificate for another name",
			Reasons: []string{"cert_expired", "hostname_mismatch"},
			start:   startDoT(answerQueries, expired, dnsNames("other.lab.test"))},
		{Name: "dot-client-cert", Summary: "a DNS server over TLS that requires a client certificate", Reasons: []string{"client_cert_required"},
			start: startMutualDoT},
		{Name: "dot-hangs-up", Summary: "a DNS server over TLS that closes instead of answering", Reasons: []string{"dns_error"},
			start: startDoT(func(*DNSServer, *dns.Conn) {})},
	}
}

// asked is a scenario of the lab's DNS server asked for the address of a name of
// its zone.
func asked(name, label, summary string, reasons ...string) Scenario {
	return askedWith(name, label, summary, func(*probe.DNSProber) {}, reasons...)
}

func askedWith(name, label, summary string, edit func(*probe.DNSProber), reasons ...string) Scenario {
	return Scenario{Name: name, Summary: summary, Reasons: reasons,
		start: func(i *Instance) error {
			i.Target.Address, i.Target.ServerName = i.lab.dns.Addr(), ""
			i.Target.Timeout = shortTimeout
			i.Target.Module = dnsModule(label, edit)
			return nil
		}}
}

// dnsModule returns a module that asks for the address of a name of the zone,
// edited.
func dnsModule(label string, edits ...func(*probe.DNSProber)) *probe.Module {
	p := probe.NewProber("dns").(*probe.DNSProber)
	p.QueryName, p.QueryType = label+"."+DNSZone, "A"
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "dns", Kind: "dns", Prober: p}
}

func askFor(recordType string) func(*probe.DNSProber) {
	return func(p *probe.DNSProber) { p.QueryType = recordType }
}

// startDoT runs a server of DNS over TLS (RFC 7858) with a certificate that is
// edited, whose connections are served by talk once the handshake is done.
func startDoT(talk func(*DNSServer, *dns.Conn), edits ...Edit) func(*Instance) error {
	return func(i *Instance) error {
		cert, err := i.lab.CA.Issue(edits...)
		if err != nil {
			return err
		}
		return i.serveDoT(&tls.Config{Certificates: []tls.Certificate{cert}}, talk)
	}
}

// startMutualDoT runs a server that asks for a client certificate and gets none.
func startMutualDoT(i *Instance) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	cfg.NextProtos, cfg.ClientAuth = nil, tls.RequireAnyClientCert
	return i.serveDoT(cfg, answerQueries)
}

func (i *Instance) serveDoT(cfg *tls.Config, talk func(*DNSServer, *dns.Conn)) error {
	i.Target.Module = dnsModule("good", func(p *probe.DNSProber) { p.DNSOverTLS = true })
	return i.serveAt(func(c *peerConn) {
		conn := tls.Server(c, cfg)
		if err := conn.Handshake(); err != nil {
			fmt.Fprintf(&i.log, "dot: %s: %v\n", c.RemoteAddr(), err)
			return
		}
		talk(i.lab.dns, &dns.Conn{Conn: conn})
		conn.CloseWrite()
		conn.Read(make([]byte, 1)) // until the client has gone
	})
}

// answerQueries answers until the client closes.
func answerQueries(s *DNSServer, c *dns.Conn) {
	for {
		query, err := c.ReadMsg()
		if err != nil || len(query.Question) == 0 {
			return
		}
		c.WriteMsg(s.reply(query))
	}
}
