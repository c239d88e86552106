package probe

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
)

// keypairStore loads client certificates and keeps them. A pair is read again
// when one of its files has changed, as a rotation changes them. As in a
// [trustStore], no file is touched under the lock.
type keypairStore struct {
	mu     sync.Mutex
	loaded map[keypairFiles]*keypair
}

type keypairFiles struct{ cert, key string }

// keypair is a client certificate with its key and its facts.
type keypair struct {
	stamps [2]fileStamp
	cert   *tls.Certificate
	facts  *Certificate
	err    error
}

func newKeypairStore() *keypairStore { return &keypairStore{loaded: map[keypairFiles]*keypair{}} }

// load returns the pair of these files, nil if none are named. An error says
// what is wrong, for [reasonBadKeypair].
func (s *keypairStore) load(certFile, keyFile string) (*keypair, error) {
	if certFile == "" {
		return nil, nil
	}
	files := keypairFiles{certFile, keyFile}
	stamps := stampsOf(files)
	p := s.known(files)
	if p == nil || p.stamps != stamps {
		p = readKeypair(files)
		if now := stampsOf(files); p.err != nil && now != stamps {
			p, stamps = readKeypair(files), now // a rotation came between the two files
		}
		p.stamps = stamps
		s.keep(files, p)
	}
	return p, p.err
}

// known returns what is kept of files, nil if nothing is.
func (s *keypairStore) known(files keypairFiles) *keypair {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded[files]
}

func (s *keypairStore) keep(files keypairFiles, p *keypair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded[files] = p
}

func stampsOf(files keypairFiles) [2]fileStamp {
	return [2]fileStamp{stampOf(files.cert), stampOf(files.key)}
}

func readKeypair(files keypairFiles) *keypair {
	certPEM, err := os.ReadFile(files.cert)
	if err != nil {
		return &keypair{err: fmt.Errorf("reading the client certificate: %w", err)}
	}
	keyPEM, err := os.ReadFile(files.key)
	if err != nil {
		return &keypair{err: fmt.Errorf("reading the client key: %w", err)}
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return &keypair{err: fmt.Errorf("client certificate %q with key %q: %w", files.cert, files.key, err)}
	}
	if cert.Leaf == nil {
		if cert.Leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
			return &keypair{err: fmt.Errorf("client certificate %q: %w", files.cert, err)}
		}
	}
	return &keypair{cert: &cert, facts: factsOf(cert.Leaf)}
}
