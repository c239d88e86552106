package probe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

const (
	maxLine = 64 << 10 // bytes of a line that a peer may send
	maxTalk = 1 << 20  // bytes that are read of all it says
)

// talk is a connection that is read by lines or bytes, within bounds. TLS can
// begin on it at any time: what was read ahead comes first.
type talk struct {
	net.Conn
	in   *bufio.Reader
	rec  *recorder // of the connection below, until TLS
	tls  *conn     // nil before TLS
	left int       // bytes that may still be read

	// awaits is what the peer should say next, in words, for the text of a
	// problem.
	awaits string
}

func newPlainTalk(tcp net.Conn) *talk {
	rec := &recorder{Conn: tcp}
	return &talk{Conn: rec, in: bufio.NewReader(rec), rec: rec, left: maxTalk}
}

func newTLSTalk(c *conn) *talk {
	return &talk{Conn: c.Conn, in: bufio.NewReader(c.Conn), rec: c.rec, tls: c, left: maxTalk}
}

// Read reads after what was read ahead.
func (t *talk) Read(b []byte) (int, error) { return t.in.Read(b) }

var errTalksTooMuch = errors.New("the peer says too much")

// readLine returns the next line without its end. What comes before the end of
// the stream is a line as well. With an error comes the part that was received.
func (t *talk) readLine() (string, error) {
	var line []byte
	for {
		part, err := t.in.ReadSlice('\n')
		line = append(line, part...)
		t.left -= len(part)
		switch {
		case t.left < 0 || len(line) > maxLine:
			return string(line[:min(len(line), maxLine)]), errTalksTooMuch
		case err == nil, err == io.EOF && len(line) > 0:
			return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return string(line), err
		}
	}
}

// line returns the next line, or the problem that prevents it.
func (t *talk) line() (string, *Problem) {
	line, err := t.readLine()
	if err != nil {
		return "", t.ended(err, line)
	}
	return line, nil
}

// next returns the next n bytes, or the problem that prevents it.
func (t *talk) next(n int) ([]byte, *Problem) {
	if t.left -= n; n < 0 || t.left < 0 {
		return nil, t.ended(errTalksTooMuch, "")
	}
	b := make([]byte, n)
	got, err := io.ReadFull(t.in, b)
	if err != nil {
		return nil, t.ended(err, string(b[:got]))
	}
	return b, nil
}

// readAhead returns what the peer said beyond what was read.
func (t *talk) readAhead() string {
	ahead, _ := t.in.Peek(t.in.Buffered())
	return string(ahead)
}

// say sends text as it is. A peer that has gone may have said why before: that is
// read next, so only our own deadline is a problem here.
func (t *talk) say(text string) *Problem {
	if _, err := io.WriteString(t.Conn, text); err != nil && !peerEnded(err) {
		return t.ended(err, "")
	}
	return nil
}

// part ends a connection without TLS: it closes its side and waits until the peer
// has closed as well, so that neither is reset.
func (t *talk) part(ctx context.Context) {
	defer t.Close()
	if c, ok := t.rec.Conn.(*net.TCPConn); ok {
		c.CloseWrite()
	}
	t.drain(ctx)
}

// drain reads until the peer closes, for a while. It returns how much came, and
// the error that ended it unless the peer closed.
func (t *talk) drain(ctx context.Context) (int64, error) {
	boundDrain(ctx, t, t.tls != nil && t.tls.judgesUs())
	return io.Copy(io.Discard, io.LimitReader(t, drainBytes))
}

// ended is the problem of a conversation that err ended. got is what the peer
// said in place of what was awaited.
func (t *talk) ended(err error, got string) *Problem {
	e := newEvidence(PhaseRequest, err, t.rec)
	if t.tls != nil {
		e = t.tls.evidence(PhaseTLS, err)
	}
	var p Problem
	switch {
	case t.tls != nil && e.AlertFrom == Peer && e.Alert != alertCloseNotify:
		p = classify(e)
		return &p
	case t.speaksTLS():
		p = reasonPlaintextOnTLSPort.problem(answersTLS)
	case got != "" || errors.Is(err, errTalksTooMuch):
		p = reasonTCPExpectMismatch.problem("%s did not come, and then: %s", t.awaits, lastWords(err))
	case e.End == EndTimeout:
		p = reasonTCPExpectTimeout.problem("%s did not come in time", t.awaits)
	default:
		p = reasonTCPExpectClosed.problem("%s did not come: %s", t.awaits, lastWords(err))
	}
	p.Expected, p.Received = t.awaits, said(got)
	e.Phase = PhaseRequest
	p.Err, p.Evidence = err, e
	return &p
}

// mismatch is the problem of a peer that says got, which is not what was awaited.
func (t *talk) mismatch(got string) *Problem {
	p := reasonTCPExpectMismatch.problem("the peer says something else than %s", t.awaits)
	if t.speaksTLS() {
		p = reasonPlaintextOnTLSPort.problem(answersTLS)
	}
	p.Expected, p.Received = t.awaits, said(got)
	return &p
}

const answersTLS = "the peer answers plain text with a TLS record"

// speaksTLS reports whether plain text was answered by TLS.
func (t *talk) speaksTLS() bool {
	first := t.rec.first()
	return t.tls == nil && len(first) >= 2 && isTLSRecord(first)
}

// said quotes what a peer said, shortened to what fits a line.
func said(got string) string {
	const shown = 120
	switch {
	case got == "":
		return "nothing"
	case len(got) > shown:
		return fmt.Sprintf("%q...", got[:shown])
	}
	return fmt.Sprintf("%q", got)
}
