package test

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"tlsprobe/deploy/test/cluster"
)

// A webhookCase is one way in which a webhook fails, or works.
type webhookCase struct {
	name string
	// What the API server says, and the reason that this stands for; "" if it works.
	says, reason string
	// verdict is the product's reason if it sees deeper than what the API server says.
	verdict string

	edit   func(*x509.Certificate) // of the server's certificate
	bundle func(*hookCAs) []byte   // the caBundle; nil: the right one
	auth   tls.ClientAuthType      // of the server
	plain  bool                    // the server speaks HTTP without TLS
	conns  func(*net.TCPConn)      // instead of a server: what becomes of each connection
	closed bool                    // nothing listens
	absent bool                    // there is no Service
	empty  bool                    // the Service has no endpoint
	client func(h *hook) string    // the clientConfig, if it is not the Service
}

func webhookCases() []webhookCase {
	return []webhookCase{
		{name: "wrong-ca", says: "certificate signed by unknown authority", reason: "unknown_authority",
			bundle: func(c *hookCAs) []byte { return c.other.PEM() }},
		{name: "no-bundle", says: "certificate signed by unknown authority", reason: "unknown_authority",
			bundle: func(*hookCAs) []byte { return nil }},
		{name: "renewed-ca", says: `while trying to verify candidate authority certificate "hooks-ca"`, reason: "stale_ca",
			bundle: func(c *hookCAs) []byte { return c.renewed.PEM() }},
		{name: "both-cas", bundle: func(c *hookCAs) []byte { return append(c.other.PEM(), c.right.PEM()...) }},
		{name: "plain-http", says: "http: server gave HTTP response to HTTPS client", reason: "wrong_version_number", plain: true},
		{name: "early-close", says: ": EOF", reason: "eof", conns: func(c *net.TCPConn) { readHello(c); c.Close() }},
		{name: "reset", says: "connection reset by peer", reason: "connection_reset",
			conns: func(c *net.TCPConn) { readHello(c); c.SetLinger(0); c.Close() }},
		{name: "expired", says: "certificate has expired or is not yet valid", reason: "cert_expired",
			edit: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }},
		{name: "not-yet", says: "certificate has expired or is not yet valid", reason: "cert_not_yet_valid",
			edit: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }},
		{name: "wrong-name", says: "certificate is valid for other.hooks.svc, not", reason: "hostname_mismatch",
			edit: func(c *x509.Certificate) { c.DNSNames = []string{"other.hooks.svc"} }},
		{name: "common-name", says: "certificate relies on legacy Common Name field", reason: "legacy_common_name",
			edit: func(c *x509.Certificate) { c.DNSNames = nil }},
		{name: "client-cert", says: "remote error: tls: certificate required", reason: "client_cert_required",
			auth: tls.RequireAnyClientCert},
		{name: "no-listener", says: "connect: connection refused", reason: "tcp_refused", closed: true},
		{name: "no-endpoint", says: "connect: connection refused", reason: "tcp_refused", verdict: "no_endpoints", empty: true},
		{name: "no-service", says: `service "no-service" not found`, reason: "service_not_found", absent: true},
		{name: "no-port", says: `no service port 8443 found for service "no-port"`, reason: "service_port_not_found",
			client: func(h *hook) string { return "service: {namespace: hooks, name: no-port, port: 8443}" }},
		{name: "url-by-ip", says: "doesn't contain any IP SANs", reason: "missing_ip_san",
			client: func(h *hook) string { return "url: https://10.77.0.30:" + strconv.Itoa(h.port) + "/" }},
	}
}

// readHello takes in the client's first record. What is left unread when a socket is
// closed would make the kernel send a reset instead of an end.
func readHello(c *net.TCPConn) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(c, header); err == nil {
		_, _ = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint16(header[3:])))
	}
}

// TestWebhookVerdicts lets the API server itself call webhooks that fail in every
// way. What it says, what tlsprobe makes of these words, and what tlsprobe finds by
// its own probe are one and the same.
func TestWebhookVerdicts(t *testing.T) {
	r := newHookRig(t, "webhook")
	cases := webhookCases()
	hooks := make([]*hook, len(cases))
	var objects string
	for i, test := range cases {
		hooks[i] = test.start(t, r, 9000+i)
		objects += test.objects(hooks[i], r.host)
	}
	r.apply(t, objects)
	for i, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			var said error
			cluster.Eventually(t, readyTime, func() error { // until kube-proxy has brought the Service into force
				said = hooks[i].call(t.Context(), r.client)
				return test.matches(said)
			})
			if said != nil {
				means(t, said.Error(), test.reason)
			}
			r.agrees(t, hooks[i].target(), cmp.Or(test.verdict, test.reason))
		})
	}
}

// matches reports how what the API server said differs from what it is to say.
func (test *webhookCase) matches(said error) error {
	switch {
	case test.says == "":
		return said
	case said == nil:
		return fmt.Errorf("the webhook %q works", test.name)
	case !strings.Contains(said.Error(), test.says):
		return said
	}
	return nil
}

// start starts the server of a case.
func (test *webhookCase) start(t *testing.T, r *hookRig, port int) *hook {
	h := &hook{name: test.name, port: port, bundle: r.cas.right.PEM()}
	if test.bundle != nil {
		h.bundle = test.bundle(r.cas)
	}
	edits := []func(*x509.Certificate){}
	if test.edit != nil {
		edits = append(edits, test.edit)
	}
	cert, err := r.cas.right.Server([]string{h.dnsName()}, edits...)
	switch {
	case err != nil:
		t.Fatal(err)
	case test.conns != nil:
		serveConns(t, listen(t, r.host, port), test.conns)
	case !test.closed:
		serveHook(t, r.host, port, &tls.Config{ClientAuth: test.auth}, cert, test.plain)
	}
	return h
}

func (test *webhookCase) objects(h *hook, host *cluster.Host) string {
	client := h.byService()
	if test.client != nil {
		client = test.client(h)
	}
	objects := h.configuration(client)
	if !test.absent {
		objects += h.service(host.Address.String())
	}
	if test.empty {
		objects = strings.Replace(objects, "ready: true", "ready: false", 1)
	}
	return objects
}
