package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// Every alert that a peer can send is recovered from crypto/tls's words.
func TestAlertByText(t *testing.T) {
	for n := range 256 {
		if got := alertByText(tls.AlertError(n).Error()); got != n {
			t.Errorf("alertByText(%q) = %d, want %d", tls.AlertError(n).Error(), got, n)
		}
	}
	if got := alertByText("tls: something new"); got != noAlert {
		t.Errorf("alertByText of an unknown text = %d, want none", got)
	}
}

func TestEvidenceOfErrors(t *testing.T) {
	remote := func(n int) error { return &net.OpError{Op: "remote error", Err: tls.AlertError(n)} }
	for _, tt := range []struct {
		name  string
		phase Phase
		err   error
		want  string
	}{
		{"eof", PhaseTLS, io.EOF, "eof"},
		{"eof within a record", PhaseTLS, io.ErrUnexpectedEOF, "eof"},
		{"reset", PhaseTLS, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "connection_reset"},
		{"broken pipe", PhaseTLS, os.NewSyscallError("write", syscall.EPIPE), "connection_reset"},
		{"deadline", PhaseTLS, os.ErrDeadlineExceeded, "tls_timeout"},
		{"alert 42", PhaseTLS, remote(42), "bad_certificate"},
		{"alert 45", PhaseTLS, remote(45), "alert_certificate_expired"},
		{"alert 48", PhaseTLS, remote(48), "alert_unknown_ca"},
		{"alert 49", PhaseTLS, remote(49), "alert_other"},
		{"alert 50", PhaseTLS, remote(50), "tls_protocol_error"},
		{"alert 70", PhaseTLS, remote(70), "protocol_version"},
		{"alert 71", PhaseTLS, remote(71), "handshake_failure"},
		{"alert 100", PhaseTLS, remote(100), "no_renegotiation"},
		{"alert 112", PhaseTLS, remote(112), "unrecognized_name"},
		{"alert 116", PhaseTLS, remote(116), "client_cert_required"},
		{"alert 200", PhaseTLS, remote(200), "alert_other"},
		{"our own alert", PhaseTLS, &net.OpError{Op: "local error", Err: tls.AlertError(20)}, "bad_record_mac"},
		{"untyped", PhaseTLS, errors.New("tls: server selected unsupported protocol version 302"), "protocol_version"},
		{"untyped certificate", PhaseTLS, errors.New("tls: failed to parse certificate from server: x509: negative serial number"), "malformed_certificate"},
		{"anything else", PhaseTLS, errors.New("tls: server sent an incorrect legacy version"), "tls_protocol_error"},
		{"refused", PhaseConnect, os.NewSyscallError("connect", syscall.ECONNREFUSED), "tcp_refused"},
		{"no route", PhaseConnect, os.NewSyscallError("connect", syscall.EHOSTUNREACH), "tcp_unreachable"},
		{"no network", PhaseConnect, os.NewSyscallError("connect", syscall.ENETUNREACH), "tcp_unreachable"},
		{"no SYN-ACK", PhaseConnect, os.NewSyscallError("connect", syscall.ETIMEDOUT), "tcp_timeout"},
		{"our deadline", PhaseConnect, fmt.Errorf("dial: %w", context.DeadlineExceeded), "tcp_timeout"},
		{"no descriptors", PhaseConnect, os.NewSyscallError("socket", syscall.EMFILE), "tcp_local_error"},
		{"closed before the answer", PhaseRequest, io.ErrUnexpectedEOF, "eof_after_handshake"},
		{"reset before the answer", PhaseRequest, syscall.ECONNRESET, "reset_after_handshake"},
		{"no answer", PhaseRequest, os.ErrDeadlineExceeded, "http_timeout"},
		{"no HTTP", PhaseRequest, errors.New(`malformed HTTP response "SSH-2.0"`), "http_malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := classify(newEvidence(tt.phase, tt.err, nil)).Reason.ID; got != tt.want {
				t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
			}
		})
	}
}

// In TLS 1.2 a missing client certificate is answered with handshake_failure, or
// with bad_certificate by JSSE: only the CertificateRequest tells.
func TestClientCertificateAsked(t *testing.T) {
	for _, alert := range []tls.AlertError{40, 41, 42, 46} {
		e := newEvidence(PhaseTLS, &net.OpError{Op: "remote error", Err: alert}, nil)
		e.TLS = &TLS{}
		e.ClientCertRequested = true
		if got := classify(e).Reason; got != reasonClientCertRequired {
			t.Errorf("alert %d, asked and none sent: %s, want client_cert_required", alert, got.ID)
		}
		e.ClientCertSent = true
		e.TLS.ClientCert = &Certificate{}
		if got := classify(e).Reason; got == reasonClientCertRequired {
			t.Errorf("alert %d, asked and sent: %s", alert, got.ID)
		}
	}
}

func TestPeerProtocol(t *testing.T) {
	hello := []byte{22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 9, 9}
	for _, tt := range []struct{ first, want string }{
		{"", ""},
		{"\x16\x03\x03\x00\x7a\x02", ""},
		{"\x15\x03\x01\x00\x02\x02\x46", ""},
		{"HTTP/1.1 400 Bad Request\r\n", "http1"},
		{"<html><head>", "http1"},
		{"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05", "h2"},
		{"\x00\x00\x08\x07\x00\x00\x00\x00\x00", "h2"},
		{"SSH-2.0-OpenSSH_9.2", "ssh"},
		{"220 mail.example ESMTP", "smtp"},
		{"* OK IMAP4rev1", "imap"},
		{"+OK POP3", "pop3"},
		{"\x4a\x00\x00\x00\x0a8.0.36\x00", "mysql"},
		{"N", "postgres"},
		{"E\x00\x00\x00\x80", "postgres"},
		{"-ERR unknown command", "redis"},
		{string(hello), "echo"},
		{"gibberish", "unknown"},
	} {
		if got := peerProtocol([]byte(tt.first), hello); got != tt.want {
			t.Errorf("peerProtocol(%q) = %q, want %q", tt.first, got, tt.want)
		}
	}
}

// script is a connection that reads as it is told and takes whatever is written.
type script struct {
	net.Conn
	reads [][]byte
}

func (s *script) Read(b []byte) (int, error) {
	if len(s.reads) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.reads[0])
	s.reads = s.reads[1:]
	return n, nil
}

// crypto/tls turns a close_notify, and a warning before a FIN, into a bare EOF:
// the recorder still has the alert, however the bytes were cut.
func TestPlaintextAlert(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reads [][]byte
		want  int
	}{
		{"whole", [][]byte{{21, 3, 3, 0, 2, 1, 112}}, 112},
		{"cut", [][]byte{{21, 3, 3}, {0, 2}, {2, 40}}, 40},
		{"byte by byte", [][]byte{{21}, {3}, {1}, {0}, {2}, {1}, {0}}, 0},
		{"behind other records", [][]byte{{22, 3, 3, 0, 1, 7, 21}, {3, 3, 0, 2}, {1, 0}}, 0},
		{"not last", [][]byte{{21, 3, 3, 0, 2, 1, 112, 22}}, noAlert},
		{"no level", [][]byte{{21, 3, 3, 0, 2, 7, 112}}, noAlert},
		{"short", [][]byte{{21, 3, 3}}, noAlert},
		{"nothing", nil, noAlert},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &recorder{Conn: &script{reads: tt.reads}}
			for {
				if _, err := rec.Read(make([]byte, 64)); err != nil {
					break
				}
			}
			if got, _ := rec.plaintextAlert(); got != tt.want {
				t.Errorf("alert %d, want %d", got, tt.want)
			}
		})
	}
}
