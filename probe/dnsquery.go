package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// udpPayload is the answer size that we offer to take over UDP (RFC 6891,
// Section 6.2.3): what passes any IPv6 path unfragmented.
const udpPayload = 1232

// An asker asks DNS servers, in order, until one has a usable answer.
type asker struct {
	servers  []string // host:port
	attempts int      // rounds over all servers
	timeout  time.Duration
}

// An answer is what one server said to one question.
type answer struct {
	server string
	addrs  []netip.Addr
}

// addresses asks for the A and AAAA records of name at the same time and waits
// for both, as the C library and Go do. One family is enough, unless ctx ended
// the wait for the other: a client with that deadline would have failed.
func (a *asker) addresses(ctx context.Context, name string) ([]netip.Addr, string, *lookupError) {
	var four, six answer
	var err4, err6 *lookupError
	var wg sync.WaitGroup
	wg.Go(func() { six, err6 = a.ask(ctx, name, dns.TypeAAAA) })
	four, err4 = a.ask(ctx, name, dns.TypeA)
	wg.Wait()

	failure := err4
	if failure == nil || err6 != nil && err6.gravity() > failure.gravity() {
		failure = err6
	}
	server := four.server
	if err4 != nil {
		server = six.server
	}
	found := len(four.addrs)+len(six.addrs) > 0
	if !found || failure != nil && failure.TimedOut && ctx.Err() != nil {
		return nil, "", failure
	}
	return append(four.addrs, six.addrs...), server, nil
}

// ask puts one question to the servers. A certain answer ends the round; after
// any failure the next server may know better.
func (a *asker) ask(ctx context.Context, name string, qtype uint16) (answer, *lookupError) {
	failures := make([]*lookupError, len(a.servers)) // the last of each server
	for range a.attempts {
		for i, server := range a.servers {
			addrs, err := a.askServer(ctx, server, name, qtype)
			if err == nil {
				return answer{server, addrs}, nil
			}
			if err.gravity() < graveFailure {
				return answer{}, err
			}
			failures[i] = err
			if ctx.Err() != nil {
				return answer{}, gravest(failures)
			}
		}
	}
	return answer{}, gravest(failures)
}

// gravest returns the failure that counts: of a server that answered, if any,
// else the first. The others are in its Also.
func gravest(failures []*lookupError) *lookupError {
	var worst *lookupError
	for _, f := range failures {
		if f != nil && (worst == nil || worst.RCode == noRCode && f.RCode != noRCode) {
			worst = f
		}
	}
	for _, f := range failures {
		if f != nil && f != worst {
			worst.Also = append(worst.Also, f)
		}
	}
	return worst
}

// askServer puts one question to one server, over TCP if the answer does not
// fit into a datagram.
func (a *asker) askServer(ctx context.Context, server, name string, qtype uint16) ([]netip.Addr, *lookupError) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	query := new(dns.Msg).SetQuestion(name, qtype).SetEdns0(udpPayload, false)
	msg, err := exchange(ctx, "udp", server, query)
	if err != nil {
		return nil, &lookupError{Server: server, RCode: noRCode, TimedOut: ctx.Err() != nil, Err: a.explain(ctx, query, err)}
	}
	if msg.Truncated {
		if msg, err = exchange(ctx, "tcp", server, query); err != nil {
			err = fmt.Errorf("its answer is truncated, and asking again over TCP failed: %w", a.explain(ctx, query, err))
			return nil, &lookupError{Server: server, RCode: noRCode, Err: err}
		}
	}
	addrs, failure := readAnswer(msg, name)
	if failure != nil {
		failure.Server = server
	}
	return addrs, failure
}

// explain says in words what a failed exchange means, without the port numbers
// that differ each time.
func (a *asker) explain(ctx context.Context, query *dns.Msg, err error) error {
	q := query.Question[0]
	question := dns.TypeToString[q.Qtype] + " " + q.Name
	var errno syscall.Errno
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("asking for %s: %w", question, ctx.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("no answer to %s within %s: %w", question, a.timeout, context.DeadlineExceeded)
	case errors.As(err, &errno):
		return fmt.Errorf("asking for %s: %w", question, errno)
	}
	return fmt.Errorf("asking for %s: %w", question, err)
}

// exchange sends query to server and returns the answer to it, however long it
// takes until ctx ends.
func exchange(ctx context.Context, network, server string, query *dns.Msg) (*dns.Msg, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()

	c := dns.Conn{Conn: conn, UDPSize: udpPayload}
	if err := c.WriteMsg(query); err != nil {
		return nil, err
	}
	for {
		msg, err := c.ReadMsg()
		switch {
		case msg == nil && !errors.Is(err, dns.ErrShortRead):
			return nil, err // nothing was read
		case err != nil && (msg == nil || !msg.Truncated || msg.Id != query.Id):
			return nil, fmt.Errorf("what it sent is not a DNS message: %w", err)
		case answers(msg, query):
			return msg, nil
		}
		// An answer to somebody else's question: forged, or misdirected.
	}
}

func answers(msg, query *dns.Msg) bool {
	if !msg.Response || msg.Id != query.Id {
		return false
	}
	q := query.Question[0]
	return len(msg.Question) == 1 && msg.Question[0].Qtype == q.Qtype && strings.EqualFold(msg.Question[0].Name, q.Name)
}

// readAnswer returns the addresses in msg at the end of name's chain of aliases
// (RFC 1034, Section 3.6.2).
func readAnswer(msg *dns.Msg, name string) ([]netip.Addr, *lookupError) {
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
		return nil, &lookupError{RCode: noRCode, Err: errLame}
	}
	failure := &lookupError{RCode: msg.Rcode}
	if !strings.EqualFold(end, name) {
		failure.Alias = end
	}
	return nil, failure
}

var errLame = errors.New("lame referral: it neither has authority over the name nor asks others")

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
	return addr.Unmap()
}
