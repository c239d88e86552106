package test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"tlsprobe/deploy/test/cluster"
)

// A hook is an admission webhook: a server, and the objects that lead the API server
// to it. It is asked about ConfigMaps with the label hook=NAME. Its configuration,
// its Service and its first webhook have that name.
type hook struct {
	name   string
	port   int    // of the server
	bundle []byte // the caBundle
}

// dnsName is what the API server sends as SNI, and wants to find in the certificate.
func (h *hook) dnsName() string { return h.name + ".hooks.svc" }

// target is what the product calls it.
func (h *hook) target() string { return "webhook/" + h.name + "/" + h.dnsName() }

// service is the YAML of the Service and of its one endpoint.
func (h *hook) service(address string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: hooks}
spec: {ports: [{name: https, port: 443, targetPort: %[2]d}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: hooks, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
ports: [{name: https, port: %[2]d, protocol: TCP}]
endpoints: [{addresses: [%[3]s], conditions: {ready: true}}]
`, h.name, h.port, address)
}

// configuration is the YAML of the webhook configuration. The client is its
// clientConfig without the caBundle.
func (h *hook) configuration(client string) string {
	return fmt.Sprintf(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
  - name: %[2]s
    clientConfig: {caBundle: %[4]q, %[3]s}
    rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
    objectSelector: {matchLabels: {hook: %[1]s}}
    timeoutSeconds: 2
    sideEffects: None
    admissionReviewVersions: [v1]
`, h.name, h.dnsName(), client, base64.StdEncoding.EncodeToString(h.bundle))
}

// byService is the clientConfig that names the hook's own Service.
func (h *hook) byService() string {
	return fmt.Sprintf("service: {namespace: hooks, name: %s}", h.name)
}

// call makes the API server call the hook, and returns what it says.
func (h *hook) call(ctx context.Context, client kubernetes.Interface) error {
	about := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-", Labels: map[string]string{"hook": h.name}}}
	_, err := client.CoreV1().ConfigMaps("default").Create(ctx, about, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// A hookServer is the server of a hook, and allows everything.
type hookServer struct {
	server http.Server

	mu    sync.Mutex
	cert  tls.Certificate
	conns map[net.Conn]bool // open ones
	said  []byte            // to its log
}

// serveHook serves on the host until the test ends, by TLS unless plain.
func serveHook(t *testing.T, host *cluster.Host, port int, config *tls.Config, cert tls.Certificate, plain bool) *hookServer {
	t.Helper()
	s := &hookServer{cert: cert, conns: map[net.Conn]bool{}}
	listener := listen(t, host, port)
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return &s.cert, nil
	}
	s.server = http.Server{Handler: http.HandlerFunc(allow), TLSConfig: config, ErrorLog: log.New(s, "", 0)}
	s.server.ConnState = s.track
	var served sync.WaitGroup
	served.Go(func() {
		if plain {
			_ = s.server.Serve(listener) // until Close
		} else {
			_ = s.server.ServeTLS(listener, "", "")
		}
	})
	t.Cleanup(func() {
		s.server.Close()
		served.Wait()
	})
	return s
}

// Write implements io.Writer for the server's log.
func (s *hookServer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, b...)
	return len(b), nil
}

func (s *hookServer) track(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns[conn] = true
	case http.StateClosed:
		delete(s.conns, conn)
	}
}

// disconnect closes all connections, as a restart does.
func (s *hookServer) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close()
	}
}

// log returns what the server has logged.
func (s *hookServer) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.said)
}

// present changes the certificate for connections to come.
func (s *hookServer) present(cert tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cert = cert
}

func listen(t *testing.T, host *cluster.Host, port int) net.Listener {
	t.Helper()
	listener, err := host.Listen("tcp4", fmt.Sprintf("%s:%d", host.Address, port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// allow answers an admission review.
func allow(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review) // the API server sees if it is cut short
}

// serveConns hands each connection to f, which owns it.
func serveConns(t *testing.T, listener net.Listener, f func(*net.TCPConn)) {
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { f(conn.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		served.Wait()
	})
}
