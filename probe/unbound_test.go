package probe_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// unbound is a running unbound: a DNS server that resolves, has a zone of its
// own, and speaks TLS.
type unbound struct {
	plain, tls string        // host:port
	stop       func() string // ends it and returns what it complained of
}

// unboundZone is what it answers from its configuration. A "static" zone has what
// is in it and nothing else. For names of the lab it asks the lab's DNS server.
const unboundZone = `
	local-zone: "test." nodefault
	local-zone: "own.test." static
	local-data: "own.test. 5 IN SOA ns.own.test. root.own.test. 7 3600 600 86400 5"
	local-data: "good.own.test. 5 IN A 127.0.0.1"
	local-data: "good.own.test. 5 IN AAAA ::1"
	local-data: 'good.own.test. 5 IN HTTPS 1 . alpn="h2,h3"'
	local-data: 'good.own.test. 5 IN TXT "exists"'
	local-data: 'nodata.own.test. 5 IN TXT "exists"'
	local-zone: "refused.test." refuse
	local-zone: "silent.test." deny
`

// startUnbound runs unbound with this certificate for DNS over TLS.
func startUnbound(t *testing.T, cert tls.Certificate) unbound {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := writeKeyPair(t, dir, cert)
	var many strings.Builder
	for i := range 60 { // more than fit into the 512 bytes of a plain answer
		fmt.Fprintf(&many, "\tlocal-data: \"many.own.test. 5 IN A 10.0.0.%d\"\n", i)
	}
	u := unbound{plain: "127.0.0.2:" + reservePort(t), tls: "127.0.0.2:" + reservePort(t)}
	conf := filepath.Join(dir, "unbound.conf")
	writeFile(t, conf, fmt.Sprintf(`server:
	interface: %s
	interface: %s
	tls-port: %s
	tls-service-pem: %q
	tls-service-key: %q
	access-control: 127.0.0.0/8 allow
	do-not-query-localhost: no
	module-config: "iterator"
	num-threads: 1
	chroot: ""
	directory: %q
	username: ""
	pidfile: ""
	use-syslog: no
	logfile: ""
	verbosity: 3 # less hides the handshakes that a client rejected
%s%sforward-zone:
	name: %q
	forward-addr: %s
remote-control:
	control-enable: no
`, atPort(u.plain), atPort(u.tls), portOf(u.tls), certFile, keyFile, dir, unboundZone, many.String(), lab.DNSZone, atPort(startDNS(t).Addr())))
	cmd := exec.Command("sh", "-c", `exec "$0" -d -c "$1" 2>&1`, lookPath(t, "unbound"), conf)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	lines := bufio.NewScanner(stdout)
	last := ""
	for !strings.Contains(last, "start of service") {
		if !lines.Scan() {
			t.Fatalf("unbound ended before it served; it said last: %s", last)
		}
		last = lines.Text()
	}
	u.stop = func() string {
		cmd.Process.Signal(syscall.SIGTERM)
		var complaints []string
		for lines.Scan() {
			if strings.Contains(lines.Text(), " error: ") || strings.Contains(lines.Text(), " notice: ") {
				complaints = append(complaints, lines.Text())
			}
		}
		return strings.Join(complaints, "\n")
	}
	return u
}

// reservePort returns a port that is kept from others until the test ends: it is
// in use at 127.0.0.1, and free at other addresses.
func reservePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return portOf(l.Addr().String())
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// atPort writes host:port as unbound does.
func atPort(addr string) string { return strings.Replace(addr, ":", "@", 1) }

