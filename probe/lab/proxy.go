package lab

import (
	"io"
	"net"
	"net/http"
	"net/url"

	promconfig "github.com/prometheus/common/config"

	"tlsprobe/probe"
)

// behindProxy runs a good server, and a proxy that handles the requests for it.
func (i *Instance) behindProxy(proxy http.Handler) error {
	address, err := i.serveHTTP(proxy)
	if err != nil {
		return err
	}
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return i.requestAt(http.HandlerFunc(answerOK), func(p *probe.HTTPProber) {
		p.Proxy.ProxyURL = promconfig.URL{URL: u}
	})
}

// tunnel handles CONNECT (RFC 9110, Section 9.3.6).
func tunnel(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "a proxy for CONNECT only", http.StatusMethodNotAllowed)
		return
	}
	server, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	w.WriteHeader(http.StatusOK)
	client, sent, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		io.Copy(client, server)
		client.Close()
	}()
	io.Copy(server, sent) // what the HTTP server has read already comes first
	server.Close()
	<-back
}
