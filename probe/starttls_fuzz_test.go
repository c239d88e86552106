package probe

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzPreambles lets each protocol meet a peer that says anything and closes. It
// must come to an end, and to a problem or to TLS.
func FuzzPreambles(f *testing.F) {
	for _, said := range []string{
		"", "220 mail\r\n250-mail\r\n250 STARTTLS\r\n220 go\r\n", "220-a\r\n220-b", "99 x\r\n", "554\r\n", "120 wait\r\n220 ok\r\n",
		"* OK ready\r\n* CAPABILITY STARTTLS\r\na1 OK\r\na2 OK\r\n", "* BYE\r\n", "+OK\r\n+OK\r\nSTLS\r\n.\r\n+OK\r\n", "-ERR\r\n",
		"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00", "\x30\x84\xff\xff\xff\xff", "\x30\x81\x03\x02\x01\x01", "\x30\x88",
		"S", "N", "E\x00\x00\x00\x08fail", "\x05\x00\x00\x00\x0a8.0\x00", "\x07\x00\x00\x00\xff\x10\x04full", "\x01\x00\x00\x00\xff",
		"<stream:stream xmlns:stream='http://etherx.jabber.org/streams'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features><proceed/>",
		"<stream:stream xmlns:stream='http://etherx.jabber.org/streams'><stream:error><host-unknown/></stream:error></stream:stream>",
		"<html><body>no</body></html>", "\x15\x03\x01\x00\x02\x02\x46",
	} {
		f.Add([]byte(said))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		for protocol, p := range preambles {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			go func() {
				theirs.Write(said)
				theirs.Close()
			}()
			ours.SetDeadline(time.Now().Add(10 * time.Second))
			problem := p.begin(newPlainTalk(ours), "name<&'")
			ours.Close()
			if problem == nil {
				continue
			}
			if problem.Reason == reasonTCPExpectTimeout {
				t.Errorf("%s: hangs on %q", protocol, said)
			}
			const longest = 1000
			if problem.Reason == nil || problem.Detail == "" || len(problem.Detail)+len(problem.Received) > longest {
				t.Errorf("%s: %+v on %q", protocol, problem, said)
			}
		}
	})
}

// A peer that never comes to its point is given up on after what it may say, and
// not after all the time there is.
func TestPreamblesOfManyLines(t *testing.T) {
	for protocol, greeting := range map[string]string{"imap": "* OK\n", "pop3": "+OK\n+OK\n", "smtp": "220 a\n250-b\n", "ftp": "220 a\n211-b\n"} {
		t.Run(protocol, func(t *testing.T) {
			ours, theirs := net.Pipe()
			var peer sync.WaitGroup
			peer.Go(func() { io.Copy(io.Discard, theirs) })
			peer.Go(func() {
				io.WriteString(theirs, greeting)
				io.WriteString(theirs, strings.Repeat("\n", 2*maxTalk))
			})
			ours.SetDeadline(time.Now().Add(10 * time.Second))
			problem := preambles[protocol].begin(newPlainTalk(ours), "name")
			ours.Close()
			theirs.Close()
			peer.Wait()
			if problem == nil || problem.Reason != reasonTCPExpectMismatch {
				t.Errorf("found %+v, want tcp_expect_mismatch", problem)
			}
		})
	}
}