func TestUnbound(t *testing.T) {
	u := startUnbound(t, issue(t, newCA(t, "unbound")))
	for _, tt := range []struct {
		name, query    string
		edit           func(*probe.DNSProber)
		reason, detail string
		answers        int
	}{
		{"address", "good.own.test", validRcodes(), "", "", 1},
		{"address, over TCP", "good.own.test", overTCP, "", "", 1},
		{"any", "good.own.test", queryType("ANY"), "", "", 0},
		{"HTTPS record", "good.own.test", queryType("HTTPS"), "", "", 1},
		{"serial", "own.test", queryType("SOA"), "", "", 1},
		{"truncated", "many.own.test", validRcodes(), "", "", 60},
		{"no such name", "nothing.own.test", validRcodes(), "dns_nxdomain", "NXDOMAIN: no such name", 0},
		{"no address", "nodata.own.test", validRcodes(), "dns_nodata", "exists, but has no address", 0},
		{"address, of its upstream", "alias.lab.test", validRcodes(), "", "", 3},
		{"its upstream fails", "servfail.lab.test", validRcodes(), "dns_servfail", "SERVFAIL to A servfail.lab.test.", 0},
		{"refused", "a.refused.test", validRcodes(), "dns_refused", "REFUSED to A a.refused.test.", 0},
		{"without recursion", "elsewhere.test", func(p *probe.DNSProber) { p.RecursionDesired = false }, "dns_refused", "", 0},
		{"silent", "a.silent.test", validRcodes(), "dns_timeout", "no answer to A a.silent.test.", 0},
		{"its version is no business of ours", "version.bind", func(p *probe.DNSProber) {
			p.QueryType, p.QueryClass = "TXT", "CH"
			p.ValidateAnswerRRs.FailIfMatches = []probe.Regexp{expression(`\tCH\tTXT\t"unbound`)}
		}, "dns_validation_failed", "matches", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := dnsTarget(u.plain, tt.query, tt.edit)
			if tt.reason == "dns_timeout" {
				target.Timeout = 300 * time.Millisecond
			}
			res := runDNS(t, target)
			checkVerdict(t, res, tt.reason, tt.detail)
			facts := res.Attempts[0].DNS
			if facts.Answers != tt.answers || facts.Retried != (tt.name == "truncated") {
				t.Errorf("facts: %+v, want %d answers", facts, tt.answers)
			}
			if tt.name == "serial" && facts.Serial != 7 {
				t.Errorf("serial %d", facts.Serial)
			}
		})
	}
	if log := u.stop(); log != "" {
		t.Errorf("unbound logged:\n%s", log)
	}
}

// TestUnboundOverTLS probes good and bad certificates; whatever the verdict,
// unbound has nothing to log.
func TestUnboundOverTLS(t *testing.T) {
	ca, other := newCA(t, "unbound"), newCA(t, "another")
	for _, tt := range []struct {
		name   string
		trust  *lab.CA
		edits  []lab.Edit
		edit   func(*probe.DNSProber)
		reason string
	}{
		{"good", ca, nil, validRcodes(), ""},
		{"TLS 1.2", ca, nil, func(p *probe.DNSProber) { p.TLSConfig.MaxVersion = tls.VersionTLS12 }, ""},
		{"no such name", ca, nil, func(p *probe.DNSProber) { p.QueryName = "nothing.own.test" }, "dns_nxdomain"},
		{"unknown authority", other, nil, validRcodes(), "unknown_authority"},
		{"expired, for another name", ca, []lab.Edit{expiredYesterday, named("other.lab.test")}, validRcodes(), "cert_expired hostname_mismatch"},
		{"not to be verified", other, nil, func(p *probe.DNSProber) { p.TLSConfig.InsecureSkipVerify = true }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cert, err := ca.Issue(append([]lab.Edit{named(quietName)}, tt.edits...)...)
			if err != nil {
				t.Fatal(err)
			}
			u := startUnbound(t, cert)
			target := dnsTarget(u.tls, "good.own.test", func(p *probe.DNSProber) { p.DNSOverTLS = true })
			tt.edit(target.Module.Prober.(*probe.DNSProber))
			target.ServerName, target.Trust = quietName, probe.Trust{PEM: tt.trust.PEM()}
			for range 3 {
				checkVerdict(t, runDNS(t, target), tt.reason, "")
			}
			if log := u.stop(); log != "" {
				t.Errorf("unbound logged:\n%s", log)
			}
		})
	}
}

// TestUnboundTellsOfRejection shows that it has something to log of other clients.
func TestUnboundTellsOfRejection(t *testing.T) {
	u := startUnbound(t, issue(t, newCA(t, "unbound")))
	if _, err := tls.Dial("tcp", u.tls, nil); err == nil {
		t.Fatal("a client without our CA is content")
	}
	checkVerdict(t, runDNS(t, dnsTarget(u.plain, "good.own.test", overTCP)), "", "") // so it has seen the alert
	if log := u.stop(); !strings.Contains(log, "ssl handshake failed") {
		t.Errorf("unbound logged %q", log)
	}
}

func expiredYesterday(c *x509.Certificate) {
	c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
}

// TestUnboundAsResolver looks targets of other probers up.
func TestUnboundAsResolver(t *testing.T) {
	u := startUnbound(t, issue(t, newCA(t, "unbound")))
	for name, reason := range map[string]string{
		"nothing.own.test": "dns_nxdomain", "nodata.own.test": "dns_nodata", "servfail.lab.test": "dns_servfail",
		"a.refused.test": "dns_refused", "a.silent.test": "dns_timeout",
	} {
		prober := probe.NewProber("tls").(*probe.TLSProber)
		prober.Resolver = u.plain
		res := probe.NewRunner("test-node").Run(t.Context(), &probe.Target{
			Name: name, Address: name + ":443", Schedule: probe.Schedule{Timeout: time.Second},
			Module: &probe.Module{Name: "tls", Kind: "tls", Prober: prober},
		})
		checkVerdict(t, res, reason, u.plain+": ")
	}
}
