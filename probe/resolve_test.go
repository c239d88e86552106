package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

func startDNS(t *testing.T) *lab.DNSServer {
	t.Helper()
	server, err := lab.StartDNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// writeResolvConf writes a resolv.conf with these servers, as host:port, and
// further lines.
func writeResolvConf(t *testing.T, servers []string, lines ...string) string {
	t.Helper()
	for _, server := range servers {
		addr := netip.MustParseAddrPort(server)
		lines = append(lines, fmt.Sprintf("nameserver [%s]:%d", addr.Addr(), addr.Port()))
	}
	file := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// silentServer takes DNS questions and answers none. Each is announced.
func silentServer(t *testing.T) (addr string, asked <-chan struct{}) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	questions := make(chan struct{}, 100)
	go func() {
		defer close(questions)
		for buf := make([]byte, 512); ; questions <- struct{}{} {
			if _, _, err := conn.ReadFrom(buf); err != nil {
				return
			}
		}
	}()
	return conn.LocalAddr().String(), questions
}

// deadServer returns an address where nothing listens.
func deadServer(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().String()
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

var compareAddrs = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestLookup(t *testing.T) {
	server := startDNS(t)
	server.Add("svc.prod.cluster.test", netip.MustParseAddr("127.0.0.3"))
	conf := writeResolvConf(t, []string{server.Addr()}, "search prod.cluster.test cluster.test", "options ndots:2")

	for _, test := range []struct {
		name, host string
		want       []netip.Addr
	}{
		{"both families", "good.lab.test", addrs("127.0.0.1", "::1")},
		{"only IPv4", "ip4only.lab.test", addrs("127.0.0.1")},
		{"only IPv6", "ip6only.lab.test", addrs("::1")},
		{"alias of an alias", "alias.lab.test", addrs("127.0.0.1", "::1")},
		{"capital letters", "GOOD.Lab.Test", addrs("127.0.0.1", "::1")},
		{"truncated over UDP", "truncated.lab.test.", addrs("127.0.0.1", "::1")},
		{"in a search domain", "svc", addrs("127.0.0.3")},
		{"more than are probed", "many.lab.test", addrs("127.0.0.1", "127.0.0.2", "127.0.0.3",
			"127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7", "::1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, by, err := probe.NewResolver(conf).Lookup(t.Context(), test.host, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, compareAddrs); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			if by != server.Addr() {
				t.Errorf("answered by %q, want %q", by, server.Addr())
			}
		})
	}
}

func TestLookupFails(t *testing.T) {
	server := startDNS(t)
	const short = 100 * time.Millisecond
	for _, test := range []struct {
		host    string
		timeout time.Duration // 0: none
		reason  string
		says    string
	}{
		{host: "nothing.lab.test", reason: "dns_nxdomain", says: "NXDOMAIN: no such name"},
		{host: "alias-of-nothing.lab.test", reason: "dns_nxdomain", says: "is an alias of nothing.lab.test., which does not exist"},
		{host: "nodata.lab.test", reason: "dns_nodata", says: "nodata.lab.test. exists, but has no address"},
		{host: "alias-of-nodata.lab.test", reason: "dns_nodata", says: "is an alias of nodata.lab.test., which has no address"},
		{host: "servfail.lab.test", reason: "dns_servfail", says: "SERVFAIL to A servfail.lab.test."},
		{host: "refused.lab.test", reason: "dns_refused", says: "REFUSED to A refused.lab.test."},
		{host: "notimp.lab.test", reason: "dns_error", says: "NOTIMP to A notimp.lab.test."},
		{host: "silent.lab.test", timeout: short, reason: "dns_timeout", says: "no answer to A silent.lab.test. before the probe's time was up"},
		{host: "silent-aaaa.lab.test", timeout: short, reason: "dns_timeout", says: "no answer to AAAA silent-aaaa.lab.test."},
		{host: "garbage.lab.test", reason: "dns_error", says: "not a DNS message"},
		{host: "loop.lab.test", reason: "dns_error", says: "CNAME loop: loop.lab.test. -> loop-back.lab.test. -> loop.lab.test."},
		{host: "servfail-aaaa.lab.test", reason: "dns_servfail", says: "SERVFAIL to AAAA servfail-aaaa.lab.test."},
		{host: "truncated-silent.lab.test", timeout: short, reason: "dns_error", says: "over TCP failed: no answer to A"},
		{host: "lame.lab.test", reason: "dns_error", says: "lame referral"},
		{host: "truncated-closed.lab.test", reason: "dns_error", says: "the answer is truncated, and asking again over TCP failed"},
	} {
		t.Run(test.host, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if test.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.timeout)
				defer cancel()
			}
			got, _, err := probe.NewResolver("").Lookup(ctx, test.host, server.Addr())
			checkLookupError(t, got, err, test.reason, test.says, server.Addr(), fmt.Sprintf("%q", test.host))
		})
	}
}

