package discover_test

import (
	"strings"
	"testing"

	"tlsprobe/probe/discover"
)

// TestForeignProbers are left out by name, and the rest of the file is of use.
func TestForeignProbers(t *testing.T) {
	const file = `modules:
  ping:
    prober: icmp
    icmp: {preferred_ip_protocol: ip4, ttl: 5}
  socket:
    prober: unix
    unix: {query_response: [{send: PING}, {expect: PONG}]}
  web: {prober: http}
`
	c, err := discover.Parse("c.yml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c.yml:3:13: modules.ping.prober: the module is left out: blackbox_exporter's prober icmp, which sends pings, is none of tlsprobe's; keep blackbox_exporter for it",
		"c.yml:6:13: modules.socket.prober: the module is left out: blackbox_exporter's prober unix, which talks to a Unix socket, is none of tlsprobe's; keep blackbox_exporter for it",
	}
	if got := c.Warnings.Error(); got != strings.Join(want, "\n") {
		t.Errorf("warnings\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if m := c.Modules["web"]; m == nil || m.Prober == nil {
		t.Error("the module beside them is lost")
	}
	if m := c.Modules["ping"]; m == nil || m.Prober != nil || m.Kind != "icmp" {
		t.Errorf("module ping is %+v, want one without a prober, to be named where it is asked for", m)
	}

	_, err = discover.Parse("c.yml", []byte(file+`targets: [{address: "example.com:443", module: ping}]`))
	if err == nil || err.Error() != `c.yml:9:48: targets[0].module: module "ping" has the prober icmp, which is none of tlsprobe's (line 3)` {
		t.Errorf("a target of it: %v", err)
	}
}
