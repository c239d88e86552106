package lab

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
)

// serveTLS runs a real Go http.Server over TLS at the instance's target. It is
// started as is, on a TLS listener, so NextProtos is what cfg says.
func (i *Instance) serveTLS(cfg *tls.Config) error {
	return i.serveTLSBehind(cfg, func(c *peerConn) net.Conn { return c })
}

// serveTLSBehind is serveTLS for a server that sees its connections as wrap
// makes them.
func (i *Instance) serveTLSBehind(cfg *tls.Config, wrap func(*peerConn) net.Conn) error {
	ln, err := i.listen()
	if err != nil {
		return err
	}
	i.Target.Address = ln.Addr().String()
	i.run(tls.NewListener(&wrappingListener{ln, wrap}, cfg), http.HandlerFunc(answerOK))
	return nil
}

// serveGoodBehind is serveTLSBehind for a server with nothing wrong itself.
func (i *Instance) serveGoodBehind(wrap func(*peerConn) net.Conn) error {
	cfg, err := i.goodConfig()
	if err != nil {
		return err
	}
	return i.serveTLSBehind(cfg, wrap)
}

type wrappingListener struct {
	net.Listener
	wrap func(*peerConn) net.Conn
}

func (l *wrappingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wrap(conn.(*peerConn)), nil
}

// serveCertificate is serveTLS with nothing special but the certificate.
func (i *Instance) serveCertificate(cert tls.Certificate) error {
	return i.serveTLS(withCertificate(cert))
}

// withCertificate is the configuration of a common HTTPS server.
func withCertificate(cert tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
}

// goodConfig is the configuration of a server with nothing wrong.
func (i *Instance) goodConfig() (*tls.Config, error) {
	cert, err := i.lab.CA.Issue()
	return withCertificate(cert), err
}

// serveHTTP runs handler over plain http and returns its base URL, without a
// slash at the end.
func (i *Instance) serveHTTP(handler http.Handler) (string, error) {
	ln, err := i.listen()
	if err != nil {
		return "", err
	}
	i.run(ln, handler)
	return "http://" + ln.Addr().String(), nil
}

// serveHTTPS runs handler over good TLS and returns its base URL.
func (i *Instance) serveHTTPS(handler http.Handler) (string, error) {
	cfg, err := i.goodConfig()
	if err != nil {
		return "", err
	}
	return i.serveHTTPSWith(cfg, handler)
}

func (i *Instance) serveHTTPSWith(cfg *tls.Config, handler http.Handler) (string, error) {
	ln, err := i.listen()
	if err != nil {
		return "", err
	}
	i.run(tls.NewListener(ln, cfg), handler)
	return "https://" + ln.Addr().String(), nil
}

// run serves ln until the instance is closed, which closes ln and its
// connections and waits for their goroutines.
func (i *Instance) run(ln net.Listener, handler http.Handler) {
	i.serveWith(&http.Server{Handler: handler}, ln)
}

func (i *Instance) serveWith(server *http.Server, ln net.Listener) {
	server.ErrorLog = log.New(&i.log, "", log.LstdFlags)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			i.running.Add(1)
		case http.StateClosed, http.StateHijacked:
			i.running.Done()
		}
	}
	i.running.Go(func() { server.Serve(ln) })
}

func answerOK(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }
