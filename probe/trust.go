package probe

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// trustStore parses what a [Trust] names and keeps it. A file is read again when
// its size or modification time has changed. No file is touched under the lock:
// one on a file system that hangs would hold up every probe.
type trustStore struct {
	mu     sync.Mutex
	parsed map[Trust]*trustEntry
}

type trustEntry struct {
	stamp fileStamp
	roots *roots
	err   error
}

func newTrustStore() *trustStore { return &trustStore{parsed: map[Trust]*trustEntry{}} }

// maxTrusts bounds how many trusts are kept: one for each webhook's caBundle and
// room for those of former configurations.
const maxTrusts = 4096

// roots returns the pool that t names. An error says what is wrong with it, for
// [reasonCABundleInvalid].
func (s *trustStore) roots(t Trust) (*roots, error) {
	var stamp fileStamp
	if t.File != "" {
		stamp = stampOf(t.File)
	}
	e := s.known(t)
	if e == nil || e.stamp != stamp {
		e = &trustEntry{stamp: stamp}
		e.roots, e.err = parseTrust(t)
		s.keep(t, e)
	}
	return e.roots, e.err
}

// known returns what is kept of t, nil if nothing is.
func (s *trustStore) known(t Trust) *trustEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parsed[t]
}

func (s *trustStore) keep(t Trust, e *trustEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parsed) >= maxTrusts {
		clear(s.parsed)
	}
	s.parsed[t] = e
}

func parseTrust(t Trust) (*roots, error) {
	if t.File == "" && t.PEM == "" {
		return &roots{origin: "the system's roots"}, nil
	}
	data, origin := []byte(t.PEM), "the CA given inline"
	if t.File != "" {
		var err error
		if data, err = os.ReadFile(t.File); err != nil {
			return nil, fmt.Errorf("reading the CA file: %w", err)
		}
		origin = "the CA file " + t.File
	}
	certs, err := parseCertificates(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	pool := x509.NewCertPool()
	if t.System {
		if pool, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("loading the system's roots: %w", err)
		}
		origin += " and the system's roots"
	}
	for _, c := range certs {
		pool.AddCert(c)
	}
	id := sha256.Sum256([]byte(origin + "\x00" + string(data)))
	return &roots{pool: pool, certs: certs, id: id, origin: origin}, nil
}

// parseCertificates returns the certificates of a PEM bundle (RFC 7468, Section 5).
// Other blocks are passed over; a certificate that does not parse is an error, as
// is a bundle without one.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	if len(data) == 0 {
		return nil, errors.New("is empty")
	}
	var certs []*x509.Certificate
	var blocks int
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		blocks++
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("PEM block %d is no certificate: %w", blocks, err)
		}
		certs = append(certs, c)
	}
	switch {
	case blocks == 0:
		return nil, errors.New("holds no PEM block; it should begin with -----BEGIN CERTIFICATE-----")
	case len(certs) == 0:
		return nil, fmt.Errorf("holds %d PEM blocks, none of them a CERTIFICATE", blocks)
	}
	return certs, nil
}

// fileStamp tells whether a file has changed since it was read.
type fileStamp struct {
	modified time.Time
	size     int64
}

// stampOf returns the zero stamp for a file that cannot be read.
func stampOf(file string) fileStamp {
	info, err := os.Stat(file)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{modified: info.ModTime(), size: info.Size()}
}
