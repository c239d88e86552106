package lab

import (
	"crypto/aes"
	"crypto/cipher"
)

// connectionIDs returns the connection ids of a packet with a long header (RFC
// 9000, Section 17.2), nil if b is none.
func connectionIDs(b []byte) (destination, source []byte) {
	const header = 5 // flags and version
	if len(b) < header+1 || b[0]&0x80 == 0 {
		return nil, nil
	}
	b = b[header:]
	if len(b) <= int(b[0]) {
		return nil, nil
	}
	destination, b = b[1:1+b[0]], b[1+b[0]:]
	if len(b) == 0 || len(b) <= int(b[0]) {
		return nil, nil
	}
	return destination, b[1 : 1+b[0]]
}

func withLength(id []byte) []byte { return append([]byte{byte(len(id))}, id...) }

// otherVersions answers with a Version Negotiation packet of versions that nobody
// speaks (RFC 9000, Section 17.2.1).
func otherVersions(b []byte) []byte {
	destination, source := connectionIDs(b)
	if destination == nil {
		return nil
	}
	out := []byte{0x80, 0, 0, 0, 0}
	out = append(out, withLength(source)...)
	out = append(out, withLength(destination)...)
	return append(out, 0x1a, 0x2a, 0x3a, 0x4a, 0xff, 0, 0, 0x1d)
}

// retry answers with a Retry packet (RFC 9000, Section 17.2.5), the first as any
// other.
func retry(b []byte) []byte {
	destination, source := connectionIDs(b)
	if destination == nil {
		return nil
	}
	out := []byte{0xf0, 0, 0, 0, 1}
	out = append(out, withLength(source)...)
	out = append(out, withLength([]byte("retry-id"))...)
	out = append(out, "token"...)
	return append(out, integrityTag(append(withLength(destination), out...))...)
}

// integrityTag authenticates a Retry pseudo-packet by the key that everybody
// knows (RFC 9001, Section 5.8).
func integrityTag(pseudo []byte) []byte {
	key := []byte{0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e}
	nonce := []byte{0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm.Seal(nil, nonce, nil, pseudo)
}
