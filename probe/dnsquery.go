package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
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

// An answer is the addresses that one server gave to one question.
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
	atOnce(
		func() { four, err4 = a.ask(ctx, name, dns.TypeA) },
		func() { six, err6 = a.ask(ctx, name, dns.TypeAAAA) },
	)

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

// askServer puts one question for addresses to one server.
func (a *asker) askServer(ctx context.Context, server, name string, qtype uint16) ([]netip.Addr, *lookupError) {
	records, failure := a.records(ctx, server, name, qtype)
	return addressesOf(records), failure
}

// records puts one question to one server, over TCP if the answer does not fit
// into a datagram.
func (a *asker) records(ctx context.Context, server, name string, qtype uint16) ([]dns.RR, *lookupError) {
	q := inquiry{
		query:   new(dns.Msg).SetQuestion(name, qtype).SetEdns0(udpPayload, false),
		timeout: a.timeout,
		dial: func(ctx context.Context, network string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, server)
		},
	}
	msg, failure := q.ask(ctx)
	var records []dns.RR
	if failure == nil {
		records, failure = readAnswer(msg, q.query)
	}
	if failure != nil {
		failure.Server = server
	}
	return records, failure
}

// An inquiry is one question to one server.
type inquiry struct {
	query   *dns.Msg
	timeout time.Duration                                               // for the whole inquiry; 0: the context alone bounds it
	dial    func(ctx context.Context, network string) (net.Conn, error) // network is "udp" or "tcp"
}

// ask asks over UDP, and again over TCP if the answer does not fit into a
// datagram (RFC 7766, Section 5).
func (q *inquiry) ask(ctx context.Context) (*dns.Msg, *lookupError) {
	qctx := ctx
	if q.timeout > 0 {
		var cancel context.CancelFunc
		qctx, cancel = context.WithTimeout(ctx, q.timeout)
		defer cancel()
	}
	msg, err := q.exchange(qctx, "udp")
	if err != nil {
		return nil, q.failed(ctx, qctx, err)
	}
	if !msg.Truncated {
		return msg, nil
	}
	if msg, err = q.exchange(qctx, "tcp"); err != nil {
		failure := q.failed(ctx, qctx, err)
		failure.TimedOut = false
		failure.Err = fmt.Errorf("the answer is truncated, and asking again over TCP failed: %w", failure.Err)
		return nil, failure
	}
	return msg, nil
}

// exchange asks over network on a connection of its own.
func (q *inquiry) exchange(ctx context.Context, network string) (*dns.Msg, error) {
	conn, err := q.dial(ctx, network)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return converse(ctx, conn, q.query)
}

// failed says what a failed exchange means, without the port numbers that
// differ each time, and whether it was a deadline: that of the caller, ctx, or
// of this one inquiry, qctx.
func (q *inquiry) failed(ctx, qctx context.Context, err error) *lookupError {
	question := questionText(q.query)
	failure := &lookupError{RCode: noRCode}
	var errno syscall.Errno
	// A connection may notice the caller's deadline before its context does.
	noticed := qctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case noticed, errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure.TimedOut = true
		failure.Err = fmt.Errorf("no answer to %s before the probe's time was up", question)
	case ctx.Err() != nil:
		failure.Err = fmt.Errorf("asking for %s: %w", question, ctx.Err())
	case qctx.Err() != nil:
		failure.TimedOut = true
		failure.Err = fmt.Errorf("no answer to %s within %s", question, q.timeout)
	case errors.As(err, &errno):
		failure.Err = fmt.Errorf("asking for %s: %w", question, errno)
	default:
		failure.Err = fmt.Errorf("asking for %s: %w", question, err)
	}
	return failure
}

func questionText(query *dns.Msg) string {
	return dns.TypeToString[query.Question[0].Qtype] + " " + query.Question[0].Name
}

// maxStrays bounds the messages that are read in search of the answer: others
// are forged, misdirected, or late.
const maxStrays = 100

// converse sends query on conn and returns the answer to it, however long it
// takes until ctx ends.
func converse(ctx context.Context, conn net.Conn, query *dns.Msg) (*dns.Msg, error) {
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	c := dns.Conn{Conn: conn, UDPSize: udpPayload}
	if err := c.WriteMsg(query); err != nil {
		return nil, err
	}
	for range maxStrays {
		msg, err := c.ReadMsg()
		switch {
		case msg == nil && !errors.Is(err, dns.ErrShortRead):
			return nil, err // nothing was read
		case err != nil && (msg == nil || !msg.Truncated || msg.Id != query.Id):
			return nil, fmt.Errorf("what it sent is not a DNS message: %w", err)
		case answers(msg, query):
			return msg, nil
		}
	}
	return nil, fmt.Errorf("none of the first %d messages it sent is an answer to the question", maxStrays)
}

func answers(msg, query *dns.Msg) bool {
	if !msg.Response || msg.Id != query.Id {
		return false
	}
	if len(msg.Question) == 0 {
		return msg.Rcode != dns.RcodeSuccess // some servers refuse with nothing but a header
	}
	asked, q := query.Question[0], msg.Question[0]
	return q.Qtype == asked.Qtype && strings.EqualFold(q.Name, asked.Name)
}
