//go:build linux

package probe_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// Servers of the protocols that begin in plain text, from Debian's packages. Each
// is run by an unprivileged user on a free port, in a directory of its own.

// startTLSServer is a server of one protocol.
type startTLSServer struct {
	protocol string
	// start runs it by dir's server.crt and server.key, and by the clients' CA of
	// ca.crt, and returns its address and its log.
	start func(t *testing.T, dir string, mode tlsMode) (addr string, log logged)
	// ordinary matches the lines that it logs of any connection.
	ordinary string
	// demands says that it can want a client certificate of the handshake itself.
	demands bool
}

// tlsMode is how a server takes TLS.
type tlsMode int

const (
	withoutTLS tlsMode = iota
	withTLS
	withClientCerts // demands a client certificate
)

func TestStartTLSServers(t *testing.T) {
	ca, other := newCA(t, "starttls"), newCA(t, "another")
	for _, server := range []startTLSServer{
		{protocol: "smtp", start: startExim, ordinary: `no MAIL in SMTP connection`, demands: true},
		{protocol: "ftp", start: startVsftpd, ordinary: `CONNECT: Client`, demands: true},
		{protocol: "imap", start: startDovecot, ordinary: `imap-login: Info: `},
		{protocol: "pop3", start: startDovecot, ordinary: `pop3-login: Info: `},
		{protocol: "ldap", start: startSlapd, ordinary: `conn=\d+ .*(ACCEPT|EXT oid|STARTTLS|RESULT|TLS established|UNBIND|closed$|unsupported operation)`, demands: true},
		{protocol: "postgres", start: startPostgres},
		{protocol: "mysql", start: startMariaDB},
		{protocol: "xmpp", start: startProsody, ordinary: `c2s\w+ +info\s+Client (dis)?connected|Certificates loaded`},
	} {
		t.Run(server.protocol, func(t *testing.T) {
			t.Parallel()
			expiredCert, err := ca.Issue(named(quietName), expired)
			if err != nil {
				t.Fatal(err)
			}
			good := server.run(t, ca, issue(t, ca), withTLS)
			good.mustGive(t, ca.PEM(), "")
			good.mustGive(t, other.PEM(), "unknown_authority")
			server.run(t, ca, expiredCert, withTLS).mustGive(t, ca.PEM(), "cert_expired")
			server.run(t, ca, issue(t, ca), withoutTLS).mustGive(t, ca.PEM(), "starttls_not_offered")
			if server.demands {
				// It is the server that rejects, and says so in its log.
				server.ordinary = "."
				server.run(t, ca, issue(t, ca), withClientCerts).mustGive(t, ca.PEM(), "client_cert_required")
			}
		})
	}
}

// The modules that blackbox_exporter documents for PostgreSQL and IMAP work, and
// are quiet here.
func TestBlackboxStartTLSModules(t *testing.T) {
	ca := newCA(t, "blackbox")
	for _, tt := range []struct {
		server startTLSServer
		steps  []probe.QueryResponse
	}{
		{startTLSServer{protocol: "postgres", start: startPostgres}, []probe.QueryResponse{
			{Send: "\x00\x00\x00\x08\x04\xd2\x16\x2f"}, {ExpectBytes: "S"}, {StartTLS: true},
		}},
		{startTLSServer{protocol: "imap", start: startDovecot, ordinary: `imap-login: Info: `}, []probe.QueryResponse{
			{Expect: expression("OK.*STARTTLS")}, {Send: ". STARTTLS"}, {Expect: expression("OK")}, {StartTLS: true},
			{Send: ". capability"}, {Expect: expression("CAPABILITY IMAP4rev1")},
		}},
	} {
		t.Run(tt.server.protocol, func(t *testing.T) {
			t.Parallel()
			p := probe.NewProber("tcp").(*probe.TCPProber)
			p.QueryResponse = tt.steps
			tt.server.run(t, ca, issue(t, ca), withTLS).mustGiveTo(t, p, ca.PEM(), "")
		})
	}
}

// runningServer is a server that has started.
type runningServer struct {
	startTLSServer
	addr string
	log  logged
}

// logged returns what a server has logged so far.
type logged func() string

func (s startTLSServer) run(t *testing.T, ca *lab.CA, cert tls.Certificate, mode tlsMode) runningServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "tlsprobe-"+s.protocol+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	writeKeyPair(t, dir, cert)
	writeFile(t, filepath.Join(dir, "ca.crt"), ca.PEM())
	addr, log := s.start(t, dir, mode)
	return runningServer{s, addr, log}
}