// checkLookupError checks that err is of this reason and says all of texts.
func checkLookupError(t *testing.T, got []netip.Addr, err error, reason string, texts ...string) {
	t.Helper()
	var lookupErr *probe.LookupError
	if !errors.As(err, &lookupErr) {
		t.Fatalf("got %v, error %v; want a lookup error", got, err)
	}
	if id := probe.ReasonOf(probe.PhaseResolve, err); id != reason {
		t.Errorf("reason %s, want %s", id, reason)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error does not say %q:\n%s", text, err)
		}
	}
}

func TestLookupWithoutTCP(t *testing.T) {
	server := startDNS(t)
	if err := server.StopTCP(); err != nil {
		t.Fatal(err)
	}
	got, _, err := probe.NewResolver("").Lookup(t.Context(), "truncated.lab.test", server.Addr())
	checkLookupError(t, got, err, "dns_error", "truncated", "over TCP failed", "connection refused", server.Addr())
}

func TestLookupOfNoName(t *testing.T) {
	server := startDNS(t)
	for _, host := range []string{"", "a..b", strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 130)} {
		got, _, err := probe.NewResolver("").Lookup(t.Context(), host, server.Addr())
		checkLookupError(t, got, err, "dns_error", "not a DNS name")
	}
	if asked := server.Queries(); len(asked) > 0 {
		t.Errorf("the server was asked %q", asked)
	}
}

func TestLookupLiteral(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.9": "127.0.0.9", "::1": "::1", "fe80::1%lo": "fe80::1%lo", "::ffff:127.0.0.1": "127.0.0.1"} {
		got, by, err := probe.NewResolver("").Lookup(t.Context(), host, "127.0.0.1:1")
		if err != nil || by != "" || !slices.Equal(got, addrs(want)) {
			t.Errorf("%s: %v, answered by %q, error %v", host, got, by, err)
		}
	}
}

