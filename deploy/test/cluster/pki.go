package cluster

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"os"
	"path/filepath"
)

// A PKI is a cluster's certificates, in files named as kubeadm's.
type PKI struct {
	Dir string
	CA  *CA // of the API server, of kubelets and of all clients
}

// File returns the path of "ca.crt", "ca.key", "apiserver.crt", "sa.key" and so on.
func (p *PKI) File(name string) string { return filepath.Join(p.Dir, name) }

// newPKI makes all that an API server at this address needs.
func newPKI(dir string, address netip.Addr) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &PKI{Dir: dir}
	var err error
	if p.CA, err = p.authority("ca", "kubernetes-ca"); err != nil {
		return nil, err
	}
	proxyCA, err := p.authority("front-proxy-ca", "front-proxy-ca")
	if err != nil {
		return nil, err
	}
	server, err := p.CA.Server([]string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		"localhost", "127.0.0.1", "10.96.0.1", address.String(),
	})
	if err := p.keep("apiserver", server, err); err != nil {
		return nil, err
	}
	kubeletClient, err := p.CA.Client("kube-apiserver-kubelet-client", "system:masters")
	if err := p.keep("apiserver-kubelet-client", kubeletClient, err); err != nil {
		return nil, err
	}
	proxyClient, err := proxyCA.Client("front-proxy-client")
	if err := p.keep("front-proxy-client", proxyClient, err); err != nil {
		return nil, err
	}
	return p, p.writeTokenKeys()
}

// keep writes a pair of files, unless making it failed.
func (p *PKI) keep(name string, pair tls.Certificate, err error) error {
	if err != nil {
		return err
	}
	return WritePair(p.File(name), pair)
}

func (p *PKI) authority(name, commonName string) (*CA, error) {
	ca, err := NewCA(commonName)
	if err != nil {
		return nil, err
	}
	return ca, WritePair(p.File(name), tls.Certificate{Certificate: [][]byte{ca.Cert.Raw}, PrivateKey: ca.key})
}

// writeTokenKeys makes the key pair that service accounts' tokens are signed and
// verified by.
func (p *PKI) writeTokenKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	private, err := keyPEM(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.File("sa.key"), private, 0o600); err != nil {
		return err
	}
	return os.WriteFile(p.File("sa.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644)
}
