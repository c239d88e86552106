package discover_test

import (
	"os"
	"testing"

	"tlsprobe/probe/discover"
)

// TestBlackboxGrammar loads what a blackbox.yml may say. Modules that only
// blackbox_exporter can probe by are named; nothing else is worth a word.
func TestBlackboxGrammar(t *testing.T) {
	const file = "testdata/blackbox.yml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := discover.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, w := range c.Warnings {
		named = append(named, w.Key)
	}
	if len(named) != 2 || named[0] != "modules.ping.prober" || named[1] != "modules.socket.prober" {
		t.Errorf("warnings about %q", named)
	}
	for name, m := range c.Modules {
		if foreign := name == "ping" || name == "socket"; (m.Prober == nil) != foreign {
			t.Errorf("module %s has the prober %v", name, m.Prober)
		}
	}
	for _, name := range []string{"http_2xx", "http_post_2xx", "tcp_connect", "tls_connect", "grpc", "grpc_plain", "pop3s_banner", "ssh_banner", "irc_banner"} {
		if c.Modules[name] == nil {
			t.Errorf("no module %s", name)
		}
	}
}
