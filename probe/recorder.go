package probe

import "net"

// recorder wraps a connection and keeps its first bytes in each direction, for
// [Evidence]: crypto/tls does not say what a peer sent that it could not read.
type recorder struct {
	net.Conn
	in, out   [recorded]byte
	nIn, nOut int // bytes kept
	tail      [alertRecord]byte
	nTail     int
}

const (
	recorded    = 64
	alertRecord = 7 // a plaintext alert record (RFC 8446, Sections 5.1 and 6)
)

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.nIn += copy(r.in[r.nIn:], b[:n])
	if n > 0 {
		r.keepTail(b[:n])
	}
	return n, err
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.Conn.Write(b)
	r.nOut += copy(r.out[r.nOut:], b[:n])
	return n, err
}

// keepTail keeps the last bytes received, where a plaintext alert would be.
func (r *recorder) keepTail(b []byte) {
	if len(b) >= alertRecord {
		r.nTail = copy(r.tail[:], b[len(b)-alertRecord:])
		return
	}
	keep := min(r.nTail, alertRecord-len(b))
	copy(r.tail[:], r.tail[r.nTail-keep:r.nTail])
	r.nTail = keep + copy(r.tail[keep:], b)
}

func (r *recorder) first() []byte { return r.in[:r.nIn] }
func (r *recorder) sent() []byte  { return r.out[:r.nOut] }

// plaintextAlert returns the alert whose plaintext record ended what the peer sent.
func (r *recorder) plaintextAlert() (int, bool) {
	t := r.tail
	if r.nTail != alertRecord || t[0] != 21 || t[1] != 3 || t[3] != 0 || t[4] != 2 || t[5] < 1 || t[5] > 2 {
		return noAlert, false
	}
	return int(t[6]), true
}
