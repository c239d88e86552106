package main

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"

	"tlsprobe/probe/lab"
)

// dropInPeers are the servers that both programs probe: the lab's, and a site of
// Go's own.
type dropInPeers struct {
	dir            string
	lab            *lab.Lab
	instances      map[string]*lab.Instance
	plain, secure  *httptest.Server
	proxy          *httptest.Server
	tcp            tcpPeers
	mutual, closed string // an https server that wants a client certificate; a port that nobody listens on
}

func startDropInPeers(t *testing.T) *dropInPeers {
	t.Helper()
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &dropInPeers{dir: t.TempDir(), lab: l, instances: map[string]*lab.Instance{}}
	for _, s := range lab.Scenarios() {
		i, err := l.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		p.instances[s.Name] = i
	}
	p.plain = httptest.NewServer(site())
	t.Cleanup(p.plain.Close)
	p.secure = startHTTPS(t, l, nil)
	clients := x509.NewCertPool()
	clients.AddCert(l.CA.Cert)
	p.mutual = startHTTPS(t, l, func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, clients
	}).URL
	p.proxy = httptest.NewServer(proxy(p.plain.Listener.Addr().String()))
	t.Cleanup(p.proxy.Close)
	p.tcp, p.closed = startTCPPeers(t, l), closedPort(t)
	return p
}

// startHTTPS serves the site over HTTP/2 and HTTP/1.1, by a certificate of the lab.
func startHTTPS(t *testing.T, l *lab.Lab, edit func(*tls.Config)) *httptest.Server {
	t.Helper()
	cert, err := l.CA.Issue()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(site())
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	if edit != nil {
		edit(server.TLS)
	}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// closedPort is an address that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// isLiteral reports whether an address is reached without a lookup: only the
// lab's own DNS server knows its names.
func isLiteral(address string) bool {
	_, err := netip.ParseAddrPort(address)
	return err == nil
}

// site answers in every way that the http prober tells apart.
func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello, world\n") })
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.FormValue("code"))
		w.WriteHeader(code)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("url"), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		http.Redirect(w, r, fmt.Sprintf("/endless?n=%d", n+1), http.StatusFound)
	})
	mux.HandleFunc("/down", func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(r.FormValue("n")); n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/down?n=%d", n-1), http.StatusSeeOther)
		}
	})
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/cookie", http.StatusFound)
		}
	})
	mux.HandleFunc("/modified", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
	})
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "in two ")
		w.(http.Flusher).Flush()
		io.WriteString(w, "parts\n")
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "pressed together\n")
		z.Close()
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"state": "green", "nodes": 3}`) })
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 5000)) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/need", need)
	mux.HandleFunc("/cut", cutShort)
	return mux
}

// need answers 200 to a request that has what its query names, else 400.
func need(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	body, _ := io.ReadAll(r.Body)
	has := map[string]string{
		"host": r.Host, "method": r.Method, "body": string(body), "basic": user + ":" + password,
		"authorization": r.Header.Get("Authorization"), "x-probe": r.Header.Get("X-Probe"), "accept-encoding": r.Header.Get("Accept-Encoding"),
	}
	for name, want := range r.URL.Query() {
		if has[name] != want[0] {
			http.Error(w, name+" is "+has[name], http.StatusBadRequest)
		}
	}
}

// cutShort ends the connection in the middle of the answer that the query names.
func cutShort(w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: a reset stream
	}
	defer conn.Close()
	io.WriteString(conn, r.FormValue("after"))
}

// proxy forwards what it is asked for. It knows one name, site.test, as an
// address of its own.
func proxy(site string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			tunnel(w, r)
			return
		}
		out := r.Clone(r.Context())
		out.RequestURI = ""
		if out.URL.Host == "site.test" {
			out.URL.Host = site
		}
		answer, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		io.Copy(w, answer.Body)
	})
}

// tunnel joins the client to the server that its CONNECT names.
func tunnel(w http.ResponseWriter, r *http.Request) {
	server, err := net.Dial("tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(client, server)
}
