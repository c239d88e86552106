package lab

import (
	"io"
	"net/http"
	"strings"
)

// The first bytes of peers that do not speak TLS, as they send them.
const (
	// sshBanner is OpenSSH's (RFC 4253, Section 4.2).
	sshBanner = "SSH-2.0-OpenSSH_9.6\r\n"
	// smtpGreeting is a mail server's (RFC 5321, Section 4.2).
	smtpGreeting = "220 mail.lab.test ESMTP Postfix\r\n"
	imapGreeting = "* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n"
	pop3Greeting = "+OK ready\r\n"
	// mysqlGreeting is protocol version 10's handshake packet, cut after the
	// server's version and connection id.
	mysqlGreeting = "\x4a\x00\x00\x00\x0a8.0.36\x00\x01\x00\x00\x00"
	// postgresError is a FATAL ErrorResponse to a startup packet it cannot read.
	postgresError = "E\x00\x00\x00\x28SFATAL\x00C08P01\x00Minvalid startup\x00\x00\x00\x00\x00\x00"
	redisError    = "-ERR unknown command\r\n"
	// http2Settings is grpc-go's first frame: SETTINGS with MAX_FRAME_SIZE
	// (RFC 9113, Section 6.5).
	http2Settings = "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00"
	// garbage is no protocol at all. Its first byte is no TLS content type.
	garbage = "\xde\xad\xbe\xef\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"
)

// plaintextScenarios have no TLS where it is expected, or the other way round.
func plaintextScenarios() []Scenario {
	greets := func(protocol, greeting string) Scenario {
		return Scenario{Name: "plain-" + protocol, Summary: "speaks " + protocol + " where TLS is expected",
			Reasons: []string{"wrong_version_number"},
			start:   func(i *Instance) error { return i.serveAt(greet(greeting)) }}
	}
	answers := func(protocol, answer string) Scenario {
		return Scenario{Name: "plain-" + protocol, Summary: "speaks " + protocol + " where TLS is expected",
			Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error {
				return i.serveAt(afterHello(func(c *peerConn) { io.WriteString(c, answer) }))
			}}
	}
	return []Scenario{
		{Name: "plain-http", Summary: "speaks http where TLS is expected", Reasons: []string{"wrong_version_number"},
			start: startPlainHTTP},
		{Name: "plain-http-on-https-url", Summary: "speaks http on a port that an https URL names",
			Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error {
				url, err := i.serveHTTP(http.HandlerFunc(answerOK))
				i.Target.Address = strings.Replace(url, "http:", "https:", 1) + "/"
				i.Target.Module = httpModule()
				return err
			}},
		greets("h2c", http2Settings),
		greets("ssh", sshBanner),
		greets("smtp", smtpGreeting),
		greets("imap", imapGreeting),
		greets("pop3", pop3Greeting),
		greets("mysql", mysqlGreeting),
		answers("postgres", postgresError),
		answers("redis", redisError),
		{Name: "tls-on-http-url", Summary: "speaks TLS where plain http is expected",
			Reasons: []string{"plaintext_on_tls_port"},
			start: func(i *Instance) error {
				err := i.requestAt(http.HandlerFunc(answerOK))
				i.Target.Address = strings.Replace(i.Target.Address, "https:", "http:", 1)
				return err
			}},
		{Name: "tls-alert-on-http-url", Summary: "answers plain http with a TLS alert, as OpenSSL servers do",
			Reasons: []string{"plaintext_on_tls_port"},
			start: func(i *Instance) error {
				addr, err := i.serve(afterHello(func(c *peerConn) { c.Write(alert(fatal, 70)) }))
				i.Target.Address = "http://" + addr + "/"
				i.Target.Module = httpModule()
				return err
			}},
	}
}

// greet sends a greeting at once, as the protocols do in which the server speaks
// first, and then waits for the peer to close.
func greet(greeting string) func(*peerConn) {
	return func(c *peerConn) {
		io.WriteString(c, greeting)
		io.Copy(io.Discard, c)
	}
}

// startPlainHTTP runs a real Go http.Server without TLS: it answers a
// ClientHello with "HTTP/1.1 400 Bad Request".
func startPlainHTTP(i *Instance) error {
	url, err := i.serveHTTP(http.HandlerFunc(answerOK))
	i.Target.Address = strings.TrimPrefix(url, "http://")
	return err
}
