package lab

import (
	"bytes"
	"io"
	"regexp"

	"tlsprobe/probe"
)

// tcpScenarios are servers that are asked nothing, or expected to say something.
func tcpScenarios() []Scenario {
	return []Scenario{
		{Name: "good-tcp", Summary: "a TLS server that is only asked whether it listens",
			start: func(i *Instance) error {
				cfg, err := i.goodConfig()
				if err != nil {
					return err
				}
				i.Target.Module = tcpModule()
				return i.serveTLS(cfg)
			}},
		{Name: "good-tcp-labels", Summary: "an SSH server that says what is expected, and which it is",
			start: func(i *Instance) error {
				err := i.expectAt(sshBanner, "^SSH-2.0-(.*)$")
				steps := i.Target.Module.Prober.(*probe.TCPProber).QueryResponse
				steps[0].Labels = []probe.ExpectLabel{{Name: "software", Value: "${1}"}}
				return err
			}},
		{Name: "tcp-other-banner", Summary: "an SMTP server where SSH is expected", Reasons: []string{"tcp_expect_mismatch"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.expectAt(smtpGreeting, "^SSH-2.0-")
			}},
		{Name: "tcp-silent", Summary: "accepts the connection and says nothing", Reasons: []string{"tcp_expect_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.expectAt("", "^SSH-2.0-")
			}},
		{Name: "tcp-closes", Summary: "closes the connection without a word", Reasons: []string{"tcp_expect_closed"},
			start: func(i *Instance) error {
				i.Target.Module = expecting("^SSH-2.0-")
				return i.serveAt(sayNothing)
			}},
		{Name: "hostile-lines", Summary: "sends lines that never end", Reasons: []string{"tcp_expect_mismatch"},
			start: func(i *Instance) error {
				i.Target.Module = expecting("^SSH-2.0-")
				return i.serveAt(func(c *peerConn) { io.Copy(c, endless{}) })
			}},
	}
}

// sayNothing says nothing and ends the connection by FIN: to close it while
// something is unread would be RST.
func sayNothing(c *peerConn) {
	c.CloseWrite()
	io.Copy(io.Discard, c)
}

// endless reads as many short lines as are wanted.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	return copy(b, bytes.Repeat([]byte("all work and no play\n"), 1000)), nil
}

// expectAt greets with text a target that expects a line.
func (i *Instance) expectAt(text, line string) error {
	i.Target.Module = expecting(line)
	return i.serveAt(greet(text))
}

func expecting(line string) *probe.Module {
	return tcpModule(func(p *probe.TCPProber) {
		p.QueryResponse = []probe.QueryResponse{{Expect: probe.Regexp{Regexp: regexp.MustCompile(line)}}}
	})
}

// tcpModule returns a module of the tcp prober with its default settings, edited.
func tcpModule(edits ...func(*probe.TCPProber)) *probe.Module {
	p := probe.NewProber("tcp").(*probe.TCPProber)
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "tcp", Kind: "tcp", Prober: p}
}