// TestSearch checks which names are asked, and whose failure is the verdict.
func TestSearch(t *testing.T) {
	for _, test := range []struct {
		name, options, host string
		reason, says        string
		asked               []string
	}{
		{"few dots: search first", "options ndots:5", "a.b", "dns_nxdomain", "", []string{"a.b.example.test.", "a.b.lab.test.", "a.b."}},
		{"enough dots: as it is first", "options ndots:1", "a.b", "dns_nxdomain", "", []string{"a.b.", "a.b.example.test.", "a.b.lab.test."}},
		{"absolute", "options ndots:5", "a.b.", "dns_nxdomain", "", []string{"a.b."}},
		{"one candidate fails to answer", "", "refused", "dns_refused", "", []string{"refused.example.test.", "refused.lab.test.", "refused."}},
		{"one candidate has no address", "", "nodata", "dns_nodata", "", []string{"nodata.example.test.", "nodata.lab.test.", "nodata."}},
		{"one candidate is an alias", "", "alias-of-nothing", "dns_nxdomain", "an alias of nothing.lab.test.",
			[]string{"alias-of-nothing.example.test.", "alias-of-nothing.lab.test.", "alias-of-nothing."}},
		{"found: no further question", "", "good", "", "", []string{"good.example.test.", "good.lab.test."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := startDNS(t)
			conf := writeResolvConf(t, []string{server.Addr()}, "search example.test lab.test", test.options, "options attempts:1")
			got, _, err := probe.NewResolver(conf).Lookup(t.Context(), test.host, "")
			switch {
			case test.reason == "" && err != nil:
				t.Error(err)
			case test.reason != "":
				tried := ""
				if len(test.asked) > 1 {
					tried = "; tried " + strings.Join(test.asked, ", ")
				}
				checkLookupError(t, got, err, test.reason, test.says, tried, server.Addr())
			}
			if diff := cmp.Diff(test.asked, askedForA(server)); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// askedForA returns the names whose A record was asked for, in order.
func askedForA(server *lab.DNSServer) []string {
	var names []string
	for _, q := range server.Queries() {
		if name, ok := strings.CutPrefix(q, "A "); ok {
			names = append(names, name)
		}
	}
	return names
}

func TestServersInOrder(t *testing.T) {
	t.Parallel()
	good := startDNS(t)
	silent, _ := silentServer(t)
	for _, test := range []struct {
		name    string
		servers []string
	}{
		{"first is not there", []string{deadServer(t), good.Addr()}},
		{"first is silent", []string{silent, good.Addr()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			conf := writeResolvConf(t, test.servers, "options timeout:1")
			_, by, err := probe.NewResolver(conf).Lookup(t.Context(), "good.lab.test.", "")
			if err != nil || by != good.Addr() {
				t.Errorf("answered by %q, error %v; want %q", by, err, good.Addr())
			}
		})
	}
}

// TestServersFail checks that an answer is the verdict over silence, and that
// each server's failure is told.
func TestServersFail(t *testing.T) {
	server, dead := startDNS(t), deadServer(t)
	conf := writeResolvConf(t, []string{dead, server.Addr()})
	got, by, err := probe.NewResolver(conf).Lookup(t.Context(), "refused.lab.test.", "")
	checkLookupError(t, got, err, "dns_refused", server.Addr()+": REFUSED to A", dead+": asking for A refused.lab.test.: connection refused")
	if by != server.Addr() {
		t.Errorf("failed by %q, want %q", by, server.Addr())
	}
}

// TestServerIsSure checks that no second server is asked for what the first is
// sure of.
func TestServerIsSure(t *testing.T) {
	first, second := startDNS(t), startDNS(t)
	second.Add("only.second.test", netip.MustParseAddr("127.0.0.1"))
	conf := writeResolvConf(t, []string{first.Addr(), second.Addr()})
	got, _, err := probe.NewResolver(conf).Lookup(t.Context(), "only.second.test.", "")
	checkLookupError(t, got, err, "dns_nxdomain", first.Addr())
	if asked := second.Queries(); len(asked) > 0 {
		t.Errorf("the second server was asked %q", asked)
	}
}

func TestRotate(t *testing.T) {
	a, b := startDNS(t), startDNS(t)
	r := probe.NewResolver(writeResolvConf(t, []string{a.Addr(), b.Addr()}, "options rotate"))
	for i, want := range []string{a.Addr(), b.Addr(), a.Addr()} {
		if _, by, err := r.Lookup(t.Context(), "good.lab.test.", ""); err != nil || by != want {
			t.Errorf("lookup %d answered by %q, error %v; want %q", i, by, err, want)
		}
	}
}

func TestLookupCancelled(t *testing.T) {
	server, asked := silentServer(t)
	conf := writeResolvConf(t, []string{server}, "search lab.test example.test")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()
	_, _, err := probe.NewResolver(conf).Lookup(ctx, "good", "")
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "tried") {
		t.Errorf("error %v, want one that is %v, after one name", err, context.Canceled)
	}
}

func TestHostsFile(t *testing.T) {
	hosts, err := os.ReadFile("/etc/hosts")
	if err != nil || !strings.Contains(string(hosts), "localhost") {
		t.Skip("no hosts file with localhost here")
	}
	conf := writeResolvConf(t, []string{deadServer(t)})
	got, by, err := probe.NewResolver(conf).Lookup(t.Context(), "localhost", "")
	if err != nil || by != "hosts file" || len(got) == 0 || !got[0].IsLoopback() || got[0].Is4In6() {
		t.Errorf("%v, answered by %q, error %v; want a loopback address from the hosts file", got, by, err)
	}

	server := startDNS(t)
	got, _, err = probe.NewResolver(conf).Lookup(t.Context(), "localhost", server.Addr())
	checkLookupError(t, got, err, "dns_nxdomain", server.Addr()) // who names a resolver means that one
}

func TestResolvConfIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "resolv.conf")
		r := probe.NewResolver(file)
		check := func(when string, want ...string) {
			t.Helper()
			if got := r.Servers(); !slices.Equal(got, want) {
				t.Errorf("%s: servers %q, want %q", when, got, want)
			}
		}
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		check("without a file")
		write("nameserver 127.0.0.1\n")
		check("too early to look")
		time.Sleep(5 * time.Second)
		check("written", "127.0.0.1:53")
		write("nameserver 127.0.0.22\n")
		time.Sleep(5 * time.Second)
		check("changed", "127.0.0.22:53")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		check("removed", "127.0.0.22:53")
	})
}

// TestSystemResolver asks nothing that leaves the machine: localhost, what is no
// name, and a name when the time is already up.
func TestSystemResolver(t *testing.T) {
	r := probe.NewResolver("")
	got, by, err := r.Lookup(t.Context(), "localhost", "")
	if err != nil || by != "system resolver" || len(got) == 0 {
		t.Errorf("%v, answered by %q, error %v; want an address by the system resolver", got, by, err)
	}
	got, _, err = r.Lookup(t.Context(), "a..b", "")
	checkLookupError(t, got, err, "dns_nxdomain", "system resolver", "a..b")

	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	got, _, err = r.Lookup(expired, "good.lab.test", "")
	checkLookupError(t, got, err, "dns_timeout", "system resolver", "good.lab.test")
}
