package probe_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// serveTalk runs talk on each connection until the test ends, and returns the
// address.
func serveTalk(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			talk(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return l.Addr().String()
}

// tcpTarget is a target of the tcp prober with these steps.
func tcpTarget(addr string, edit func(*probe.TCPProber)) *probe.Target {
	p := probe.NewProber("tcp").(*probe.TCPProber)
	edit(p)
	return &probe.Target{
		Name: addr, Address: addr, ServerName: quietName, Schedule: probe.Schedule{Timeout: time.Second},
		Module: &probe.Module{Name: "tcp", Kind: "tcp", Prober: p},
	}
}

func steps(all ...probe.QueryResponse) func(*probe.TCPProber) {
	return func(p *probe.TCPProber) { p.QueryResponse = all }
}

func expression(expr string) probe.Regexp { return probe.Regexp{Regexp: regexp.MustCompile(expr)} }

// An IRC server's PING is answered with its own token, and the facts say what the
// steps found.
func TestTCPConverses(t *testing.T) {
	heard := make(chan string, 1)
	addr := serveTalk(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		nick, _ := in.ReadString('\n')
		io.WriteString(conn, ":irc.example NOTICE * :looking up\r\nPING :token-7\r\n")
		pong, _ := in.ReadString('\n')
		io.WriteString(conn, "raw\x00:irc.example 001 prober :welcome") // without an end of line
		heard <- nick + pong
	})
	res := probe.NewRunner("n").Run(t.Context(), tcpTarget(addr, steps(
		probe.QueryResponse{Send: "NICK prober"},
		probe.QueryResponse{Expect: expression("^PING :(([a-z]+)-.*)$"), Send: "PONG ${1}",
			Labels: []probe.ExpectLabel{{Name: "kind", Value: "a ${2}"}, {Name: "whole", Value: "$0"}}},
		probe.QueryResponse{ExpectBytes: "raw\x00"},
		probe.QueryResponse{Expect: expression("^:[^ ]+ 001")},
	)))
	if diff := cmp.Diff("", verdict(res)); diff != "" {
		t.Fatalf("%+v", res.Worst())
	}
	if diff := cmp.Diff("NICK prober\nPONG token-7\n", <-heard); diff != "" {
		t.Errorf("the server heard (-want +got):\n%s", diff)
	}
	want := &probe.TCP{Steps: 4, Labels: []probe.ExpectLabel{{Name: "kind", Value: "a token"}, {Name: "whole", Value: "PING :token-7"}}}
	if diff := cmp.Diff(want, res.Attempts[0].TCP); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestTCPFailures(t *testing.T) {
	greet := func(text string) func(net.Conn) {
		return func(conn net.Conn) { io.WriteString(conn, text) }
	}
	greetAndWait := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			io.WriteString(conn, text)
			io.Copy(io.Discard, conn)
		}
	}
	ssh := steps(probe.QueryResponse{Expect: expression("^SSH-2.0-")})
	raw := steps(probe.QueryResponse{ExpectBytes: "ABCD"})
	for _, tt := range []struct {
		name, reason, received string
		talk                   func(net.Conn)
		edit                   func(*probe.TCPProber)
		facts                  probe.TCP
	}{
		{"another banner, then FIN", "tcp_expect_mismatch", `"220 mail"`, greet("220 mail\r\n"), ssh, probe.TCP{MismatchedLine: true}},
		{"another banner, then silence", "tcp_expect_mismatch", `"220 mail"`, greetAndWait("220 mail\r\n"), ssh, probe.TCP{}},
		{"half a line, then silence", "tcp_expect_mismatch", `"SSH-2"`, greetAndWait("SSH-2"), ssh, probe.TCP{}},
		{"FIN", "tcp_expect_closed", "nothing", greet(""), ssh, probe.TCP{MismatchedLine: true}},
		{"silence", "tcp_expect_timeout", "nothing", greetAndWait(""), ssh, probe.TCP{}},
		{"a line of 70 KB", "tcp_expect_mismatch", `"` + strings.Repeat("x", 120) + `"...`,
			greet(strings.Repeat("x", 70<<10) + "\n"), ssh, probe.TCP{}},
		{"other bytes", "tcp_expect_mismatch", `"ABXDE"`, greetAndWait("ABXDE"), raw, probe.TCP{MismatchedBytes: true}},
		{"too few bytes", "tcp_expect_mismatch", `"AB"`, greet("AB"), raw, probe.TCP{}},
		{"a TLS alert", "plaintext_on_tls_port", `"\x15\x03\x03\x00\x02\x02F"`, greet("\x15\x03\x03\x00\x02\x02\x46"), raw, probe.TCP{MismatchedBytes: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := probe.NewRunner("n").Run(t.Context(), tcpTarget(serveTalk(t, tt.talk), tt.edit))
			p := res.Worst()
			if p == nil || p.Reason.ID != tt.reason || p.Received != tt.received {
				t.Errorf("found %+v, want %s and %q", p, tt.reason, tt.received)
			}
			if diff := cmp.Diff(&tt.facts, res.Attempts[0].TCP); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

// Where nothing is to be said, the server's program never hears of the probe.
func TestTCPKnocksUnseen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can ask without connecting")
	}
	l := newLab(t)
	i := startScenario(t, l, "good-tcp")
	for range 100 {
		res := probe.NewRunner("n").Run(t.Context(), i.Target)
		if verdict(res) != "" || !res.Attempts[0].TCP.Knocked {
			t.Fatalf("found %+v, knocked %+v", res.Worst(), res.Attempts[0].TCP)
		}
	}
	if n := i.Accepted(); n != 0 {
		t.Errorf("the server accepted %d of 100 connections", n)
	}
	i.Close()
	if log := i.Log(); log != "" {
		t.Errorf("left in the server's log: %s", log)
	}
	if got := verdict(probe.NewRunner("n").Run(t.Context(), i.Target)); got != "tcp_refused" {
		t.Errorf("verdict %q with nobody listening", got)
	}
}

// Nothing is said to a peer that is not trusted, whichever way TLS begins.
func TestTCPSaysNothingToStrangers(t *testing.T) {
	ca, other := newCA(t, "tcp"), newCA(t, "another")
	cert := issue(t, ca)
	for _, tt := range []struct {
		name, begin string
		edit        func(*probe.TCPProber)
	}{
		{"tls", "", func(p *probe.TCPProber) {
			p.TLS = true
			p.QueryResponse = []probe.QueryResponse{{Send: "secret"}}
		}},
		{"a step", "ready\n", steps(probe.QueryResponse{Expect: expression("ready"), StartTLS: true}, probe.QueryResponse{Send: "secret"})},
	} {
		for trust, want := range map[string]string{ca.PEM(): "secret\n", other.PEM(): ""} {
			heard := make(chan string, 1)
			addr := serveTalk(t, func(conn net.Conn) {
				io.WriteString(conn, tt.begin)
				said, _ := io.ReadAll(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}}))
				heard <- string(said)
			})
			target := tcpTarget(addr, tt.edit)
			target.Trust = probe.Trust{PEM: trust}
			res := probe.NewRunner("n").Run(t.Context(), target)
			if diff := cmp.Diff(want, <-heard); diff != "" {
				t.Errorf("%s: with verdict %q the server heard (-want +got):\n%s", tt.name, verdict(res), diff)
			}
			if tls := res.Attempts[0].TLS; tls == nil || len(tls.Chain) == 0 {
				t.Errorf("%s: no facts of the certificate", tt.name)
			}
		}
	}
}

