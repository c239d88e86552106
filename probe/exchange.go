package probe

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
)

const (
	maxHeaderBytes = 64 << 10 // of an answer
	maxBodyBytes   = 10 << 20 // of an answer, where the settings do not say
	excerptBytes   = 512      // of a body, kept to tell what it says
)

// response is an HTTP response whose body has been read.
type response struct {
	*http.Response
	says     *Reason // what an error page says of TLS, nil if nothing
	excerpt  string  // the beginning of the body
	body     []byte  // all of it where it is judged, else the beginning
	complete bool    // the body came to its end
}

// A line is a connection to a server of HTTP, for one request.
type line interface {
	// send sends a request and returns the answer, whose body has not been read.
	send(*http.Request) (*http.Response, error)
	// evidence reads an error of send, or of reading the body.
	evidence(Phase, error) *Evidence
	// part ends the connection, see [conn.part].
	part(context.Context) *Evidence
}

// A stream is a connection that carries bytes, of which a line can be made.
type stream interface {
	io.ReadWriter
	evidence(Phase, error) *Evidence
	part(context.Context) *Evidence
}

// exchange is one request and its answer.
type exchange struct {
	line     line
	hop      *Hop
	settings *AnswerSettings
	read     int64 // bytes of the body, after decompression
}

// do sends req and reads the answer. Problems may come with an answer (its body
// is too large) or without.
func (x *exchange) do(req *http.Request) (*response, []Problem) {
	start := time.Now()
	resp, err := x.line.send(req)
	x.hop.Processing = time.Since(start)
	if err != nil {
		return nil, []Problem{x.failed(err)}
	}
	defer resp.Body.Close()
	x.hop.Proto, x.hop.Status = resp.Proto, resp.StatusCode
	x.hop.Location = resp.Header.Get("Location")

	start = time.Now()
	a := &response{Response: resp}
	problems := x.readBody(a)
	x.hop.Transfer = time.Since(start)
	return a, problems
}

// endingReader keeps the error that ended reading: who reads through a layer
// above is told of that layer's trouble only.
type endingReader struct {
	io.Reader
	end error
}

func (r *endingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		r.end = err
	}
	return n, err
}

// broken reports whether reading ended before its time.
func (r *endingReader) broken() bool { return r.end != nil && r.end != io.EOF }

// readBody reads the body up to the limit, keeping its beginning, and all of it
// where it is to be judged.
func (x *exchange) readBody(a *response) []Problem {
	in := &endingReader{Reader: a.Body}
	body := io.Reader(in)
	right := x.settings.statusOK(a.StatusCode)
	if right && x.settings.Compression != "" {
		body = decompress(x.settings.Compression, in)
	}
	limit := cmp.Or(int64(x.settings.BodySizeLimit), maxBodyBytes)
	limited := io.LimitReader(body, limit+1)
	head, err := io.ReadAll(io.LimitReader(limited, excerptBytes))
	x.read = int64(len(head))
	a.excerpt, a.body = string(bytes.TrimSpace(head)), head
	if a.StatusCode == http.StatusBadRequest {
		a.says = errorPage(head, x.hop.TLS != nil)
	}
	needed := right && x.settings.wantsBody()
	if err == nil {
		rest := io.Discard
		if needed {
			rest = (*appender)(&a.body)
		}
		var more int64
		more, err = io.Copy(rest, limited)
		x.read += more
	}
	switch {
	case err != nil && x.settings.Compression != "" && right && !in.broken():
		p := reasonHTTPCompressionMismatch.because(fmt.Errorf("decompressing the body: %w", err))
		p.Expected, p.Received = x.settings.Compression, "Content-Encoding: "+cmp.Or(a.Header.Get("Content-Encoding"), "none")
		return []Problem{p}
	case err != nil:
		return []Problem{x.failed(fmt.Errorf("after %d bytes of the body: %w", x.read, err))}
	case x.read <= limit:
		a.complete = true
	case x.settings.BodySizeLimit > 0 || needed:
		return []Problem{reasonHTTPBodyTooLarge.problem("the body goes on after %d bytes", limit)}
	}
	return nil
}

// appender writes at the end of a slice.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// decompress undoes a content coding (RFC 9110, Section 8.4.1).
func decompress(coding string, r io.Reader) io.Reader {
	switch strings.ToLower(coding) {
	case "gzip":
		return &lateGzip{in: r}
	case "deflate": // without zlib's frame, as blackbox_exporter reads it
		return flate.NewReader(r)
	case "br":
		return brotli.NewReader(r)
	}
	return r
}

// lateGzip reads the header of gzip when it is read itself.
type lateGzip struct {
	in   io.Reader
	gzip *gzip.Reader
}

func (l *lateGzip) Read(b []byte) (n int, err error) {
	if l.gzip == nil {
		if l.gzip, err = gzip.NewReader(l.in); err != nil {
			return 0, err
		}
	}
	return l.gzip.Read(b)
}

// failed classifies what ended the exchange. An alert belongs to TLS whenever it
// comes, and a TLS alert in answer to plain HTTP says what the port speaks.
func (x *exchange) failed(err error) Problem {
	e := x.line.evidence(PhaseRequest, err)
	if x.hop.TLS == nil {
		if len(e.First) >= 2 && isTLSRecord(e.First) {
			return reasonPlaintextOnTLSPort.problem("%s answers plain HTTP with a TLS alert", x.hop.Peer)
		}
	} else if e.AlertFrom == Peer {
		e.Phase = PhaseTLS
	}
	return classify(e)
}
