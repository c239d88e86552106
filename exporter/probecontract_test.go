package exporter_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

const scrapeHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// openHandler probes any address on loopback, by the built-in modules and those
// given.
func openHandler(modules ...*probe.Module) *exporter.Handler {
	all := probe.BuiltinModules()
	for _, m := range modules {
		all[m.Name] = m
	}
	return exporter.New(exporter.Config{
		Store: exporter.NewStore(nil), Runner: probe.NewRunner("node-a"), Node: "node-a",
		Allow:   func() probe.AllowList { return probe.AllowList{{Network: netip.MustParsePrefix("127.0.0.0/8")}} },
		Modules: func() map[string]*probe.Module { return all },
	})
}

func httpModule(name string, edit func(*probe.HTTPProber)) *probe.Module {
	p := probe.NewProber("http").(*probe.HTTPProber)
	edit(p)
	return &probe.Module{Name: name, Kind: "http", Prober: p}
}

// TestScrapesAreRefusedInBlackboxWords has no hints behind: a log that is
// searched for them must not depend on who answers.
func TestScrapesAreRefusedInBlackboxWords(t *testing.T) {
	for _, test := range []struct {
		name, query, timeout string
		status               int
		says                 string
	}{
		{"unknown module", "target=127.0.0.1:1&module=htp", "5", 400, `Unknown module "htp"`},
		{"unknown module goes first", "module=htp", "abc", 400, `Unknown module "htp"`},
		{"bad timeout goes before a missing target", "module=http", "abc", 500,
			`Failed to parse timeout from Prometheus header: strconv.ParseFloat: parsing "abc": invalid syntax`},
		{"no target", "module=http", "5", 400, "Target parameter is missing"},
		{"another Host", "module=vhost&target=127.0.0.1:1&hostname=b.test", "5", 400,
			"host header defined both in module configuration (a.test) and with URL-parameter 'hostname' (b.test)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := openHandler(httpModule("vhost", func(p *probe.HTTPProber) { p.Headers = map[string]string{"host": "a.test"} }))
			answer := get(t, h, "/probe?"+test.query, scrapeHeader, test.timeout)
			if text := body(t, answer); answer.StatusCode != test.status || text != test.says+"\n" {
				t.Errorf("status %d, %q; want %d, %q", answer.StatusCode, text, test.status, test.says)
			}
		})
	}
}

// TestHostname asks a server for a host that it does not resolve to.
func TestHostname(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	defer server.Close()
	h := openHandler()
	text := body(t, get(t, h, "/probe?module=http&hostname=shop.test&target="+server.URL, scrapeHeader, "5"))
	if !strings.Contains(text, "\nprobe_success 1\n") {
		t.Errorf("the probe failed:\n%s", text)
	}
	if got := <-asked; got != "shop.test" {
		t.Errorf("asked for host %q", got)
	}
}

// TestHostnameIsVerified finds a certificate that is not for the address wrong,
// and right once its name is given.
func TestHostnameIsVerified(t *testing.T) {
	started := startLab(t, "good-tls")
	good := started["good-tls"].Target
	p := probe.NewProber("tls").(*probe.TLSProber)
	p.TLSConfig.CA = good.Trust.PEM
	h := openHandler(&probe.Module{Name: "labtls", Kind: "tls", Prober: p})
	for hostname, want := range map[string]string{
		good.ServerName: "probe_success 1",
		"other.test":    `probe_failure_info{reason="hostname_mismatch",phase="verify"} 1`,
	} {
		text := body(t, get(t, h, "/probe?module=labtls&hostname="+hostname+"&target="+good.Address, scrapeHeader, "5"))
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("hostname=%s lacks %q:\n%s", hostname, want, text)
		}
	}
}

func TestEffectiveTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	hasty := httpModule("hasty", func(*probe.HTTPProber) {})
	hasty.Timeout = 1250e6
	for _, test := range []struct{ name, module, header, want string }{
		{"less the offset", "http", "2", "1.5"},
		{"the module's", "hasty", "10", "1.25"},
		{"the scrape's", "hasty", "1", "0.5"},
		{"below the offset", "http", "0.25", "0.25"},
		{"no number of seconds", "http", "0", "119.5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := body(t, get(t, openHandler(hasty), "/probe?module="+test.module+"&target="+server.URL, scrapeHeader, test.header))
			if !strings.Contains(text, "\nprobe_timeout_seconds "+test.want+"\n") {
				t.Errorf("no timeout of %s:\n%s", test.want, text)
			}
		})
	}
}

// TestDebug reads the three blocks, and no secret in them.
func TestDebug(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	h := openHandler(httpModule("web", func(p *probe.HTTPProber) {
		p.Headers = map[string]string{"Authorization": "Bearer s3cret", "Accept-Language": "tlh"}
	}))
	answer := get(t, h, "/probe?module=web&debug=true&target="+server.URL)
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || got != "text/plain" {
		t.Errorf("status %d, Content-Type %q", answer.StatusCode, got)
	}
	text := body(t, answer)
	last := -1
	for _, want := range []string{
		"Logs for the probe:\ntime=", `msg="Beginning probe" module=web target=` + server.URL + " probe=http timeout_seconds=119.5\n",
		"level=ERROR", "reason=http_status", `msg="Probe failed"`,
		"\n\n\n\nMetrics that would have been returned:\n# HELP probe_", "\nprobe_http_status_code 404\n",
		"\n\n\n\nModule configuration:\n", "Accept-Language: tlh", "Authorization: <secret>", "prober: http\n",
	} {
		i := strings.Index(text, want)
		if i < 0 || i < last {
			t.Errorf("%q is missing or not where it belongs:\n%s", want, text)
		}
		last = max(i, last)
	}
	if strings.Contains(text, "s3cret") {
		t.Error("the answer holds a secret")
	}
}

// TestScrapeOfWhatCannotBeProbed is a failed probe, not a refusal.
func TestScrapeOfWhatCannotBeProbed(t *testing.T) {
	answer := get(t, openHandler(), "/probe?module=tls&target=127.0.0.1", scrapeHeader, "5")
	text := body(t, answer)
	if answer.StatusCode != 200 || !strings.Contains(text, `probe_failure_info{reason="target_misconfigured",phase="config"} 1`) ||
		strings.Contains(text, "probe_ip_protocol") {
		t.Errorf("status %d:\n%s", answer.StatusCode, text)
	}
}

// TestScrapeMakesNoExperiments counts the connections to a server that hangs up:
// a scraper asks again and again, and each would be made anew.
func TestScrapeMakesNoExperiments(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan int, 1)
	go func() {
		n := 0
		for {
			c, err := server.Accept()
			if err != nil {
				accepted <- n
				return
			}
			n++
			io.CopyN(io.Discard, c, 1)
			c.Close()
		}
	}()
	text := body(t, get(t, openHandler(), "/probe?module=tls&target="+server.Addr().String(), scrapeHeader, "5"))
	server.Close()
	if n := <-accepted; n != 1 || !strings.Contains(text, "probe_failure_info") {
		t.Errorf("%d connections:\n%s", n, text)
	}
}
