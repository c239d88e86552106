package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
)

// Evidence is what is known about how a connection ended, in a form that no
// longer depends on Go's error types or on the transport: TCP and QUIC carry the
// same alert in different types, and nothing after Evidence can tell. The
// catalogue matches on it. It is built here only: no other file looks at error
// types and texts.
type Evidence struct {
	Phase Phase
	Err   error // as it came; for showing, not for matching

	Alert     int    // TLS alert description (RFC 8446, Section 6), -1: none
	AlertFrom Sender // who sent Alert
	End       End    // how the connection ended
	Refused   bool   // our own guard refused the address; Phase is PhaseConfig
	Errno     syscall.Errno
	RCode     int // DNS response code (RFC 1035, Section 4.1.1), -1: no answer

	First        []byte // the first bytes the peer sent, at most 64
	PeerProtocol string // what First shows the peer to speak, "" if TLS or nothing

	QUIC *QUIC  // the facts of a connection over QUIC, nil over TCP
	Code string // the QUIC, HTTP/2 or HTTP/3 error code that ended it, "" if none

	ClientCertRequested bool
	ClientCertSent      bool
	TLS                 *TLS // the facts of the handshake so far, nil before it

	Text string // the error's words, for what crypto/tls gives no type to
}

// Sender is who sent an alert.
type Sender uint8

const (
	Nobody Sender = iota
	Peer
	Us
)

// End is how a connection ended.
type End uint8

const (
	EndOther       End = iota // by an error of our own side
	EndFIN                    // the peer closed without a word
	EndCloseNotify            // the peer closed with close_notify (RFC 8446, Section 6.1)
	EndReset                  // RST
	EndTimeout                // our deadline passed
)

const noAlert = -1

// newEvidence reads err, which ended phase. rec is the connection's recorder,
// nil where there was none.
func newEvidence(phase Phase, err error, rec *recorder) *Evidence {
	e := &Evidence{Phase: phase, Err: err, Alert: noAlert, RCode: -1, Text: err.Error()}
	if rec != nil {
		e.First = bytes.Clone(rec.first()) // the recorder itself holds the connection
		e.PeerProtocol = peerProtocol(rec.first(), rec.sent())
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		e.Phase, e.Refused = PhaseConfig, true
		return e
	}
	e.readAlert(err, rec)
	e.readEnd(err)
	e.readQUIC(err)
	e.readStream(err)
	e.readLookup(err)
	e.readDial(err)
	return e
}

// readAlert finds the alert in err. crypto/tls exports no type for an alert on
// TCP: it is the unexported tls.alert within a *net.OpError, told by its words.
// A close_notify, or a warning before a FIN, shows as a bare EOF: there the
// recorder has the bytes.
func (e *Evidence) readAlert(err error, rec *recorder) {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		switch op.Op {
		case "remote error":
			e.Alert, e.AlertFrom = alertByText(op.Err.Error()), Peer
		case "local error":
			e.Alert, e.AlertFrom = alertByText(op.Err.Error()), Us
		}
	}
	if e.Alert == noAlert && rec != nil {
		if alert, ok := rec.plaintextAlert(); ok {
			e.Alert, e.AlertFrom = alert, Peer
		}
	}
}

// readDial words a failed dial: net's own text begins with our end, which has no
// address yet.
func (e *Evidence) readDial(err error) {
	var op *net.OpError
	if e.Phase == PhaseConnect && errors.As(err, &op) && op.Addr != nil {
		e.Text = fmt.Sprintf("connecting to %s: %s", op.Addr, lastWords(err))
	}
}

// alertByText recovers the number of an alert from its words without a copied
// list of them.
func alertByText(text string) int {
	for n := range 256 {
		if tls.AlertError(n).Error() == text {
			return n
		}
	}
	return noAlert
}

func (e *Evidence) readEnd(err error) {
	errors.As(err, &e.Errno)
	var timeout interface{ Timeout() bool }
	switch {
	case e.Alert == alertCloseNotify:
		e.End = EndCloseNotify
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		e.End = EndReset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.End = EndFIN
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		e.End = EndTimeout
	}
}

const (
	// cryptoError is the first of the 256 codes by which QUIC carries a TLS alert
	// (RFC 9001, Section 4.8).
	cryptoError = 0x100

	versionNegotiation = "VERSION_NEGOTIATION"
	invalidToken       = "INVALID_TOKEN" // RFC 9000, Section 20.1
)

// readQUIC finds the alert, or the error code, that ended a QUIC connection. All
// of quic-go's errors are [net.ErrClosed] as well, and where our own TLS refused
// the peer, an alert within: the code comes first.
func (e *Evidence) readQUIC(err error) {
	var transport *quic.TransportError
	var versions *quic.VersionNegotiationError
	var reset *quic.StatelessResetError
	var application *quic.ApplicationError
	switch {
	case errors.As(err, &transport) && transport.ErrorCode.IsCryptoError():
		e.Alert, e.AlertFrom = int(transport.ErrorCode-cryptoError), Us
		if transport.Remote {
			e.AlertFrom = Peer
		}
	case errors.As(err, &transport):
		e.Code = transport.ErrorCode.String()
	case errors.As(err, &versions):
		e.Code = versionNegotiation
	case errors.As(err, &reset):
		e.Code, e.End = "stateless reset", EndReset
	case errors.As(err, &application):
		e.Code = "application error " + strconv.FormatUint(uint64(application.ErrorCode), 10)
	}
}

