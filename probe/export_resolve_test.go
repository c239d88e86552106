package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

type LookupError = lookupError

// NewResolver returns a resolver for the machine with this resolv.conf.
func NewResolver(resolvConf string) *resolver {
	r := newResolver()
	r.conf.path = resolvConf
	return r
}

func (r *resolver) Lookup(ctx context.Context, host, via string) ([]netip.Addr, string, error) {
	return r.lookup(ctx, host, via)
}

func (r *resolver) Resolve(ctx context.Context, host string, s AddressSettings) ([]netip.Addr, string, error) {
	return r.resolve(ctx, endpoint{host: host, addresses: s})
}

// Servers returns the servers of resolv.conf as they are known now.
func (r *resolver) Servers() []string { return r.conf.current().servers }

func (s AddressSettings) Choose(addrs []netip.Addr) []netip.Addr { return s.choose(addrs) }

func (s AddressSettings) ValidateAddresses() error { return s.validate() }

// ResolvConf is a parsed resolv.conf.
type ResolvConf = resolvConf

func ParseResolvConf(text, hostname string) *ResolvConf {
	return parseResolvConf([]byte(text), hostname)
}

func (c *resolvConf) Candidates(host string) []string { return c.candidates(host) }

var ReadAnswer = readAnswer

// ReasonOf returns the id of the reason that err is, as the end of phase.
func ReasonOf(phase Phase, err error) string {
	return classify(newEvidence(phase, err, nil)).Reason.ID
}

func (c *resolvConf) Timeout() time.Duration { return c.timeout }

// Describe writes c in one line.
func (c *resolvConf) Describe() string {
	words := slices.Clone(c.servers)
	if len(c.search) > 0 {
		words = append(append(words, "search"), c.search...)
	}
	words = append(words, fmt.Sprintf("ndots %d timeout %s attempts %d", c.ndots, c.timeout, c.attempts))
	if c.rotate {
		words = append(words, "rotate")
	}
	return strings.Join(words, " ")
}
