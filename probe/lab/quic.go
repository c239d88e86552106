package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"tlsprobe/probe"
)

// quicScenarios are servers of QUIC and HTTP/3, and what takes their place.
func quicScenarios() []Scenario {
	return []Scenario{
		{Name: "quic-good", Summary: "a QUIC server with nothing wrong", start: quicServer(nil, nil)},
		{Name: "quic-good-request", Summary: "an HTTP/3 server that answers 200",
			start: func(i *Instance) error {
				i.Target.Module = quicModule(func(p *probe.QUICProber) { p.Path = "/" })
				return i.serveQUICTarget(nil, nil)
			}},
		{Name: "quic-good-http3", Summary: "an https URL asked over HTTP/3", start: startHTTP3},
		{Name: "quic-expired", Summary: "its certificate expired yesterday", Reasons: []string{"cert_expired"},
			start: func(i *Instance) error {
				cert, err := i.lab.CA.Issue(expired)
				if err != nil {
					return err
				}
				return i.serveQUICTarget(func(c *tls.Config) { c.Certificates = []tls.Certificate{cert} }, nil)
			}},
		{Name: "quic-client-cert", Summary: "requires a client certificate", Reasons: []string{"client_cert_required"},
			start: quicServer(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }, nil)},
		{Name: "quic-alpn", Summary: "speaks another protocol over QUIC", Reasons: []string{"no_application_protocol"},
			start: quicServer(func(c *tls.Config) { c.NextProtos = []string{"hq-interop"} }, nil)},
		{Name: "quic-connection-refused", Summary: "refuses QUIC connections", Reasons: []string{"quic_transport_error"},
			start: quicServer(nil, func(c *quic.Config) {
				c.GetConfigForClient = func(*quic.ClientInfo) (*quic.Config, error) { return nil, errors.New("overloaded") }
			})},
		{Name: "quic-silent", Summary: "takes UDP packets and never answers", Reasons: []string{"quic_timeout"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveUDP(func([]byte) []byte { return nil })
			}},
		{Name: "quic-refused", Summary: "nothing listens on the UDP port", Reasons: []string{"quic_refused"},
			start: func(i *Instance) error {
				i.Target.Module = quicModule()
				free, err := net.ListenPacket("udp4", "127.0.0.1:0")
				if err != nil {
					return err
				}
				i.Target.Address = free.LocalAddr().String()
				return free.Close()
			}},
		{Name: "quic-versions", Summary: "speaks versions of QUIC that nobody knows", Reasons: []string{"quic_version_negotiation"},
			start: func(i *Instance) error { return i.serveUDP(otherVersions) }},
		{Name: "quic-retry", Summary: "wants its Retry token and never takes it", Reasons: []string{"quic_retry"},
			start: func(i *Instance) error {
				i.Target.Timeout = shortTimeout
				return i.serveUDP(retry)
			}},
		{Name: "http3-advertised", Summary: "advertises HTTP/3 and answers there",
			start: func(i *Instance) error {
				addr, err := i.serveQUIC(nil, nil)
				if err != nil {
					return err
				}
				return i.advertise(addr)
			}},
		{Name: "http3-unreachable", Summary: "advertises HTTP/3 at a closed UDP port", Reasons: []string{"http3_unreachable"},
			start: func(i *Instance) error { return i.advertise("127.0.0.1:9") }},
		{Name: "http3-unreachable-record", Summary: "has an HTTPS record for HTTP/3 at a closed UDP port",
			Reasons: []string{"http3_unreachable"}, start: startHTTP3Record},
	}
}

func startHTTP3Record(i *Instance) error {
	const name = "http3-record.lab.test"
	err := i.requestAt(http.HandlerFunc(answerOK), func(p *probe.HTTPProber) { p.CheckHTTP3 = true })
	if err != nil {
		return err
	}
	i.named(name)
	u, err := url.Parse(i.Target.Address)
	if err != nil {
		return err
	}
	i.Target.ServerName = Host
	return i.lab.dns.load(fmt.Sprintf("_%s._https.%s. 5 HTTPS 1 %s. alpn=h3 port=9", u.Port(), name, name))
}

