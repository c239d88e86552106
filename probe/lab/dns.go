package lab

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// DNSZone holds the names that a [DNSServer] knows from the start.
const DNSZone = "lab.test."

// dnsRecords is what the zone holds. Some names that misbehave are in it, as
// their misbehaviour is to hide what they have.
const dnsRecords = `
$ORIGIN ` + DNSZone + `
$TTL 5
@                SOA   ns hostmaster 2026112101 3600 600 86400 5
@                NS    ns
good             A     127.0.0.1
good             AAAA  ::1
good             MX    10 mail
good             HTTPS 1 . alpn="h2,h3"
_dns.good        SVCB  1 good alpn="dot"
ip4only          A     127.0.0.1
ip6only          AAAA  ::1
many             A     127.0.0.1
many             A     127.0.0.2
many             A     127.0.0.3
many             A     127.0.0.4
many             A     127.0.0.5
many             A     127.0.0.6
many             A     127.0.0.7
many             A     127.0.0.8
many             A     127.0.0.9
many             AAAA  ::1
many             AAAA  ::ffff:127.0.0.1 ; an IPv4 address, twice
nodata           TXT   "exists, without an address"
alias            CNAME second-alias
second-alias     CNAME good
alias-of-nothing CNAME nothing
alias-of-nodata  CNAME nodata
loop             CNAME loop-back
loop-back        CNAME loop
truncated        A     127.0.0.1
truncated        AAAA  ::1
truncated-closed A     127.0.0.1
truncated-silent A     127.0.0.1
silent-aaaa      A     127.0.0.1
silent-aaaa      AAAA  ::1
lame             A     127.0.0.1
garbage          A     127.0.0.1
`

// A DNSServer is a recursive DNS server on a loopback port, UDP and TCP, that
// misbehaves by the first label of the name asked for in [DNSZone]:
//
//	servfail, refused, notimp  this response code
//	servfail-aaaa              no A record, and this code to AAAA
//	silent, silent-aaaa        no answer, at all or to AAAA
//	garbage                    what is no DNS message
//	truncated                  truncated over UDP, whole over TCP
//	truncated-silent           truncated over UDP, no answer over TCP
//	truncated-closed           truncated over UDP, closed without an answer over TCP
//	lame                       a referral to other servers
//
// Other names of the zone are good (with an MX and an HTTPS record), ip4only, ip6only, many, nodata, alias,
// alias-of-nothing, alias-of-nodata and loop. What it does not know, anywhere,
// does not exist.
type DNSServer struct {
	addr     string
	udp, tcp *dns.Server
	closeTCP func() error

	mu      sync.Mutex // protects all following fields
	records map[string][]dns.RR
	queries []string
}

// StartDNS starts a server. Close it.
func StartDNS() (*DNSServer, error) {
	s := &DNSServer{records: map[string][]dns.RR{}}
	if err := s.load(dnsRecords); err != nil {
		return nil, fmt.Errorf("reading the lab's zone: %w", err)
	}
	packets, listener, err := listenDNS()
	if err != nil {
		return nil, err
	}
	s.addr = packets.LocalAddr().String()
	s.udp = &dns.Server{PacketConn: packets, Handler: s}
	s.tcp = &dns.Server{Listener: listener, Handler: s}
	serveDNS(s.udp)
	serveDNS(s.tcp)
	s.closeTCP = sync.OnceValue(s.tcp.Shutdown)
	return s, nil
}

// listenDNS opens the same free port for UDP and TCP.
func listenDNS() (net.PacketConn, net.Listener, error) {
	const tries = 20
	var err error
	for range tries {
		var packets net.PacketConn
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			break
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, listener, nil
		}
		packets.Close() // somebody has this port for TCP
	}
	return nil, nil, fmt.Errorf("opening a port for DNS: %w", err)
}

// serveDNS runs srv until its Shutdown and returns once that may be called.
func serveDNS(srv *dns.Server) {
	started := make(chan struct{})
	srv.NotifyStartedFunc = func() { close(started) }
	go srv.ActivateAndServe()
	<-started
}

// Addr returns the server's host:port.
func (s *DNSServer) Addr() string { return s.addr }

// Add gives name, anywhere in the DNS, these addresses besides those it has.
func (s *DNSServer) Add(name string, addrs ...netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = strings.ToLower(dns.Fqdn(name))
	for _, addr := range addrs {
		header := dns.RR_Header{Name: name, Class: dns.ClassINET, Ttl: 5}
		if addr.Is4() {
			header.Rrtype = dns.TypeA
			s.records[name] = append(s.records[name], &dns.A{Hdr: header, A: addr.AsSlice()})
		} else {
			header.Rrtype = dns.TypeAAAA
			s.records[name] = append(s.records[name], &dns.AAAA{Hdr: header, AAAA: addr.AsSlice()})
		}
	}
}

