package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TCPProber connects, and talks as its steps say: blackbox_exporter's grammar.
// TLS may begin at once, behind the preamble of a known protocol, or at a step.
//
// It is polite. Where nothing is to be said or expected, Linux only asks whether
// somebody listens and the server's program never learns of it (see [knock]);
// other systems connect and close. All else ends in full: TLS with close_notify,
// a known protocol with its farewell, plain text by waiting for the peer to close
// as well.
type TCPProber struct {
	// QueryResponse are the steps of the conversation, in order.
	QueryResponse []QueryResponse `yaml:"query_response,omitempty"`
	TLS           bool            `yaml:"tls,omitempty"` // from the first byte
	TLSConfig     TLSConfig       `yaml:"tls_config,omitempty"`
	// StartTLS names a protocol whose preamble is spoken before TLS begins; then
	// come the steps.
	StartTLS        string `yaml:"starttls,omitempty"`
	SourceIPAddress string `yaml:"source_ip_address,omitempty"` // empty: as routed
	AddressSettings `yaml:",inline"`
}

// QueryResponse is a step of a conversation: it first expects, then sends, then
// begins TLS; each where it is set.
type QueryResponse struct {
	// Expect reads lines until one matches.
	Expect Regexp `yaml:"expect,omitempty"`
	// ExpectBytes reads as many bytes, which must be these.
	ExpectBytes string `yaml:"expect_bytes,omitempty"`
	// Labels are kept of what matched Expect; ${1} in a value is a group of it.
	Labels []ExpectLabel `yaml:"labels,omitempty"`
	// Send is sent with a line feed behind it, unless it holds a NUL; ${1} is a
	// group of Expect.
	Send     string `yaml:"send,omitempty"`
	StartTLS bool   `yaml:"starttls,omitempty"`
}

// ExpectLabel is a label, of the metric probe_expect_info.
type ExpectLabel struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// TCP holds the facts of a conversation. Read-only.
type TCP struct {
	StartTLS string        // the protocol whose preamble was spoken, "" if none
	Upgraded bool          // TLS began behind plain text, or tried to
	Knocked  bool          // the peer's kernel answered; its program was not told
	Steps    int           // that were gone through in full
	Labels   []ExpectLabel // of the steps that matched

	// MismatchedLine and MismatchedBytes say that a step failed by what the peer
	// said: it closed before a line matched, or its bytes are others.
	MismatchedLine, MismatchedBytes bool
}

var _ = registerProber("tcp", func() Prober { return newTCPProber() })

var (
	_ = registerModule("tcp_connect", "tcp", func() Prober { return newTCPProber() })
	_ = registerModule("tls_connect", "tcp", func() Prober {
		p := newTCPProber()
		p.TLS = true
		return p
	})
	// blackbox_exporter has ^+OK here, which matches no greeting: + repeats ^.
	_ = registerModule("pop3s_banner", "tcp", func() Prober {
		p := newTCPProber(QueryResponse{Expect: pattern(`^\+OK`)})
		p.TLS = true
		return p
	})
	_ = registerModule("ssh_banner", "tcp", func() Prober {
		return newTCPProber(QueryResponse{Expect: pattern("^SSH-2.0-")}, QueryResponse{Send: "SSH-2.0-blackbox-ssh-check"})
	})
	_ = registerModule("irc_banner", "tcp", func() Prober {
		return newTCPProber(
			QueryResponse{Send: "NICK prober"},
			QueryResponse{Send: "USER prober prober prober :prober"},
			QueryResponse{Expect: pattern("PING :([^ ]+)"), Send: "PONG ${1}"},
			QueryResponse{Expect: pattern("^:[^ ]+ 001")},
		)
	})
)

func newTCPProber(steps ...QueryResponse) *TCPProber {
	return &TCPProber{QueryResponse: steps, AddressSettings: defaultAddresses()}
}

func pattern(expr string) Regexp { return Regexp{regexp.MustCompile(expr)} }

// Validate implements [Prober].
func (p *TCPProber) Validate() error {
	if _, known := preambles[p.StartTLS]; p.StartTLS != "" && !known {
		return settingErrorf("starttls", "unknown protocol %q: write %s", p.StartTLS, strings.Join(startTLSProtocols(), ", "))
	}
	if p.TLS && p.StartTLS != "" {
		return settingErrorf("starttls", "excludes tls, by which TLS begins at once: write one of them")
	}
	if _, err := netip.ParseAddr(p.SourceIPAddress); p.SourceIPAddress != "" && err != nil {
		return settingErrorf("source_ip_address", "%q is not an IP address", p.SourceIPAddress)
	}
	return cmp.Or(p.validateSteps(), p.TLSConfig.validate(), p.AddressSettings.validate())
}

// labelName is what a label may be called (Prometheus, Data Model).
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func (p *TCPProber) validateSteps() error {
	overTLS := p.TLS || p.StartTLS != ""
	labels := map[string]bool{}
	for i, step := range p.QueryResponse {
		key := fmt.Sprintf("query_response[%d]", i)
		switch {
		case step.Expect.Regexp != nil && step.ExpectBytes != "":
			return settingErrorf(key+".expect_bytes", "excludes expect: write one of them")
		case len(step.Labels) > 0 && step.Expect.Regexp == nil:
			return settingErrorf(key+".labels", "need expect, whose match they are of")
		case step.StartTLS && overTLS:
			return settingErrorf(key+".starttls", "TLS has begun before: remove this, or what begins it")
		}
		overTLS = overTLS || step.StartTLS
		for j, label := range step.Labels {
			switch at := fmt.Sprintf("%s.labels[%d].name", key, j); {
			case !labelName.MatchString(label.Name):
				return settingErrorf(at, "%q is no label name: write letters, digits and _", label.Name)
			case labels[label.Name]:
				return settingErrorf(at, "%q is there twice: write another name", label.Name)
			}
			labels[label.Name] = true
		}
	}
	return nil
}

