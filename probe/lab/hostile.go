package lab

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"tlsprobe/probe"
)

// hostileScenarios try to cost a prober time, memory or its terminal. Each must
// end in a reason within the target's timeout.
func hostileScenarios() []Scenario {
	return []Scenario{
		{Name: "hostile-drip-tls", Summary: "sends its ServerHello a byte a second", Reasons: []string{"tls_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveAt(afterHello(dripHello))
			}},
		{Name: "hostile-drip-http", Summary: "sends its answer a byte a second", Reasons: []string{"http_timeout"},
			start: func(i *Instance) error {
				err := i.answerAt(func(conn *tls.Conn, c *peerConn) {
					c.drip(conn, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), time.Second)
				})
				i.Target.Timeout = shortTimeout
				return err
			}},
		{Name: "hostile-headers", Summary: "sends 1 MB of headers", Reasons: []string{"http_malformed"},
			start: func(i *Instance) error { return i.requestAt(http.HandlerFunc(answerManyHeaders)) }},
		{Name: "hostile-body", Summary: "sends a body that never ends", Reasons: []string{"http_body_too_large"},
			start: func(i *Instance) error {
				return i.requestAt(http.HandlerFunc(answerForEver), func(p *probe.HTTPProber) { p.BodySizeLimit = 1 << 20 })
			}},
		{Name: "hostile-redirects", Summary: "redirects 1,000 times", Reasons: []string{"redirect_limit"},
			start: func(i *Instance) error { return i.requestAt(http.HandlerFunc(redirectThousandTimes)) }},
		{Name: "hostile-chain", Summary: "sends a chain of 200 KB", Reasons: []string{"unknown_authority", "chain_invalid"},
			start: startLongChain},
		{Name: "hostile-names", Summary: "has a certificate with 2,000 names, none of them ours",
			Reasons: []string{"hostname_mismatch"},
			start:   func(i *Instance) error { return i.serveIssued(manyNames) }},
		{Name: "hostile-escapes", Summary: "has terminal escape codes in its certificate",
			Reasons: []string{"hostname_mismatch", "self_signed"},
			start:   startEscapes},
		{Name: "hostile-garbage", Summary: "sends bytes of no protocol", Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error { return i.serveAt(greet(garbage)) }},
		{Name: "hostile-handshake", Summary: "sends handshake records for ever, a byte in each",
			Reasons: []string{"tls_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveAt(afterHello(fragmentForEver))
			}},
	}
}

const serverHello = 2 // handshake type (RFC 8446, Section 4)

// dripHello sends a ServerHello so slowly that it never ends in time.
func dripHello(c *peerConn) {
	c.drip(c, record(recordHandshake, handshakeMessage(serverHello, 70, make([]byte, 70))), time.Second)
}

// fragmentForEver sends the longest message a client accepts, one byte to a
// record: each record is legal (RFC 8446, Section 5.1), and the end minutes away.
func fragmentForEver(c *peerConn) {
	const longest = 1<<16 - 1 // crypto/tls, maxHandshake
	c.Write(record(recordHandshake, handshakeMessage(serverHello, longest, nil)))
	records := bytes.Repeat(record(recordHandshake, []byte{0}), longest)
	c.dripChunks(c, records, recordHeader+1, 5*time.Millisecond)
}

// drip writes data to w, which is on top of c, a byte at a time.
func (c *peerConn) drip(w io.Writer, data []byte, every time.Duration) {
	c.dripChunks(w, data, 1, every)
}

// dripChunks writes data size bytes at a time, until the peer or the instance has
// had enough.
func (c *peerConn) dripChunks(w io.Writer, data []byte, size int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for chunk := range slices.Chunk(data, size) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-c.instance.done:
			return
		}
	}
}

func answerManyHeaders(w http.ResponseWriter, _ *http.Request) {
	for n := range 1000 {
		w.Header().Set(fmt.Sprintf("X-Padding-%d", n), strings.Repeat("x", 1000))
	}
}

func answerForEver(w http.ResponseWriter, _ *http.Request) {
	block := bytes.Repeat([]byte("all work and no play "), 1000)
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func redirectThousandTimes(w http.ResponseWriter, r *http.Request) {
	if page(r) < 1000 {
		toNextPage(w, r)
	}
}

// startLongChain serves 400 intermediate CAs, each signed by the next, below a
// root that nobody trusts.
func startLongChain(i *Instance) error {
	ca, err := NewCA("another CA")
	for n := 0; err == nil && n < 400; n++ {
		ca, err = ca.Intermediate(fmt.Sprintf("intermediate CA %d", n))
	}
	return i.serveIssuedBy(ca, err)
}

func manyNames(c *x509.Certificate) {
	c.DNSNames, c.IPAddresses = nil, nil
	for n := range 2000 {
		c.DNSNames = append(c.DNSNames, fmt.Sprintf("host-%d.other.lab.test", n))
	}
}

// startEscapes serves names that clear the screen, colour it, ring the bell and
// forge a line where they are printed as they are.
func startEscapes(i *Instance) error {
	cert, err := SelfSigned(func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: "\x1b[2J\x1b[31mred\x07\r\nOK: all is well"}
		c.DNSNames, c.IPAddresses = []string{"\x1b]0;title\x07.lab.test"}, nil
	})
	if err != nil {
		return err
	}
	return i.serveCertificate(cert)
}