// Queries returns what was asked so far, in order: "AAAA good.lab.test.".
func (s *DNSServer) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.queries...)
}

// StopTCP makes the server refuse TCP connections from now on.
func (s *DNSServer) StopTCP() error { return s.closeTCP() }

// Close stops the server.
func (s *DNSServer) Close() error {
	err := s.udp.Shutdown()
	if tcpErr := s.closeTCP(); err == nil {
		err = tcpErr
	}
	return err
}

// load adds the records of a zone file (RFC 1035, Section 5).
func (s *DNSServer) load(zone string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	parser := dns.NewZoneParser(strings.NewReader(zone), "", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		name := rr.Header().Name
		s.records[name] = append(s.records[name], rr)
	}
	return parser.Err()
}

// ServeDNS implements [dns.Handler].
func (s *DNSServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	q := query.Question[0]
	reply := s.reply(query)
	label, zone, _ := strings.Cut(strings.ToLower(q.Name), ".")
	if zone != DNSZone {
		label = ""
	}
	_, overUDP := w.RemoteAddr().(*net.UDPAddr)
	switch spoil(reply, label, q.Qtype, overUDP) {
	case sendReply:
		w.WriteMsg(reply)
	case sendGarbage:
		w.Write([]byte("220 mail.lab.test ESMTP, not a name server\r\n"))
	case sendNothing:
	case hangUp: // of TCP
		w.Close()
	}
}

// reply returns the answer that is not misbehaved.
func (s *DNSServer) reply(query *dns.Msg) *dns.Msg {
	reply := new(dns.Msg).SetReply(query)
	reply.RecursionAvailable = true
	q := query.Question[0]
	s.answer(reply, strings.ToLower(q.Name), q.Qtype)
	return reply
}

// answer fills reply with what the records say about name, aliases followed.
func (s *DNSServer) answer(reply *dns.Msg, name string, qtype uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, dns.TypeToString[qtype]+" "+name)
	for range len(s.records) { // more aliases than names are a loop
		next := ""
		for _, rr := range s.records[name] {
			cname, isAlias := rr.(*dns.CNAME)
			if isAlias {
				next = cname.Target
			}
			if isAlias || rr.Header().Rrtype == qtype || qtype == dns.TypeANY {
				reply.Answer = append(reply.Answer, rr)
			}
		}
		if next == "" {
			break
		}
		name = next
	}
	reply.Answer = dns.Dedup(reply.Answer, nil)
	if s.records[name] == nil {
		reply.Rcode = dns.RcodeNameError
	}
}

// dnsAction is what a server does with the reply it has.
type dnsAction int

const (
	sendReply dnsAction = iota
	sendGarbage
	sendNothing
	hangUp
)

// spoil makes of reply what the label of the name demands.
func spoil(reply *dns.Msg, label string, qtype uint16, overUDP bool) dnsAction {
	switch label {
	case "servfail":
		reply.Rcode = dns.RcodeServerFailure
	case "servfail-aaaa":
		if qtype == dns.TypeAAAA {
			reply.Rcode = dns.RcodeServerFailure
		}
	case "refused": // without the question, as servers do that read no further
		reply.Rcode, reply.Question = dns.RcodeRefused, nil
	case "notimp":
		reply.Rcode = dns.RcodeNotImplemented
	case "silent":
		return sendNothing
	case "silent-aaaa":
		if qtype == dns.TypeAAAA {
			return sendNothing
		}
	case "garbage":
		return sendGarbage
	case "truncated", "truncated-silent", "truncated-closed":
		switch {
		case overUDP:
			reply.Truncated, reply.Answer = true, nil
		case label == "truncated-silent":
			return sendNothing
		case label == "truncated-closed":
			return hangUp
		}
	case "lame":
		refer(reply)
	}
	return sendReply
}

// refer makes reply a referral to a server that the resolver should have asked
// itself.
func refer(reply *dns.Msg) {
	reply.RecursionAvailable, reply.Answer = false, nil
	header := dns.RR_Header{Name: DNSZone, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 5}
	reply.Ns = []dns.RR{&dns.NS{Hdr: header, Ns: "ns.elsewhere.test."}}
}
