package test

import (
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// crowdServers are all servers of a crowd: one process, on a host that answers at
// every address of nodes, endpoints, Services and of the Ingress controller, each
// with a certificate that is right for it.
type crowdServers struct {
	crowd   *crowd
	cluster *cluster.CA
	ingress *cluster.CA

	mu    sync.Mutex
	certs map[string]*tls.Certificate // by SNI, or else by address
}

// crowdNetworks lead to the host of the servers.
func crowdNetworks() []string { return []string{"10.200.0.0/14", "10.96.0.0/16"} }

// ingressAddress is the Ingress controller's.
var ingressAddress = netip.MustParseAddr("10.203.0.1")

// serveCrowd starts the servers. Routes on the given hosts lead to them, and the
// system roots of programs started later trust the Ingresses' certificates.
func serveCrowd(t *testing.T, c *cluster.Cluster, crowd *crowd, from ...*cluster.Host) {
	t.Helper()
	ca, err := cluster.NewCA("Public Root")
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, ca.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", roots)
	s := &crowdServers{crowd: crowd, cluster: c.PKI.CA, ingress: ca, certs: map[string]*tls.Certificate{}}

	host := addHost(t, c, "crowd", "10.77.0.60")
	for _, network := range crowdNetworks() {
		if err := host.Run("ip", "route", "add", "local", network, "dev", "lo"); err != nil {
			t.Fatal(err)
		}
		for _, other := range from {
			if err := other.AddRoute(network, host.Address); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, port := range []int{443, 8443, 9443, 10250} {
		s.serve(t, host, port, &tls.Config{GetCertificate: s.certificate}, http.HandlerFunc(ok))
	}
	s.serve(t, host, 80, nil, http.HandlerFunc(toHTTPS))
}

func ok(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func toHTTPS(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently)
}

func (s *crowdServers) serve(t *testing.T, host *cluster.Host, port int, config *tls.Config, handler http.Handler) {
	t.Helper()
	listener, err := host.Listen("tcp4", fmt.Sprintf(":%d", port))
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		config.NextProtos = []string{"http/1.1"}
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(t.Output(), "", 0)}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) }) // until Close
	t.Cleanup(func() {
		server.Close()
		served.Wait()
	})
}

// certificate makes each certificate when it is first wanted.
func (s *crowdServers) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	if name == "" {
		host, _, err := net.SplitHostPort(hello.Conn.LocalAddr().String())
		if err != nil {
			return nil, err
		}
		name = host
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cert := s.certs[name]; cert != nil {
		return cert, nil
	}
	cert, err := s.authority(name).Server([]string{name})
	if err != nil {
		return nil, err
	}
	s.certs[name] = &cert
	return &cert, nil
}

// authority returns the CA that is right for a name.
func (s *crowdServers) authority(name string) *cluster.CA {
	if number, ok := strings.CutPrefix(strings.TrimSuffix(name, "."+crowdNamespace+".svc"), "operator-"); ok {
		if i, err := strconv.Atoi(number); err == nil && i < len(s.crowd.cas) {
			return s.crowd.cas[i]
		}
	}
	if strings.HasSuffix(name, ".example") {
		return s.ingress
	}
	return s.cluster
}
