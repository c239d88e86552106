package lab

import (
	"bufio"
	"encoding/binary"
	"io"
)

// TLS record layer (RFC 8446, Section 5.1).
const (
	recordHeader           = 5 // bytes
	recordChangeCipherSpec = 20
	recordAlert            = 21
	recordHandshake        = 22
	recordData             = 23
	maxRecord              = 1 << 14
)

// record wraps payload in one plaintext TLS record.
func record(contentType byte, payload []byte) []byte {
	out := []byte{contentType, 3, 3, 0, 0}
	binary.BigEndian.PutUint16(out[3:], uint16(len(payload)))
	return append(out, payload...)
}

// handshakeMessage is a handshake message of this type (RFC 8446, Section 4)
// whose header announces length bytes, of which body is what follows.
func handshakeMessage(messageType byte, length int, body []byte) []byte {
	return append([]byte{messageType, byte(length >> 16), byte(length >> 8), byte(length)}, body...)
}

// peekHello returns the peer's first record, complete. What is not TLS is taken
// as far as it has arrived. r holds at least a record.
func peekHello(r *bufio.Reader) ([]byte, error) {
	header, err := r.Peek(recordHeader)
	if err != nil {
		return nil, err
	}
	if header[0] != recordHandshake {
		return r.Peek(r.Buffered())
	}
	return r.Peek(min(r.Size(), recordHeader+int(binary.BigEndian.Uint16(header[3:]))))
}

// afterHello makes a connection handler that reads the ClientHello to its end, so
// that a close which follows is a FIN and no RST, and then calls then.
func afterHello(then func(*peerConn)) func(*peerConn) {
	return func(c *peerConn) {
		if _, err := peekHello(bufio.NewReaderSize(c, recordHeader+maxRecord)); err == nil {
			then(c)
		}
	}
}

// hang reads and never answers, until the peer gives up.
func hang(c *peerConn) { io.Copy(io.Discard, c) }