// mustGive probes the server, and wants a verdict and no complaint in its log.
func (s runningServer) mustGive(t *testing.T, trusted, reason string) {
	t.Helper()
	p := probe.NewProber("tcp").(*probe.TCPProber)
	p.StartTLS = s.protocol
	s.mustGiveTo(t, p, trusted, reason)
}

func (s runningServer) mustGiveTo(t *testing.T, p *probe.TCPProber, trusted, reason string) {
	t.Helper()
	before := len(s.log())
	wantVerdict(t, &probe.Target{
		Name: s.protocol, Address: s.addr, ServerName: quietName, Trust: probe.Trust{PEM: trusted},
		Module: &probe.Module{Name: "tcp", Kind: "tcp", Prober: p},
	}, reason)
	for line := range strings.SplitSeq(strings.TrimSpace(s.log()[before:]), "\n") {
		if line != "" && (s.ordinary == "" || !regexp.MustCompile(s.ordinary).MatchString(line)) {
			t.Errorf("verdict %q left in the server's log: %s", reason, line)
		}
	}
}

const nobody = 65534

// unprivileged makes cmd run as nobody, with all of dir as its own. Without the
// rights to do so it runs as we do.
func unprivileged(t *testing.T, dir string, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return cmd
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// startUntil runs cmd until the test ends, and returns once it has written a line
// that matches ready. Its output is its log.
func startUntil(t *testing.T, cmd *exec.Cmd, ready string) logged {
	t.Helper()
	output, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	log, isReady, ended := &lineLog{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pattern := regexp.MustCompile(ready)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			io.WriteString(log, lines.Text()+"\n")
			if pattern != nil && pattern.MatchString(lines.Text()) {
				pattern = nil
				close(isReady)
			}
		}
	}()
	t.Cleanup(func() {
		endGroup(cmd)
		<-ended
		output.Close()
	})
	select {
	case <-isReady:
	case <-ended:
		t.Fatalf("%s ended before it was ready:\n%s", cmd, log)
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is not ready after 30 s:\n%s", cmd, log)
	}
	return log.String
}

// endGroup asks a server and its children to end, and makes them where they do
// not.
func endGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	cmd.Wait()
	kill.Stop()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// serveByProcess runs a process for each connection, one after the other, which
// speaks on its standard input and output, as inetd does. socket makes them of the
// connection.
func serveByProcess(t *testing.T, socket func(*net.TCPConn) (*os.File, error), command func(context.Context) *exec.Cmd) (addr string) {
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
			end, err := socket(conn.(*net.TCPConn))
			if err != nil {
				t.Error(err)
				return
			}
			cmd := command(t.Context())
			cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, os.Stderr
			cmd.Run() // how it ended is in its log
			end.Close()
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return l.Addr().String()
}

// inFile returns what is in a log file, which may not be there yet.
func inFile(file string) logged {
	return func() string {
		text, _ := os.ReadFile(file)
		return string(text)
	}
}

// throughUnixSocket returns the end of a Unix socket that is joined to conn.
func throughUnixSocket(conn *net.TCPConn) (*os.File, error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(ends[0]), "ours")
	defer ours.Close()
	joined, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	go func() {
		io.Copy(joined, conn)
		joined.(*net.UnixConn).CloseWrite()
	}()
	go func() {
		io.Copy(conn, joined)
		conn.CloseWrite()
		joined.Close()
	}()
	return os.NewFile(uintptr(ends[1]), "server's"), nil
}

// waitForListener returns once addr is listened on. Asking that leaves nothing in
// a log.
func waitForListener(t *testing.T, addr string) {
	t.Helper()
	target := &probe.Target{Name: addr, Address: addr, Module: probe.BuiltinModules()["tcp_connect"]}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-again.C {
		if verdict(probe.NewRunner("n").Run(t.Context(), target)) == "" {
			return
		}
	}
	t.Fatalf("nobody listens on %s after 30 s", addr)
}

// lastPort counts the ports given out. They are below those that the kernel gives
// to clients (ip_local_port_range): between our closing one of those and the
// server's binding it, a probe of another test might have it.
var lastPort atomic.Int32

// freePort returns a port that nobody listens on, a new one each time.
func freePort(t *testing.T) int {
	t.Helper()
	const first, last = 20000, 30000
	for {
		port := first + int(lastPort.Add(1))
		if port > last {
			t.Fatalf("no port from %d to %d is free", first, last)
		}
		if l, err := net.Listen("tcp4", loopback(port)); err == nil {
			l.Close()
			return port
		}
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