// readStream finds the code by which the peer ended a request over HTTP/2 or
// HTTP/3. A code of our own side says that the peer's words made no sense.
func (e *Evidence) readStream(err error) {
	var stream http2.StreamError
	var goAway http2.GoAwayError //lint:ignore SA1019 see http2.go
	var h3 *http3.Error
	switch {
	case errors.As(err, &stream) && strings.Contains(stream.Error(), "received from peer"):
		e.Code = stream.Code.String()
	case errors.As(err, &goAway):
		e.Code = goAway.ErrCode.String()
	case errors.As(err, &h3) && h3.Remote:
		e.Code = h3.ErrorCode.String()
	}
}

// readLookup adds what the DNS server answered, if err is of a lookup.
func (e *Evidence) readLookup(err error) {
	var lookup *lookupError
	if errors.As(err, &lookup) {
		e.RCode = lookup.RCode
	}
}

// receivedAlert reports whether the peer sent one of these alerts.
func (e *Evidence) receivedAlert(alerts ...int) bool {
	if e.AlertFrom != Peer {
		return false
	}
	for _, alert := range alerts {
		if e.Alert == alert {
			return true
		}
	}
	return false
}

// isVerdict reports whether e, of an established connection, is what the peer
// thinks of our certificate or of its absence.
func (e *Evidence) isVerdict() bool {
	return e.AlertFrom == Peer && e.Alert != alertCloseNotify || e.End == EndReset && e.ClientCertRequested
}

// protocolAlert reports whether the alert is one by which a side says that the
// other broke the protocol.
func (e *Evidence) protocolAlert() bool {
	switch e.Alert {
	case 10, 21, 22, 30, 47, 50, 109, 110, 111, 113, 114, 115:
		return true
	}
	return false
}

// says reports whether the error's words contain one of these.
func (e *Evidence) says(words ...string) bool {
	for _, w := range words {
		if strings.Contains(e.Text, w) {
			return true
		}
	}
	return false
}

// notGRPC reports whether the message of a status that grpc-go made up says that
// the answer was HTTP, but not gRPC's. Its code does not tell: a page that is not
// found is Unimplemented, as a method that is not there.
func notGRPC(message string) bool {
	return strings.Contains(message, "unexpected HTTP status code received from server") ||
		strings.Contains(message, "received unexpected content-type")
}

// The alerts that the catalogue speaks of (RFC 8446, Section 6; IANA TLS Alerts).
const (
	alertCloseNotify            = 0
	alertBadRecordMAC           = 20
	alertHandshakeFailure       = 40
	alertNoCertificate          = 41 // SSL 3.0
	alertBadCertificate         = 42
	alertUnsupportedCertificate = 43
	alertCertificateRevoked     = 44
	alertCertificateExpired     = 45
	alertCertificateUnknown     = 46
	alertUnknownCA              = 48
	alertExportRestriction      = 60
	alertProtocolVersion        = 70
	alertInsufficientSecurity   = 71
	alertInternalError          = 80
	alertInappropriateFallback  = 86
	alertNoRenegotiation        = 100
	alertUnrecognizedName       = 112
	alertCertificateRequired    = 116
	alertNoApplicationProtocol  = 120
)

// peerProtocol names what a peer speaks whose first bytes are not TLS: "http1",
// "h2", "ssh", "smtp", "imap", "pop3", "mysql", "postgres", "redis", "echo" or
// "unknown"; "" where the bytes are TLS or where there are none.
func peerProtocol(first, sent []byte) string {
	if len(first) == 0 || isTLSRecord(first) {
		if len(first) >= 11 && bytes.HasPrefix(sent, first) {
			return "echo"
		}
		return ""
	}
	for _, p := range greetings {
		if bytes.HasPrefix(first, []byte(p.prefix)) {
			return p.protocol
		}
	}
	switch {
	case len(first) >= 9 && first[0] == 0 && (first[3] == 4 || first[3] == 7) && first[4] == 0:
		return "h2" // a SETTINGS or GOAWAY frame (RFC 9113, Section 6.5, 6.8)
	case len(first) >= 5 && first[3] == 0 && first[4] == 10:
		return "mysql" // protocol version 10 behind the packet's length and number
	case len(first) == 1 && (first[0] == 'N' || first[0] == 'S'):
		return "postgres"
	}
	return "unknown"
}

var greetings = []struct{ prefix, protocol string }{
	{"HTTP/", "http1"}, {"<html", "http1"}, {"<HTML", "http1"}, {"<!DOC", "http1"}, {"<!doc", "http1"},
	{"SSH-", "ssh"}, {"220 ", "smtp"}, {"220-", "smtp"}, {"* OK", "imap"}, {"+OK", "pop3"},
	{"-ERR ", "redis"}, {"E\x00\x00\x00", "postgres"},
}

// isTLSRecord reports whether b begins a TLS record: a known content type and
// major version 3 (RFC 8446, Section 5.1).
func isTLSRecord(b []byte) bool {
	const changeCipherSpec, heartbeat = 20, 24
	return b[0] >= changeCipherSpec && b[0] <= heartbeat && (len(b) < 2 || b[1] == 3)
}