// A TLS 1.3 server refuses a missing client certificate after the handshake: also
// behind STARTTLS that is no success.
func TestTCPLateVerdict(t *testing.T) {
	ca := newCA(t, "tcp")
	cfg := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}, ClientAuth: tls.RequireAnyClientCert}
	for _, edit := range []func(*probe.TCPProber){
		steps(probe.QueryResponse{StartTLS: true}),
		steps(probe.QueryResponse{StartTLS: true}, probe.QueryResponse{Expect: expression("hello")}),
		func(p *probe.TCPProber) { p.TLS = true },
	} {
		addr := serveTalk(t, func(conn net.Conn) { tls.Server(conn, cfg).Handshake() })
		target := tcpTarget(addr, edit)
		target.Trust = probe.Trust{PEM: ca.PEM()}
		wantVerdict(t, target, "client_cert_required")
	}
}

func TestBuiltinBanners(t *testing.T) {
	ca := newCA(t, "banners")
	cfg := &tls.Config{Certificates: []tls.Certificate{issue(t, ca)}}
	overTLS := func(greeting string) func(net.Conn) {
		return func(conn net.Conn) {
			secure := tls.Server(conn, cfg)
			io.WriteString(secure, greeting)
			secure.Close()
		}
	}
	for _, tt := range []struct {
		module, reason string
		talk           func(net.Conn)
	}{
		{"tls_connect", "", overTLS("")},
		{"pop3s_banner", "", overTLS("+OK Dovecot ready.\r\n")},
		{"pop3s_banner", "tcp_expect_mismatch", overTLS("-ERR busy\r\n")},
		{"ssh_banner", "", func(conn net.Conn) { io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n") }},
		{"irc_banner", "", func(conn net.Conn) {
			io.WriteString(conn, "NOTICE * :hello\r\nPING :42\r\n")
			in := bufio.NewScanner(conn)
			for in.Scan() && in.Text() != "PONG 42" {
			}
			io.WriteString(conn, ":irc.example 001 prober :welcome\r\n")
		}},
	} {
		wantVerdict(t, &probe.Target{
			Name: tt.module, Address: serveTalk(t, tt.talk), ServerName: quietName, Trust: probe.Trust{PEM: ca.PEM()},
			Module: probe.BuiltinModules()[tt.module],
		}, tt.reason)
	}
}

func TestTCPSourceAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8 on loopback")
	}
	from := make(chan string, 1)
	addr := serveTalk(t, func(conn net.Conn) { from <- conn.RemoteAddr().(*net.TCPAddr).IP.String() })
	target := tcpTarget(addr, func(p *probe.TCPProber) {
		p.SourceIPAddress = "127.0.0.9"
		p.QueryResponse = []probe.QueryResponse{{Send: "hello"}}
	})
	wantVerdict(t, target, "")
	if got := <-from; got != "127.0.0.9" {
		t.Errorf("connected from %s", got)
	}
}

func TestTCPValidate(t *testing.T) {
	for _, tt := range []struct {
		key  string
		edit func(*probe.TCPProber)
	}{
		{"starttls", func(p *probe.TCPProber) { p.StartTLS = "SMTP" }},
		{"starttls", func(p *probe.TCPProber) { p.StartTLS, p.TLS = "smtp", true }},
		{"source_ip_address", func(p *probe.TCPProber) { p.SourceIPAddress = "eth0" }},
		{"query_response[0].expect_bytes", steps(probe.QueryResponse{Expect: expression("a"), ExpectBytes: "a"})},
		{"query_response[1].starttls", steps(probe.QueryResponse{StartTLS: true}, probe.QueryResponse{StartTLS: true})},
		{"query_response[0].labels", steps(probe.QueryResponse{Labels: []probe.ExpectLabel{{Name: "a"}}})},
		{"query_response[0].labels[0].name", steps(probe.QueryResponse{Expect: expression("a"), Labels: []probe.ExpectLabel{{Name: "a-b"}}})},
		{"query_response[0].labels[1].name", steps(probe.QueryResponse{Expect: expression("a"), Labels: []probe.ExpectLabel{{Name: "a"}, {Name: "a"}}})},
	} {
		p := probe.NewProber("tcp").(*probe.TCPProber)
		tt.edit(p)
		var setting *probe.SettingError
		if err := p.Validate(); !errors.As(err, &setting) || setting.Key != tt.key {
			t.Errorf("%s: got %v", tt.key, err)
		}
	}
}

func TestBuiltinModulesAreValid(t *testing.T) {
	modules := probe.BuiltinModules()
	for _, name := range []string{"tcp_connect", "tls_connect", "pop3s_banner", "ssh_banner", "irc_banner"} {
		if modules[name] == nil {
			t.Errorf("no module %q", name)
		}
	}
	for name, m := range modules {
		if m.Name != name || m.Kind == "" {
			t.Errorf("module %q is %+v", name, m)
		}
		if err := m.Prober.Validate(); err != nil {
			t.Errorf("module %q: %v", name, err)
		}
	}
}
