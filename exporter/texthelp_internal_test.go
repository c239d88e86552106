package exporter

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
)

func TestFillIn(t *testing.T) {
	at := &probe.Attempt{Peer: netip.MustParseAddrPort("10.0.0.1:443")}
	const dial = "openssl s_client -connect HOST:PORT -servername NAME -brief"
	along := &probe.Attempt{Peer: at.Peer, Via: "pod a", TLS: &probe.TLS{ServerName: "a.svc"}}
	redirected := &probe.Attempt{Peer: at.Peer, Via: "pod a", TLS: along.TLS, HTTP: &probe.HTTP{Hops: make([]probe.Hop, 2)}}
	for _, test := range []struct {
		name, address, fix, want string
		labels                   map[string]string
		attempt                  *probe.Attempt
	}{
		{"host and port", "kong.svc:8443", "nc HOST PORT, nc HOST:PORT", "nc kong.svc PORT, nc kong.svc:8443", nil, at},
		{"URL", "https://shop.example/cart", "curl https://HOST/ HOST:PORT", "curl https://shop.example/ shop.example:443", nil, at},
		{"URL with a port", "https://shop.example:8443/cart", "https://HOST/a http://HOST/b", "https://shop.example:8443/a http://shop.example/b", nil, at},
		{"IPv6", "[::1]:443", "openssl s_client -connect HOST:PORT", "openssl s_client -connect [::1]:443", nil, at},
		{"address", "a:1", "ping ADDRESS; HOSTS", "ping 10.0.0.1; HOSTS", nil, at},
		{"no address", "a:1", "ping ADDRESS", "ping ADDRESS", nil, &probe.Attempt{}},
		{"labels", "a:1", "kubectl -n NAMESPACE get svc SERVICE", "kubectl -n kong get svc SERVICE", map[string]string{"namespace": "kong"}, at},
		{"objects of a cluster", "a:1", "INGRESS GATEWAY WEBHOOK APISERVICE CHALLENGE", "i g w.x v1.metrics.k8s.io c",
			map[string]string{"ingress": "i", "gateway": "g", "configuration": "w.x", "apiservice": "v1.metrics.k8s.io", "challenge": "c"}, at},
		{"a mutating webhook", "a:1", "kubectl get validatingwebhookconfiguration WEBHOOK", "kubectl get mutatingwebhookconfiguration kong",
			map[string]string{"configuration": "kong", "admission": "mutating"}, at},
		{"the name sent", "a:1", dial, "openssl s_client -connect a:1 -servername a.svc -brief", nil, &probe.Attempt{TLS: along.TLS}},
		{"no name sent", "a:1", dial, "openssl s_client -connect a:1 -noservername -brief", nil, &probe.Attempt{TLS: &probe.TLS{ServerName: "::1"}}},
		{"a name that is not known", "a:1", dial, "openssl s_client -connect a:1 -servername NAME -brief", nil, at},
		{"a name not for a shell", "a:1", dial, "openssl s_client -connect a:1 -servername NAME -brief", nil, &probe.Attempt{TLS: &probe.TLS{ServerName: "$(reboot)"}}},
		{"along a route", "a:1", dial, "openssl s_client -connect 10.0.0.1:443 -servername a.svc -brief", nil, along},
		{"along a route, by curl", "a:1", "curl -I https://HOST:PORT/", "curl --connect-to ::10.0.0.1:443 -I https://a:1/", nil, along},
		{"along a redirect, by curl", "a:1", "curl -I https://HOST:PORT/", "curl -I https://a:1/", nil, redirected},
		{"along a redirect", "a:1", dial, "openssl s_client -connect a:1 -servername NAME -brief", nil, redirected},
		{"not for a shell", "$(reboot):1", "ping HOST", "ping HOST", nil, at},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := fillIn(test.fix, &probe.Target{Address: test.address, Labels: probe.LabelsOf(test.labels)}, test.attempt)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWrapCommand(t *testing.T) {
	for _, test := range []struct {
		name, command string
		want          []string
	}{
		{"short", "ls -l", []string{"ls -l"}},
		{"long", "kubectl -n kong get pods -o wide", []string{`kubectl -n kong \`, `get pods -o wide`}},
		{"quoted", `curl -H 'a b c d e f g h i j' http://a/`, []string{`curl -H \`, `'a b c d e f g h i j' \`, `http://a/`}},
		{"no space", strings.Repeat("x", 30), []string{strings.Repeat("x", 30)}},
		{"apostrophe", "A pod's state: kubectl get pods -o wide", []string{`A pod's state: \`, `kubectl get pods \`, `-o wide`}},
		{"option's quote", `kubectl get -o=jsonpath='{a b c d e}'`, []string{`kubectl get \`, `-o=jsonpath='{a b c d e}'`}},
		{"open quote", `echo 'it never ends and so on`, []string{`echo \`, `'it never ends and so on`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wrapCommand(test.command, 20)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHelpIsShown looks for reasons whose first fix is too wide for an answer.
func TestHelpIsShown(t *testing.T) {
	for _, r := range probe.Catalogue() {
		if helpLines(r.Fixes[0]) == nil {
			t.Errorf("%s: %d columns are not enough for %q", r.ID, columns, r.Fixes[0])
		}
	}
	if got := helpLines("a --b='" + strings.Repeat("c ", columns) + "'"); got != nil {
		t.Errorf("half a command is shown: %q", got)
	}
}
