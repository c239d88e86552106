package lab

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"strings"

	"tlsprobe/probe"
)

// startTLSScenarios are small servers of protocols that begin in plain text, each
// with as much of its protocol as leads to TLS.
func startTLSScenarios() []Scenario {
	all := []Scenario{
		{Name: "starttls-not-offered", Summary: "an SMTP server that does not offer STARTTLS",
			Reasons: []string{"starttls_not_offered"},
			start: func(i *Instance) error {
				return i.converseAt("smtp", script{say(smtpGreeting), hearBegin("EHLO "), say("250-mail.lab.test\r\n250 8BITMIME\r\n"),
					hear("QUIT\r\n"), say("221 bye\r\n")})
			}},
		{Name: "starttls-refused", Summary: "an SMTP server that cannot load its certificate",
			Reasons: []string{"starttls_refused"},
			start: func(i *Instance) error {
				return i.converseAt("smtp", append(smtpScript[:4:4],
					say("454 4.7.0 TLS not available due to local problem\r\n"), hear("QUIT\r\n"), say("221 bye\r\n")))
			}},
		{Name: "starttls-postgres-off", Summary: "a PostgreSQL server without TLS", Reasons: []string{"starttls_not_offered"},
			start: func(i *Instance) error {
				return i.converseAt("postgres", script{hear("\x00\x00\x00\x08\x04\xd2\x16\x2f"), say("N")})
			}},
		{Name: "starttls-mysql-blocked", Summary: "a MySQL server that has blocked our address", Reasons: []string{"starttls_refused"},
			start: func(i *Instance) error {
				text := "\xff\x69\x04Host '127.0.0.1' is blocked because of many connection errors"
				return i.converseAt("mysql", script{say(string([]byte{byte(len(text)), 0, 0, 0}) + text)})
			}},
		{Name: "starttls-other-protocol", Summary: "an SSH server where SMTP is expected", Reasons: []string{"tcp_expect_mismatch"},
			start: func(i *Instance) error { return i.converseAt("smtp", script{say(sshBanner), wait}) }},
		{Name: "starttls-tls-at-once", Summary: "speaks TLS from the first byte where SMTP is expected",
			Reasons: []string{"plaintext_on_tls_port"},
			start: func(i *Instance) error {
				cfg, err := i.goodConfig()
				if err != nil {
					return err
				}
				i.Target.Module, i.Target.Timeout = startTLSModule("smtp"), shortTimeout
				return i.serveTLS(cfg)
			}},
		{Name: "starttls-cert-expired", Summary: "an SMTP server whose certificate behind STARTTLS has expired",
			Reasons: []string{"cert_expired"},
			start:   func(i *Instance) error { return i.converseAt("smtp", smtpScript, expired) }},
		{Name: "starttls-eof", Summary: "an SMTP server that closes in place of the handshake", Reasons: []string{"eof"},
			start: func(i *Instance) error { return i.converseAt("smtp", append(smtpScript[:5:5], hearHello)) }},
	}
	for _, protocol := range []struct {
		name, article string
		script        script
	}{
		{"smtp", "an SMTP", smtpScript}, {"imap", "an IMAP", imapScript}, {"pop3", "a POP3", pop3Script},
		{"ftp", "an FTP", ftpScript}, {"ldap", "an LDAP", ldapScript}, {"postgres", "a PostgreSQL", postgresScript},
		{"mysql", "a MySQL", mysqlScript}, {"xmpp", "an XMPP", xmppScript},
	} {
		all = append(all, Scenario{Name: "good-" + protocol.name,
			Summary: protocol.article + " server that begins TLS when asked",
			start:   func(i *Instance) error { return i.converseAt(protocol.name, protocol.script) }})
	}
	return all
}

// A script is a server's part in a conversation.
type script []line

// line is one turn: text to send, or to hear before the next is sent.
type line struct {
	send, hear string
	more       bool // hear is the beginning of what comes in one breath
	hello      bool // hear a ClientHello, so that a close which follows is a FIN and no RST
	tls, wait  bool // shake hands here; wait for the peer to close
}

func say(text string) line       { return line{send: text} }
func hear(text string) line      { return line{hear: text} }
func hearBegin(text string) line { return line{hear: text, more: true} }

var (
	hearHello = line{hello: true}
	handshake = line{tls: true}
	wait      = line{wait: true}
)

