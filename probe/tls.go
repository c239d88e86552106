package probe

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TLSProber shakes hands, judges the certificate and closes. It sends nothing.
type TLSProber struct {
	TLSConfig TLSConfig `yaml:"tls_config,omitempty"`
	// ALPN is what to offer; default: h2, http/1.1, as common clients do.
	ALPN []string `yaml:"alpn,omitempty"`
	// RequireALPN names protocols one of which the server must agree on.
	RequireALPN     []string `yaml:"require_alpn,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("tls", func() Prober {
	return &TLSProber{ALPN: []string{"h2", "http/1.1"}, AddressSettings: defaultAddresses()}
})

// Validate implements [Prober].
func (p *TLSProber) Validate() error {
	if err := p.TLSConfig.validate(); err != nil {
		return err
	}
	for _, want := range p.RequireALPN {
		if !slices.Contains(p.ALPN, want) {
			return settingErrorf("require_alpn", "%q is not among the protocols offered by alpn", want)
		}
	}
	return p.AddressSettings.validate()
}

func (p *TLSProber) endpoint(t *Target) (endpoint, error) {
	host, port, err := splitAddress(t.Address)
	return endpoint{host, port, p.AddressSettings}, err
}

func (p *TLSProber) attempt(ctx context.Context, s *session, a *Attempt) {
	host, _, _ := splitAddress(s.target.Address)
	c := s.openTLS(ctx, a, s.peerOf(&p.TLSConfig, host), p.ALPN)
	if c == nil {
		return
	}
	if late := c.part(ctx); late != nil {
		a.Problems = slices.Insert(a.Problems, 0, classify(late))
	}
	if len(p.RequireALPN) > 0 && !slices.Contains(p.RequireALPN, c.facts.ALPN) {
		a.Problems = append(a.Problems, Problem{
			Reason:   reasonALPNMismatch,
			Detail:   "the handshake agreed on no protocol that is required",
			Expected: strings.Join(p.RequireALPN, " or "),
			Received: strconv.Quote(c.facts.ALPN),
		})
	}
}

// peer is whom a connection should reach and how it is judged.
type peer struct {
	*TLSConfig
	name  string // to send as SNI and to verify
	trust Trust
}

// peerOf says whom s expects at host: the target's word counts, then the
// module's, then the address.
func (s *session) peerOf(c *TLSConfig, host string) peer {
	p := peer{TLSConfig: c, name: s.target.ServerName, trust: s.target.Trust}
	if p.name == "" {
		p.name = c.ServerName
	}
	if p.name == "" {
		p.name = host
	}
	p.name = strings.TrimSuffix(p.name, ".")
	if p.trust.IsZero() {
		p.trust = Trust{File: c.CAFile, PEM: c.CA}
	}
	return p
}

// openTLS connects a to its peer, shakes hands and judges the chain, into a. nil
// says that there is no connection; otherwise the caller parts with it.
func (s *session) openTLS(ctx context.Context, a *Attempt, p peer, alpn []string) *conn {
	h, trusted, ok := s.prepare(a, p, alpn)
	if !ok {
		return nil
	}
	c, times, ended := s.handshake(ctx, a.Peer, h)
	a.Local = times.local
	a.Phases[PhaseConnect] += times.connect
	a.Phases[PhaseTLS] += times.handshake
	return s.settle(a, p, trusted, c, ended)
}

// prepare loads what a handshake with p needs: our certificate and the roots, nil
// if there are none to judge by. Without ok there can be no handshake.
func (s *session) prepare(a *Attempt, p peer, alpn []string) (h hello, trusted *roots, ok bool) {
	client, err := s.keypairs.load(p.CertFile, p.KeyFile)
	if err != nil {
		a.Problems = append(a.Problems, reasonBadKeypair.because(err))
		return hello{}, nil, false
	}
	trusted, err = s.trust.roots(p.trust)
	if err != nil {
		a.Problems = append(a.Problems, reasonCABundleInvalid.because(err))
	}
	if client != nil {
		a.Problems = append(a.Problems, ageProblems(client, time.Now())...)
	}
	return hello{serverName: p.name, alpn: alpn, min: p.MinVersion, max: p.MaxVersion, client: client}, trusted, true
}

// settle keeps in a what a handshake came to: the facts, and why it failed or
// what is wrong with the chain. It returns c.
func (s *session) settle(a *Attempt, p peer, trusted *roots, c *conn, ended *Evidence) *conn {
	if ended != nil {
		a.TLS = ended.TLS
		a.Problems = append(a.Problems, classify(ended))
		return nil
	}
	a.TLS = c.facts
	start := time.Now()
	s.judge(c.facts, &c.state, p, trusted, a)
	if trusted != nil {
		a.Phases[PhaseVerify] += time.Since(start)
	}
	return c
}

// judge verifies the chain that the peer sent. The facts are kept whatever the
// verdict; without roots nothing can be said about trust.
func (s *session) judge(facts *TLS, state *tls.ConnectionState, p peer, trusted *roots, a *Attempt) {
	unknown := trusted == nil
	if unknown {
		trusted = &roots{}
	}
	v := s.chains.judge(question{
		chain:   state.PeerCertificates,
		name:    p.name,
		roots:   trusted,
		now:     time.Now(),
		stapled: state.OCSPResponse,
	})
	facts.Chain, facts.Sent, facts.Stapled = v.chain, v.sent, v.ocsp
	if !unknown && !p.InsecureSkipVerify {
		facts.Verified = v.verified
		a.Problems = append(a.Problems, v.problems...)
	}
}

// ageProblems says whether our own certificate is out of date.
func ageProblems(client *keypair, now time.Time) []Problem {
	switch {
	case now.After(client.facts.NotAfter):
		return []Problem{reasonClientCertExpired.problem("our client certificate %s expired on %s",
			client.facts.Subject, client.facts.NotAfter.UTC().Format(time.DateTime))}
	case now.Before(client.facts.NotBefore):
		return []Problem{reasonClientCertExpired.problem("our client certificate %s is not valid before %s",
			client.facts.Subject, client.facts.NotBefore.UTC().Format(time.DateTime))}
	}
	return nil
}

// splitAddress reads host:port, where the port is a number.
func splitAddress(address string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, &AddressError{address, "write host:port, for instance example.com:443 or [2001:db8::1]:443"}
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, &AddressError{address, "the port must be a number from 1 to 65535"}
	}
	if host == "" {
		return "", 0, &AddressError{address, "the host is missing"}
	}
	return host, uint16(n), nil
}

// An AddressError is a target's address that cannot be probed.
type AddressError struct{ Address, Msg string }

func (e *AddressError) Error() string { return strconv.Quote(e.Address) + ": " + e.Msg }
