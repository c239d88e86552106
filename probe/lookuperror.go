package probe

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// noRCode is the RCode of a lookup without a usable answer.
const noRCode = -1

// A lookupError says why a name has no address to probe, and who said so.
type lookupError struct {
	Name   string   // as it was given
	Server string   // whose failure this is: "10.96.0.10:53"; "" if nobody was asked
	Tried  []string // the absolute names asked for, in order

	// RCode is the DNS response code (RFC 1035, Section 4.1.1): 0 if the name
	// exists but has no address, noRCode without a usable answer.
	RCode    int
	TimedOut bool   // silence until a deadline, and nothing else was wrong
	Alias    string // what the name asked for is an alias of, if the answer said so
	Err      error  // what happened; never nil

	Also []*lookupError // the failures of the other servers
}

// Error names the servers with what each did, and every name that was tried.
func (e *lookupError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "looking up %q: %s", e.Name, e.atServer())
	for _, also := range e.Also {
		b.WriteString("; " + also.atServer())
	}
	if len(e.Tried) > 1 {
		b.WriteString("; tried " + strings.Join(e.Tried, ", "))
	}
	return b.String()
}

func (e *lookupError) atServer() string {
	if e.Server == "" {
		return e.Err.Error()
	}
	return e.Server + ": " + e.Err.Error()
}

func (e *lookupError) Unwrap() error { return e.Err }

// Timeout is the method of [net.Error]. It is false after an answer of no use,
// even if waiting for a better one ended by a deadline.
func (e *lookupError) Timeout() bool { return e.TimedOut }

// graveFailure is the gravity of a failure that leaves open whether the name has
// an address.
const graveFailure = 3

// gravity orders the failures of several questions by which one decides: what
// leaves the name's existence open over what is certain, and of the certain ones
// that which says more.
func (e *lookupError) gravity() int {
	switch {
	case e.RCode == dns.RcodeNameError && e.Alias == "":
		return 0
	case e.RCode == dns.RcodeNameError:
		return 1
	case e.RCode == dns.RcodeSuccess:
		return 2
	}
	return graveFailure
}
