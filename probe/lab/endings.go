package lab

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// endingScenarios end or break the connection during the handshake, without a
// reason given by alert.
func endingScenarios() []Scenario {
	return []Scenario{
		{Name: "tls-eof", Summary: "closes the connection after the ClientHello", Reasons: []string{"eof"},
			start: func(i *Instance) error { return i.serveAt(afterHello(func(*peerConn) {})) }},
		{Name: "tls-eof-in-record", Summary: "closes the connection in the middle of its ServerHello", Reasons: []string{"eof"},
			start: func(i *Instance) error {
				return i.serveAt(afterHello(func(c *peerConn) { c.Write([]byte{recordHandshake, 3, 3, 0, 100, 2, 0}) }))
			}},
		{Name: "tls-reset", Summary: "resets the connection after the ClientHello", Reasons: []string{"connection_reset"},
			start: func(i *Instance) error { return i.serveAt(afterHello((*peerConn).reset)) }},
		{Name: "tls-hangs", Summary: "accepts the connection and never answers", Reasons: []string{"tls_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveAt(hang)
			}},
		{Name: "tls-large-hello-reset", Summary: "resets the connection on a ClientHello of more than 1,000 bytes",
			Reasons: []string{"large_client_hello"},
			start:   func(i *Instance) error { return i.serveGoodBehind(onlySmallHellos((*peerConn).reset)) }},
		{Name: "tls-large-hello-hang", Summary: "hangs on a ClientHello of more than 1,000 bytes",
			Reasons: []string{"large_client_hello"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveGoodBehind(onlySmallHellos(hang))
			}},
		{Name: "tls-proxy-header", Summary: "closes unless a PROXY protocol header comes first",
			Reasons: []string{"proxy_protocol_mismatch"},
			start:   func(i *Instance) error { return i.serveGoodBehind(wantProxyHeader) }},
		{Name: "tls-bad-record", Summary: "sits behind something that damages the first encrypted record",
			Reasons: []string{"bad_record_mac"},
			start: func(i *Instance) error {
				return i.serveGoodBehind(func(c *peerConn) net.Conn { return &damagedConn{peerConn: c} })
			}},
		{Name: "tls-echo", Summary: "sends back what it receives", Reasons: []string{"tls_protocol_error"},
			start: func(i *Instance) error { return i.serveAt(func(c *peerConn) { io.Copy(c, c) }) }},
		{Name: "tls-illegal-message", Summary: "answers the ClientHello with a Finished message",
			Reasons: []string{"tls_protocol_error"},
			start: func(i *Instance) error {
				return i.serveAt(afterHello(func(c *peerConn) {
					c.Write(record(recordHandshake, handshakeMessage(20, 12, make([]byte, 12))))
					hang(c)
				}))
			}},
	}
}

// onlySmallHellos lets a ClientHello of up to 1,000 bytes pass, as a middlebox
// does that cannot put together one of several segments, and does refuse with
// the others.
func onlySmallHellos(refuse func(*peerConn)) func(*peerConn) net.Conn {
	const limit = 1000
	return func(c *peerConn) net.Conn {
		return &gatedConn{peerConn: c, open: func(r *bufio.Reader) error {
			hello, err := peekHello(r)
			if err != nil {
				return err
			}
			if len(hello) > limit {
				refuse(c)
				return errors.New("the ClientHello is too large")
			}
			return nil
		}}
	}
}

// wantProxyHeader takes off a PROXY protocol header of version 1 (haproxy.org,
// proxy-protocol.txt, Section 2.1), and ends a connection that begins otherwise.
func wantProxyHeader(c *peerConn) net.Conn {
	return &gatedConn{peerConn: c, open: func(r *bufio.Reader) error {
		start, err := peekHello(r)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(start, []byte("PROXY ")) {
			return fmt.Errorf("broken header: %.16q while reading PROXY protocol", start)
		}
		line, err := r.ReadString('\n')
		if err == nil && !strings.HasSuffix(line, "\r\n") {
			err = fmt.Errorf("broken header: %q while reading PROXY protocol", line)
		}
		return err
	}}
}

// gatedConn looks at what the peer sends first, before the server behind it does.
type gatedConn struct {
	*peerConn
	open   func(*bufio.Reader) error // called once; an error ends the connection
	reader *bufio.Reader
}

func (c *gatedConn) Read(b []byte) (int, error) {
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(c.peerConn, recordHeader+maxRecord)
		if err := c.open(c.reader); err != nil {
			return 0, err
		}
	}
	return c.reader.Read(b)
}

// damagedConn flips a bit in the first encrypted record that is written, as a
// broken middlebox or network card does.
type damagedConn struct {
	*peerConn
	encrypted, done bool
}

func (c *damagedConn) Write(b []byte) (int, error) {
	out := append([]byte(nil), b...)
	for rest := out; !c.done && len(rest) > recordHeader; {
		size := recordHeader + int(binary.BigEndian.Uint16(rest[3:]))
		if rest[0] == recordData || c.encrypted {
			rest[size-1] ^= 1
			c.done = true
		}
		c.encrypted = c.encrypted || rest[0] == recordChangeCipherSpec
		rest = rest[min(size, len(rest)):]
	}
	return c.peerConn.Write(out)
}
