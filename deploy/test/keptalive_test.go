package test

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"tlsprobe/deploy/test/cluster"
)

// TestKeptAliveConnection renews a webhook's CA and certificate while the caBundle
// stays as it was. The API server does not notice over the connection that it keeps
// alive, until the webhook is restarted one day; tlsprobe says so at once.
func TestKeptAliveConnection(t *testing.T) {
	r := newHookRig(t, "keptalive")
	h := &hook{name: "stale", port: 9443, bundle: r.cas.right.PEM()}
	before, err := r.cas.right.Server([]string{h.dnsName()})
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.cas.renewed.Server([]string{h.dnsName()})
	if err != nil {
		t.Fatal(err)
	}
	server := serveHook(t, r.host, h.port, &tls.Config{}, before, false)
	r.apply(t, h.configuration(h.byService())+h.service(r.host.Address.String()))
	r.works(t, h)
	r.agrees(t, h.target(), "")

	server.present(after)
	r.agrees(t, h.target(), "stale_ca")
	for range 5 {
		if err := h.call(t.Context(), r.client); err != nil {
			t.Fatalf("the API server noticed too: %v", err)
		}
	}
	r.agrees(t, h.target(), "stale_ca")
	if said := server.log(); said != "" {
		t.Errorf("tlsprobe left lines in the webhook's log:\n%s", said)
	}

	server.disconnect()
	var said error
	cluster.Eventually(t, readyTime, func() error {
		if said = h.call(t.Context(), r.client); said == nil || !strings.Contains(said.Error(), "x509") {
			return fmt.Errorf("the API server over a new connection: %v", said)
		}
		return nil
	})
	means(t, said.Error(), "stale_ca")
}