// usesTLS reports whether TLS begins at any time.
func (p *TCPProber) usesTLS() bool {
	return p.TLS || p.StartTLS != "" ||
		slices.ContainsFunc(p.QueryResponse, func(step QueryResponse) bool { return step.StartTLS })
}

func (p *TCPProber) endpoint(t *Target) (endpoint, error) {
	host, port, err := splitAddress(t.Address)
	return endpoint{host, port, p.AddressSettings}, err
}

func (p *TCPProber) attempt(ctx context.Context, s *session, a *Attempt) {
	host, _, _ := splitAddress(s.target.Address)
	d := &dialogue{session: s, prober: p, attempt: a, peer: s.peerOf(&p.TLSConfig, host)}
	if p.usesTLS() {
		var ok bool
		if d.hello, d.trusted, ok = s.prepare(a, d.peer, nil); !ok {
			return
		}
	}
	if !d.connect(ctx) {
		return
	}
	d.converse()
	d.part(ctx)
}

// dialogue is one attempt of the tcp prober.
type dialogue struct {
	*session
	prober  *TCPProber
	attempt *Attempt
	peer    peer
	hello   hello  // for when TLS begins
	trusted *roots // nil: nothing can be said about trust
	release func()
	talk    *talk    // nil once the connection is closed
	owed    preamble // whose farewell the peer is owed; the zero value: none
}

// connect opens the connection, and reports whether there is something to say.
func (d *dialogue) connect(ctx context.Context) bool {
	a, p := d.attempt, d.prober
	source, _ := netip.ParseAddr(p.SourceIPAddress) // validated; the zero value is as routed
	how := dialing{source: source, knock: !p.usesTLS() && len(p.QueryResponse) == 0}
	start := time.Now()
	tcp, release, err := d.dialAs(ctx, a.Peer, how)
	a.Phases[PhaseConnect] += time.Since(start)
	if err != nil {
		a.Problems = append(a.Problems, classify(newEvidence(PhaseConnect, err, nil)))
		return false
	}
	a.Local = localOf(tcp)
	if how.knock {
		a.TCP = &TCP{Knocked: canKnock}
		release()
		tcp.Close()
		return false
	}
	d.release, d.talk = release, newPlainTalk(tcp)
	return true
}

// converse begins TLS where that comes first, and goes through the steps. Nothing
// is said to a peer that is not trusted.
func (d *dialogue) converse() {
	if d.prober.TLS && !d.secure() {
		return
	}
	d.attempt.TCP = &TCP{StartTLS: d.prober.StartTLS}
	if d.prober.StartTLS != "" && (!d.preamble(preambles[d.prober.StartTLS]) || !d.secure()) {
		return
	}
	for i := range d.prober.QueryResponse {
		if !d.step(i) {
			return
		}
		d.attempt.TCP.Steps++
	}
}

// preamble speaks what comes before TLS, and reports whether it can begin. A
// farewell is owed only to a peer that speaks the protocol.
func (d *dialogue) preamble(spoken preamble) bool {
	start := time.Now()
	p := spoken.begin(d.talk, d.peer.name)
	phase := PhaseTLS
	if p != nil {
		phase = p.Reason.Phase
		d.fail(p)
	}
	d.attempt.Phases[phase] += time.Since(start)
	if phase == PhaseTLS {
		d.owed = spoken
	}
	return p == nil
}

func (d *dialogue) fail(p *Problem) { d.attempt.Problems = append(d.attempt.Problems, *p) }

// secure begins TLS and judges the peer. It reports whether to go on.
func (d *dialogue) secure() bool {
	if d.attempt.TCP != nil {
		d.attempt.TCP.Upgraded = true
	}
	start := time.Now()
	c, ended := shakeHands(d.talk, d.release, d.hello)
	d.attempt.Phases[PhaseTLS] += time.Since(start)
	if d.settle(d.attempt, d.peer, d.trusted, c, ended) == nil {
		d.talk = nil
		return false
	}
	d.talk = newTLSTalk(c)
	return onlyWarnings(d.attempt.Problems)
}

// part says farewell and ends the connection so that the peer has nothing to log.
func (d *dialogue) part(ctx context.Context) {
	if d.talk == nil {
		return
	}
	refused := d.farewell(ctx)
	c := d.talk.tls
	if c == nil {
		d.talk.part(ctx)
		d.release()
		return
	}
	if late := c.part(ctx); late != nil {
		p := classify(late)
		refused = &p
	}
	if refused != nil {
		d.attempt.Problems = slices.Insert(d.attempt.Problems, 0, *refused)
	}
}

// farewell says what the peer is owed, which holds nothing that an untrusted one
// could use. A server that wanted a client certificate may refuse us only now, and
// slapd does so without an alert: it leaves the farewell without an answer.
func (d *dialogue) farewell(ctx context.Context) *Problem {
	if d.owed.bye == nil {
		return nil
	}
	c := d.talk.tls
	d.talk.say(d.owed.bye(c)) // a peer that has gone needs none
	if !d.owed.hangsUp {
		return nil
	}
	answered, err := d.talk.drain(ctx)
	hungUp := err == nil || newEvidence(PhaseTLS, err, nil).End == EndReset
	if c == nil || answered > 0 || !hungUp || !c.facts.ClientCertRequested {
		return nil
	}
	reason := reasonClientCertRequired
	if c.facts.ClientCertSent {
		reason = reasonBadCertificate
	}
	p := reason.problem("the peer asked for a client certificate, and closed the connection without an answer or an alert")
	return &p
}
