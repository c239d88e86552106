package probe

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"
)

// http1 speaks HTTP/1.1 over a stream: one request, no pool, no goroutine.
type http1 struct {
	stream
	proxied bool // to a proxy, which is told the whole URL
}

// maxInterim is how many interim answers may come before the answer (RFC 9110,
// Section 15.2).
const maxInterim = 5

func (l *http1) send(req *http.Request) (*http.Response, error) {
	req.Close = true
	write := req.Write
	if l.proxied {
		write = req.WriteProxy
	}
	if err := write(l.stream); err != nil && !peerEnded(err) {
		return nil, err
	}
	// The header's bytes are counted; the body has its own limit.
	in := &endingReader{Reader: l.stream}
	limited := &io.LimitedReader{R: in, N: maxHeaderBytes}
	buffered := bufio.NewReader(limited)
	resp, err := http.ReadResponse(buffered, req)
	for n := 0; err == nil && resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols && n < maxInterim; n++ {
		resp, err = http.ReadResponse(buffered, req)
	}
	switch {
	case err == nil:
		limited.N = math.MaxInt64
	case limited.N == 0:
		err = fmt.Errorf("the header of the answer is larger than %d KiB", maxHeaderBytes>>10)
	case in.broken(): // ReadResponse calls a line that was cut short malformed
		err = in.end
	}
	return resp, err
}

// peerEnded reports whether writing failed because the peer has gone: what it
// said before is still there to be read, and says more.
func peerEnded(err error) bool {
	end := newEvidence(PhaseRequest, err, nil).End
	return end == EndReset
}
