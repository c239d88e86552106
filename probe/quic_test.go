package probe_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"tlsprobe/probe"
)

// A server of HTTP/3 that answers no request, or begins to, ends with the timeout
// of the probe; quic-go itself would wait for 30 seconds, or as long as it likes.
func TestHTTP3Hangs(t *testing.T) {
	ca := newCA(t, "http3")
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	server := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/begun" {
				w.Write([]byte("hel"))
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}),
	}
	defer server.Close()
	go server.Serve(udp)
	for _, path := range []string{"/silent", "/begun"} {
		t.Run(path[1:], func(t *testing.T) {
			target := edited(target(ca, "http", "https://"+udp.LocalAddr().String()+path, probe.TLSConfig{}),
				func(p *probe.HTTPProber) { p.EnableHTTP3 = true })
			target.Timeout = time.Second
			res := run(t, target)
			if verdict(res) != "http_timeout" || res.Duration > 20*time.Second {
				t.Errorf("verdict %q after %s: %+v", verdict(res), res.Duration, res.Worst())
			}
		})
	}
}

// A server that takes its time to judge our certificate is waited for: before its
// verdict nothing is well.
func TestQUICVerdict(t *testing.T) {
	ca := newCA(t, "quic")
	for _, tt := range []struct {
		name, want string
		judge      func(over chan struct{}) error
	}{
		{"content", "", func(chan struct{}) error { return nil }},
		{"late", "client_cert_required", func(over chan struct{}) error {
			select {
			case <-time.After(time.Second):
			case <-over:
			}
			return errors.New("not you")
		}},
		{"never", "quic_timeout", func(over chan struct{}) error { <-over; return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			over := make(chan struct{})
			ln, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{
				Certificates: []tls.Certificate{issue(t, ca)}, NextProtos: []string{"h3"},
				ClientAuth:       tls.RequestClientCert,
				VerifyConnection: func(tls.ConnectionState) error { return tt.judge(over) },
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			defer close(over)
			target := target(ca, "quic", ln.Addr().String(), probe.TLSConfig{})
			target.Timeout = 3 * time.Second
			wantVerdict(t, target, tt.want)
		})
	}
}