// quicModule returns a module of the quic prober with its default settings,
// edited.
func quicModule(edits ...func(*probe.QUICProber)) *probe.Module {
	p := probe.NewProber("quic").(*probe.QUICProber)
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "quic", Kind: "quic", Prober: p}
}

// quicServer returns what starts a QUIC server with edited configurations.
func quicServer(editTLS func(*tls.Config), edit func(*quic.Config)) func(*Instance) error {
	return func(i *Instance) error {
		i.Target.Module = quicModule()
		return i.serveQUICTarget(editTLS, edit)
	}
}

func (i *Instance) serveQUICTarget(editTLS func(*tls.Config), edit func(*quic.Config)) (err error) {
	if i.Target.Module.Kind != "quic" {
		i.Target.Module = quicModule()
	}
	i.Target.Address, err = i.serveQUIC(editTLS, edit)
	return err
}

func startHTTP3(i *Instance) error {
	addr, err := i.serveQUIC(nil, nil)
	i.Target.Address = "https://" + addr + "/"
	i.Target.Module = httpModule(func(p *probe.HTTPProber) { p.EnableHTTP3 = true })
	return err
}

// advertise runs an HTTPS server that says that HTTP/3 is at addr.
func (i *Instance) advertise(addr string) error {
	return i.requestAt(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Alt-Svc", `h3="`+addr+`"; ma=86400`)
		answerOK(w, r)
	}), func(p *probe.HTTPProber) { p.CheckHTTP3 = true })
}

// serveQUIC runs a good HTTP/3 server, edited, and returns its address.
func (i *Instance) serveQUIC(editTLS func(*tls.Config), edit func(*quic.Config)) (string, error) {
	cfg, err := i.goodConfig()
	if err != nil {
		return "", err
	}
	cfg.NextProtos = []string{http3.NextProtoH3}
	if editTLS != nil {
		editTLS(cfg)
	}
	var config quic.Config
	if edit != nil {
		edit(&config)
	}
	udp, err := i.listenUDP()
	if err != nil {
		return "", err
	}
	transport := &quic.Transport{Conn: udp}
	ln, err := transport.Listen(cfg, &config)
	if err != nil {
		udp.Close()
		return "", err
	}
	i.own(transport)
	server := &http3.Server{
		Handler: http.HandlerFunc(answerOK),
		Logger:  slog.New(slog.NewTextHandler(&i.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
	i.running.Go(func() {
		for {
			conn, err := ln.Accept(context.Background())
			if err != nil {
				return
			}
			i.running.Go(func() { server.ServeQUICConn(conn) })
		}
	})
	return udp.LocalAddr().String(), nil
}

// serveUDP answers each datagram to the instance's target by what answer makes of
// it, nil for silence.
func (i *Instance) serveUDP(answer func([]byte) []byte) error {
	i.Target.Module = quicModule()
	udp, err := i.listenUDP()
	if err != nil {
		return err
	}
	i.Target.Address = udp.LocalAddr().String()
	i.running.Go(func() {
		buffer := make([]byte, 2048)
		for {
			n, from, err := udp.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := answer(buffer[:n]); reply != nil {
				udp.WriteTo(reply, from)
			}
		}
	})
	return nil
}

// listenUDP opens a UDP socket, closed with the instance. Each peer counts as a
// connection that was accepted.
func (i *Instance) listenUDP() (net.PacketConn, error) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	i.own(udp)
	return &countingPackets{PacketConn: udp, instance: i, peers: map[string]bool{}}, nil
}

type countingPackets struct {
	net.PacketConn
	instance *Instance

	mu    sync.Mutex
	peers map[string]bool
}

// ReadFrom implements [net.PacketConn].
func (c *countingPackets) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.PacketConn.ReadFrom(b)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.peers[from.String()] {
			c.peers[from.String()] = true
			c.instance.accepted.Add(1)
		}
	}
	return n, from, err
}

// SetReadBuffer leaves the system's size: quic-go asks for one that it may not
// have, and logs that.
func (c *countingPackets) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is as SetReadBuffer.
func (c *countingPackets) SetWriteBuffer(int) error { return nil }
