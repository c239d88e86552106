package probe_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tlsprobe/probe/lab"
)

// Servers that are not Go's: they send other alerts, log other things, and are
// what clusters run. They come from the system's packages; a test that needs one
// fails where it is missing.

// nginx is a running nginx with one server.
type nginx struct {
	addr     string
	errorLog string
}

// startNginx runs nginx with a TLS server of this certificate; directives go into
// its server block. It inherits its listening socket, so it can be connected to
// at once.
func startNginx(t *testing.T, cert tls.Certificate, directives string) nginx {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := writeKeyPair(t, dir, cert)
	socket, addr := listeningSocket(t)
	defer socket.Close()
	n := nginx{addr: addr, errorLog: filepath.Join(dir, "error.log")}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log %[2]s notice;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server {
		listen %[3]s ssl http2;
		ssl_certificate %[4]s; ssl_certificate_key %[5]s;
		location / { return 200 "ok"; }
		%[6]s
	}
}
`, dir, n.errorLog, n.addr, certFile, keyFile, directives)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lookPath(t, "nginx"), "-c", conf, "-e", n.errorLog)
	cmd.ExtraFiles = []*os.File{socket}
	cmd.Env = append(os.Environ(), "NGINX=3;")
	start(t, cmd)
	return n
}

// complaints returns the lines of nginx's error log that are not about its own
// start.
func (n nginx) complaints(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(n.errorLog)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(log)) {
		if !ownStart.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

var ownStart = regexp.MustCompile(`\[notice\] \d+#\d+: (using (the|inherited)|nginx/|built by|OS:|getrlimit|start worker)`)

// startOpenSSL runs openssl s_server with this certificate and returns its
// address.
func startOpenSSL(t *testing.T, cert tls.Certificate, args ...string) string {
	t.Helper()
	certFile, keyFile := writeKeyPair(t, t.TempDir(), cert)
	args = append([]string{"s_server", "-accept", "127.0.0.1:0", "-cert", certFile, "-key", keyFile, "-www"}, args...)
	cmd := exec.Command(lookPath(t, "openssl"), args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "ACCEPT "); ok {
			return addr
		}
	}
	t.Fatalf("openssl s_server %q ended before it listened", args)
	return ""
}

// listeningSocket opens a loopback port for a server to inherit, which can then be
// connected to before the server is up.
func listeningSocket(t *testing.T) (socket *os.File, addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	return socket, l.Addr().String()
}

func lookPath(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v: install Debian's package %q; the test command does", err, program)
	}
	return path
}

// start runs cmd until the test ends.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // nginx takes its workers along
		cmd.Wait()
	})
}

func writeKeyPair(t *testing.T, dir string, cert tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile, err := lab.WriteKeyPair(dir, "server", cert)
	if err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

func writeFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
