package probe

import (
	"errors"
	"fmt"
	"strings"
)

// protocolNames are what a peer speaks instead of TLS, in words.
var protocolNames = map[string]string{
	"http1":    "plain HTTP/1",
	"h2":       "plain HTTP/2 (h2c: gRPC without TLS)",
	"ssh":      "SSH",
	"smtp":     "SMTP or FTP, which begin in plain text (STARTTLS)",
	"imap":     "IMAP, which begins in plain text (STARTTLS)",
	"pop3":     "POP3, which begins in plain text (STLS)",
	"mysql":    "the MySQL protocol, which begins in plain text",
	"postgres": "the PostgreSQL protocol, which begins in plain text",
	"redis":    "the Redis protocol",
	"echo":     "our own bytes, sent back",
	"unknown":  "no protocol that is known",
}

// describe says in words how the connection ended: the case itself, what would
// have been right, and what came.
func (e *Evidence) describe() (detail, expected, received string) {
	detail = e.Text
	switch {
	case e.Phase == PhaseTLS && e.PeerProtocol != "":
		detail = "the first bytes are not a TLS record: the peer speaks " + protocolNames[e.PeerProtocol]
		expected, received = "a TLS ServerHello", fmt.Sprintf("%q", cutBytes(e.First))
	case e.AlertFrom == Peer && e.Alert != alertCloseNotify:
		received = fmt.Sprintf("alert %d from the peer", e.Alert)
		if e.TLS != nil && e.ClientCertRequested {
			received += ", " + e.describeRequest()
		}
	case e.Phase == PhaseTLS && (e.End == EndFIN || e.End == EndCloseNotify):
		detail = fmt.Sprintf("EOF: the peer closed the connection %s", e.after())
		expected = "a TLS ServerHello"
		received = e.after()
		if e.End == EndCloseNotify {
			received = "close_notify"
		}
	case e.Phase == PhaseTLS && e.End == EndReset, e.Phase == PhaseTLS && e.End == EndTimeout:
		detail = fmt.Sprintf("%s, %s", lastWords(e.Err), e.after())
	}
	return detail, expected, received
}

// after says how far the peer's side of the handshake had come.
func (e *Evidence) after() string {
	if len(e.First) == 0 {
		return "without a byte"
	}
	return fmt.Sprintf("after its first bytes, %x", e.First[:min(len(e.First), 8)])
}

// describeRequest says what the server's CertificateRequest asked for.
func (e *Evidence) describeRequest() string {
	words := "after a request for a client certificate"
	if len(e.TLS.AcceptableCAs) > 0 {
		words += " of " + strings.Join(e.TLS.AcceptableCAs, " or ")
	}
	if !e.ClientCertSent {
		return words + "; none is configured, none was sent"
	}
	return words + "; ours is " + e.TLS.ClientCert.Subject + " of " + e.TLS.ClientCert.Issuer
}

// lastWords is the innermost text of err: "connection reset by peer".
func lastWords(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func cutBytes(b []byte) []byte { return b[:min(len(b), 24)] }
