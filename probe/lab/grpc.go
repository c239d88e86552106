package lab

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"tlsprobe/probe"
)

// The servers here are net/http's, which speaks all of HTTP/2 that gRPC is made
// of; grpc-go's own server is met in the tests of package probe.

const healthCheck = "/grpc.health.v1.Health/Check"

// Status codes of gRPC, and the health that a HealthCheckResponse holds.
const (
	grpcOK            = 0
	grpcUnimplemented = 12

	serving    = 1
	notServing = 2
)

// grpcScenarios are gRPC servers, and servers that a gRPC client must not take
// for one.
func grpcScenarios() []Scenario {
	return []Scenario{
		{Name: "good-grpc", Summary: "a gRPC server over TLS that is SERVING",
			start: func(i *Instance) error { return i.healthAt(answerHealth(serving)) }},
		{Name: "good-grpc-plain", Summary: "a gRPC server without TLS that is SERVING",
			start: func(i *Instance) error {
				i.Target.Module = grpcModule(func(p *probe.GRPCProber) { p.TLS = false })
				return i.plainAt(h2c(), answerHealth(serving))
			}},
		{Name: "grpc-not-serving", Summary: "a gRPC server that is NOT_SERVING", Reasons: []string{"grpc_not_serving"},
			start: func(i *Instance) error { return i.healthAt(answerHealth(notServing)) }},
		{Name: "grpc-no-health-service", Summary: "a gRPC server without the health service", Reasons: []string{"grpc_status"},
			start: func(i *Instance) error { return i.healthAt(answerGRPC("/other.Service/Method", nil)) }},
		{Name: "grpc-proxy-page", Summary: "a web server that has HTTP/2 and no gRPC", Reasons: []string{"grpc_status"},
			start: func(i *Instance) error { return i.healthAt(answerStatus(http.StatusNotFound)) }},
		{Name: "grpc-http1", Summary: "a web server that has HTTP/1 only, in plain text", Reasons: []string{"grpc_not_http2"},
			start: func(i *Instance) error {
				i.Target.Module = grpcModule(func(p *probe.GRPCProber) { p.TLS = false })
				return startPlainHTTP(i)
			}},
		{Name: "grpc-http1-tls", Summary: "a web server that has HTTP/1 only", Reasons: []string{"no_application_protocol"},
			start: func(i *Instance) error {
				return i.healthWith(func(cfg *tls.Config) { cfg.NextProtos = []string{"http/1.1"} })
			}},
		{Name: "grpc-no-alpn", Summary: "a proxy that ends TLS without ALPN", Reasons: []string{"alpn_mismatch"},
			start: func(i *Instance) error {
				return i.healthWith(func(cfg *tls.Config) { cfg.NextProtos = nil })
			}},
		{Name: "grpc-plain-to-tls", Summary: "a gRPC server over TLS, called without TLS",
			Reasons: []string{"plaintext_on_tls_port"},
			start: func(i *Instance) error {
				err := i.healthAt(answerHealth(serving))
				i.Target.Module = grpcModule(func(p *probe.GRPCProber) { p.TLS = false })
				return err
			}},
		{Name: "grpc-client-cert", Summary: "a gRPC server that requires a client certificate over TLS 1.3",
			Reasons: []string{"client_cert_required"},
			start: func(i *Instance) error {
				return i.healthWith(func(cfg *tls.Config) { cfg.ClientAuth = tls.RequireAnyClientCert })
			}},
		{Name: "grpc-untrusted", Summary: "a gRPC server with a certificate of a CA that is not trusted, and logs every call",
			Reasons: []string{"unknown_authority"},
			start: func(i *Instance) error {
				err := startUntrusted(i)
				return i.asGRPC(err)
			}},
		{Name: "grpc-hangs", Summary: "a gRPC server that never answers", Reasons: []string{"http_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.healthAt(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			}},
		{Name: "hostile-grpc-pings", Summary: "sends HTTP/2 PING frames for ever", Reasons: []string{"http_malformed"},
			start: func(i *Instance) error {
				i.Target.Module = grpcModule(func(p *probe.GRPCProber) { p.TLS = false })
				return i.serveAt(pingForEver)
			}},
		{Name: "hostile-grpc-message", Summary: "announces an answer of 1 GiB", Reasons: []string{"grpc_status"},
			start: func(i *Instance) error { return i.healthAt(http.HandlerFunc(announceGigabyte)) }},
	}
}

// grpcModule returns a module of the grpc prober over TLS, edited.
func grpcModule(edits ...func(*probe.GRPCProber)) *probe.Module {
	p := probe.NewProber("grpc").(*probe.GRPCProber)
	p.TLS = true
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "grpc", Kind: "grpc", Prober: p}
}

// asGRPC makes the target, which is one of the http prober, one of grpc.
func (i *Instance) asGRPC(err error) error {
	i.Target.Address = hostPort(i.Target.Address)
	i.Target.Module = grpcModule()
	return err
}

// hostPort is what an https URL without a path leads to.
func hostPort(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/")
}

// healthAt serves handler over good TLS to a grpc module.
func (i *Instance) healthAt(handler http.Handler) error {
	return i.asGRPC(i.requestAt(handler))
}

// healthWith is healthAt for a good server but for edit.
func (i *Instance) healthWith(edit func(*tls.Config)) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	edit(cfg)
	return i.asGRPC(i.requestWith(cfg, answerHealth(serving)))
}

// plainAt serves handler without TLS, by these protocols, to the target.
func (i *Instance) plainAt(protocols *http.Protocols, handler http.Handler) error {
	ln, err := i.listen()
	if err != nil {
		return err
	}
	i.Target.Address = ln.Addr().String()
	i.serveWith(&http.Server{Handler: handler, Protocols: protocols}, ln)
	return nil
}

// h2c is HTTP/2 without TLS, by clients that know of it (RFC 9113, Section 3.3).
func h2c() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// answerHealth is the health service, with one health for all.
func answerHealth(health byte) http.Handler {
	const fieldStatus = 1 << 3 // of HealthCheckResponse, a varint
	return answerGRPC(healthCheck, []byte{fieldStatus, health})
}

// answerGRPC answers one method with a message, and others as servers do that do
// not have them (gRPC over HTTP2, Responses).
func answerGRPC(method string, message []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc")
		if r.URL.Path != method {
			w.Header().Set("Grpc-Status", strconv.Itoa(grpcUnimplemented))
			w.Header().Set("Grpc-Message", fmt.Sprintf("unknown method %s", r.URL.Path))
			return
		}
		w.Header().Set("Trailer", "Grpc-Status")
		w.Write(grpcFrame(len(message)))
		w.Write(message)
		w.Header().Set("Grpc-Status", strconv.Itoa(grpcOK))
	})
}

// grpcFrame is what stands before a message of this length.
func grpcFrame(length int) []byte {
	return binary.BigEndian.AppendUint32([]byte{0}, uint32(length))
}

func announceGigabyte(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Write(grpcFrame(1 << 30))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// pingForEver sends SETTINGS and then PING frames (RFC 9113, Section 6.7), which
// are to be answered, until the peer has had enough.
func pingForEver(c *peerConn) {
	go io.Copy(io.Discard, c) // ends with the connection
	if _, err := io.WriteString(c, http2Settings); err != nil {
		return
	}
	ping := []byte("\x00\x00\x08\x06\x00\x00\x00\x00\x00tlsprobe")
	for {
		if _, err := c.Write(ping); err != nil {
			return
		}
	}
}
