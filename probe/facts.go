package probe

import (
	"crypto/tls"
	"net/netip"
	"time"
)

// TLS holds the facts of a handshake, whatever its verdict. Read-only.
type TLS struct {
	Version    uint16      // tls.VersionTLS13…; 0 if the handshake did not complete
	Cipher     uint16      // IANA cipher suite
	Group      tls.CurveID // key exchange group; 0: none (RSA key exchange)
	ALPN       string      // the protocol agreed on, "" if none
	ServerName string      // the name verified; the SNI sent unless it is an IP address

	ClientCertRequested bool         // the server sent a CertificateRequest
	ClientCertSent      bool         // and we had one to send
	AcceptableCAs       []string     // subjects the server asked for; at most 16 are kept
	ClientCert          *Certificate // ours, nil if none is configured
	Stapled             *OCSP        // nil if the server stapled no response
	SCTs                int          // signed certificate timestamps delivered in the handshake; others are in Chain[0]

	// Chain is what the server sent, leaf first, at most maxChain certificates;
	// Sent is how many it sent. Results share the certificates.
	Chain []*Certificate
	Sent  int

	// Verified are the paths from the leaf to a trust anchor, the one that holds
	// longest first, at most maxPaths. Empty if there is none or nobody asked.
	Verified [][]*Certificate
}

// A Certificate keeps the facts of one certificate (RFC 5280, Section 4.1).
// Strings are the certificate's own and may hold anything.
type Certificate struct {
	Subject, Issuer     string // RFC 2253 form
	Serial              string // lower-case hex
	DNSNames            []string
	IPAddresses         []string
	URIs                []string
	EmailAddresses      []string
	SANs                int // how many names there are; the lists keep the first maxSANs
	NotBefore, NotAfter time.Time
	Key                 string // "P-256", "RSA-2048", "Ed25519"
	Signature           string // "ECDSA-SHA256"
	IsCA                bool
	SelfSigned          bool     // signed by its own key
	SCTs                int      // signed certificate timestamps embedded in it (RFC 6962, Section 3.3)
	SHA256              [32]byte // fingerprint of Raw
	Raw                 []byte   // DER
}

// OCSP is a stapled response (RFC 6960) about the leaf.
type OCSP struct {
	Status     string // "good", "revoked", "unknown"; "invalid" if it does not parse or verify
	ProducedAt time.Time
	ThisUpdate time.Time
	NextUpdate time.Time // zero: not given
	RevokedAt  time.Time // zero unless revoked
}

// HTTP holds the facts of a request and of the redirects that followed it.
// Read-only.
type HTTP struct {
	Hops []Hop // in order; the last one is the answer. At least one.
	Body int64 // bytes of the last hop's body that were read, after decompression

	ContentLength int64     // of the last answer as it says; -1: it does not, 0: there was none
	LastModified  time.Time // as the last answer says; zero: it does not
	AltSvc        string    // the last answer's Alt-Svc (RFC 7838), "" if none
}

// A Hop is one request and its answer.
type Hop struct {
	Method, URL string
	Peer        netip.AddrPort
	Proxy       string // URL of the proxy between, "" if none
	Proto       string // "HTTP/1.1"; "" without an answer
	Status      int    // 0 without an answer
	Location    string // as sent
	TLS         *TLS   // nil over plain http
	// Processing and Transfer are the times from request sent to first byte of
	// the answer, and from there to the end of the body.
	Processing, Transfer time.Duration
}

const (
	maxChain = 10  // certificates of a chain that are kept and judged
	maxSANs  = 100 // names of a certificate that are kept
)