// The conversations of the protocols, with the farewell behind TLS where the
// protocol has one.
var (
	smtpScript = script{say(smtpGreeting), hearBegin("EHLO [127."), say("250-mail.lab.test\r\n250-STARTTLS\r\n250 8BITMIME\r\n"),
		hear("STARTTLS\r\n"), say("220 2.0.0 Ready to start TLS\r\n"), handshake, hear("QUIT\r\n"), say("221 2.0.0 Bye\r\n")}
	imapScript = script{say(imapGreeting), hear("a1 CAPABILITY\r\n"),
		say("* CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED\r\na1 OK done\r\n"), hear("a2 STARTTLS\r\n"),
		say("a2 OK begin TLS\r\n"), handshake, hear("a3 LOGOUT\r\n"), say("* BYE\r\na3 OK\r\n")}
	pop3Script = script{say(pop3Greeting), hear("CAPA\r\n"), say("+OK\r\nTOP\r\nSTLS\r\n.\r\n"), hear("STLS\r\n"),
		say("+OK begin TLS\r\n"), handshake, hear("QUIT\r\n"), say("+OK bye\r\n")}
	ftpScript = script{say("220-welcome to\r\n  the lab\r\n220 ready\r\n"), hear("FEAT\r\n"),
		say("211-Features:\r\n AUTH TLS\r\n PBSZ\r\n211 End\r\n"), hear("AUTH TLS\r\n"), say("234 AUTH TLS\r\n"), handshake,
		hear("QUIT\r\n"), say("221 bye\r\n")}
	// ldapScript answers with lengths in long form, as Active Directory does.
	ldapScript = script{hear("\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037"),
		say("\x30\x84\x00\x00\x00\x10\x02\x01\x01\x78\x84\x00\x00\x00\x07\x0a\x01\x00\x04\x00\x04\x00"), handshake,
		hear("\x30\x05\x02\x01\x03\x42\x00")}
	postgresScript = script{hear("\x00\x00\x00\x08\x04\xd2\x16\x2f"), say("S"), handshake, wait}
	mysqlScript    = script{
		say("\x4a\x00\x00\x00\x0a8.0.36\x00\x0b\x00\x00\x00" + "challeng\x00" + // version, thread, challenge
			"\xff\xff\xff\x02\x00\xff\xdf\x15" + strings.Repeat("\x00", 10) + // capabilities, character set, status
			"e-part-two!!\x00" + "caching_sha2_password\x00"),
		hear("\x20\x00\x00\x01\x00\x8a\x08\x00\x00\x00\x00\x01\x2d" + strings.Repeat("\x00", 23)), handshake, wait}
	xmppScript = script{hearBegin("<?xml version='1.0'?><stream:stream to='" + Host + "'"),
		say("<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' " +
			"id='1' from='" + Host + "' version='1.0'><stream:features>" +
			"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>"),
		hearBegin("<starttls "), say("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"), handshake, wait}
)

func startTLSModule(protocol string) *probe.Module {
	return tcpModule(func(p *probe.TCPProber) { p.StartTLS = protocol })
}

// converseAt serves s, with a certificate of the lab's CA, to a target that
// begins TLS by protocol.
func (i *Instance) converseAt(protocol string, s script, edits ...Edit) error {
	cert, err := i.lab.CA.Issue(edits...)
	if err != nil {
		return err
	}
	i.Target.Module = startTLSModule(protocol)
	return i.serveAt(func(c *peerConn) {
		if err := s.play(c, &tls.Config{Certificates: []tls.Certificate{cert}}); err != nil {
			io.WriteString(&i.log, err.Error()+"\n")
		}
	})
}

// play speaks the server's part on c, whose peer must keep to its own.
func (s script) play(c io.ReadWriter, cfg *tls.Config) error {
	in := bufio.NewReader(c)
	for _, turn := range s {
		switch {
		case turn.tls:
			secure := tls.Server(&gatedConn{peerConn: c.(*peerConn), reader: in}, cfg)
			if err := secure.Handshake(); err != nil {
				return err
			}
			defer secure.Close()
			c, in = secure, bufio.NewReader(secure)
		case turn.hello:
			if _, err := peekHello(in); err != nil {
				return err
			}
		case turn.wait:
			io.Copy(io.Discard, in)
		case turn.send != "":
			if _, err := io.WriteString(c, turn.send); err != nil {
				return err
			}
		default:
			if err := turn.heard(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// heard waits until the peer has said what it should.
func (l line) heard(in *bufio.Reader) error {
	got, err := in.Peek(len(l.hear))
	if err != nil {
		return fmt.Errorf("the client left before it said %q", l.hear)
	}
	if string(got) != l.hear {
		return fmt.Errorf("the client said %q in place of %q", got, l.hear)
	}
	take := len(l.hear)
	if l.more {
		take = in.Buffered()
	}
	_, err = in.Discard(take)
	return err
}
