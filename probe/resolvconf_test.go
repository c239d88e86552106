package probe_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

// pod is what a kubelet writes for a pod of the namespace default.
const pod = `search default.svc.cluster.local svc.cluster.local cluster.local
nameserver 10.96.0.10
options ndots:5
`

func TestParseResolvConf(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // in the words of describe
	}{
		{"pod", pod, "10.96.0.10:53 search default.svc.cluster.local. svc.cluster.local. cluster.local. ndots 5 timeout 5s attempts 2"},
		{"empty: the host's domain is searched", "", "search example.test. ndots 1 timeout 5s attempts 2"},
		{"comments and unknown words", "# nameserver 127.0.0.1\n; nameserver 127.0.0.1\nsortlist 10.0.0.0\nsearch .\n", "ndots 1 timeout 5s attempts 2"},
		{"three servers at most", "nameserver 127.0.0.1\nnameserver ::1\nnameserver fe80::1%eth0\nnameserver 127.0.0.4\nsearch a\n",
			"127.0.0.1:53 [::1]:53 [fe80::1%eth0]:53 search a. ndots 1 timeout 5s attempts 2"},
		{"ports", "nameserver [127.0.0.1]:5353\nnameserver [::1]:5353\nnameserver 127.0.0.1:53\nsearch a\n",
			"127.0.0.1:5353 [::1]:5353 search a. ndots 1 timeout 5s attempts 2"},
		{"a name is no server", "nameserver dns.example.test\nsearch a\n", "search a. ndots 1 timeout 5s attempts 2"},
		{"last of search and domain", "search a b\ndomain c\n", "search c. ndots 1 timeout 5s attempts 2"},
		{"options", "search a\noptions ndots:0 timeout:2 attempts:3 rotate edns0\n", "search a. ndots 0 timeout 2s attempts 3 rotate"},
		{"out of bounds", "search a\noptions ndots:99 timeout:0 attempts:-1 ndots:x\n", "search a. ndots 15 timeout 1s attempts 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := probe.ParseResolvConf(test.text, "node1.example.test").Describe()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	long := strings.Repeat("a.", 120) + "test"
	for _, test := range []struct {
		name, host string
		want       []string
	}{
		{"service", "kong.kong", []string{"kong.kong.default.svc.cluster.local.", "kong.kong.svc.cluster.local.", "kong.kong.cluster.local.", "kong.kong."}},
		{"as many dots as ndots", "a.b.c.d.e.f", []string{"a.b.c.d.e.f.", "a.b.c.d.e.f.default.svc.cluster.local.", "a.b.c.d.e.f.svc.cluster.local.", "a.b.c.d.e.f.cluster.local."}},
		{"absolute", "kong.kong.svc.", []string{"kong.kong.svc."}},
		{"too long with a domain", long, []string{long + "."}},
		{"empty", "", nil},
		{"empty label", "a..b", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, probe.ParseResolvConf(pod, "").Candidates(test.host)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseResolvConf(f *testing.F) {
	f.Add(pod, "kong.kong.svc")
	f.Add("options timeout:-9223372036854775808 ndots:\nnameserver [", "a.")
	f.Fuzz(func(t *testing.T, text, host string) {
		conf := probe.ParseResolvConf(text, "")
		if conf.Timeout() < time.Second || conf.Timeout() > 30*time.Second {
			t.Errorf("timeout %s", conf.Timeout())
		}
		for _, name := range conf.Candidates(host) {
			if !strings.HasSuffix(name, ".") {
				t.Errorf("candidate %q is not absolute", name)
			}
		}
	})
}
