package exporter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tlsprobe/exporter"
	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// clock is a time that a test moves.
type clock struct {
	mu      sync.Mutex
	forward time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.forward)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forward += d
}

// startLab runs scenarios of the lab and returns them by name.
func startLab(t *testing.T, names ...string) map[string]*lab.Instance {
	t.Helper()
	l, err := lab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	started := map[string]*lab.Instance{}
	for _, s := range lab.Scenarios() {
		for _, name := range names {
			if s.Name == name {
				if started[name], err = l.Start(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(started) != len(names) {
		t.Fatalf("the lab does not have all of %q", names)
	}
	return started
}

func targetsOf(instances map[string]*lab.Instance) (targets []*probe.Target) {
	for _, i := range instances {
		targets = append(targets, i.Target)
	}
	return targets
}

func TestProbeAnswers(t *testing.T) {
	started := startLab(t, "good-tls", "good-https", "cert-no-ip")
	store := exporter.NewStore(nil)
	store.SetTargets(targetsOf(started))
	h := newHandler(store)
	for _, test := range []struct {
		name, query, accept string
		status              int
		result, reason      string
		contentType, begins string
	}{
		{"ok", "target=good-tls", "*/*", 200, "success", "", "text/plain; charset=utf-8", "OK    good-tls\n"},
		{"failing", "target=cert-no-ip", "*/*", 200, "failure", "missing_ip_san", "text/plain; charset=utf-8", "FAIL  missing_ip_san  cert-no-ip\n"},
		{"its own module", "target=good-tls&module=tls", "*/*", 200, "success", "", "text/plain", "OK    good-tls\n"},
		{"failing, strict", "target=cert-no-ip&strict=1", "*/*", 503, "failure", "missing_ip_san", "text/plain", "FAIL"},
		{"failing, not strict", "target=cert-no-ip&strict=0", "*/*", 200, "failure", "missing_ip_san", "text/plain", "FAIL"},
		{"browser", "target=good-https", acceptBrowser, 200, "success", "", "text/plain", "OK"},
		{"unknown parameter", "target=good-https&debug=1&foo=bar", "*/*", 200, "success", "", "text/plain", "OK"},
		{"JSON by Accept", "target=good-https", "application/json", 200, "success", "", "application/json", "{\n  \"schema_version\": 1"},
		{"JSON by name", "target=good-https&format=json", "*/*", 200, "success", "", "application/json", "{"},
		{"text by name", "target=good-https&format=text", "application/json", 200, "success", "", "text/plain", "OK"},
		{"metrics by name", "target=good-https&format=metrics", "*/*", 200, "success", "", "text/plain; version=0.0.4", "# HELP probe_dns_lookup_time_seconds"},
		{"metrics by Accept", "target=good-https", acceptPrometheus3, 200, "success", "", "text/plain; version=0.0.4", "# HELP probe_"}, // never OpenMetrics
		{"protobuf by Accept", "target=good-https", acceptNative, 200, "success", "", "application/vnd.google.protobuf", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := get(t, h, "/probe?"+test.query, "Accept", test.accept)
			if answer.StatusCode != test.status {
				t.Errorf("status %d, want %d", answer.StatusCode, test.status)
			}
			if got := answer.Header.Get("X-Probe-Result"); got != test.result {
				t.Errorf("X-Probe-Result %q, want %q", got, test.result)
			}
			if got := answer.Header.Get("X-Probe-Reason"); got != test.reason {
				t.Errorf("X-Probe-Reason %q, want %q", got, test.reason)
			}
			if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, test.contentType) {
				t.Errorf("Content-Type %q, want %q", got, test.contentType)
			}
			if text := body(t, answer); !strings.HasPrefix(text, test.begins) {
				t.Errorf("the answer begins %.100q, want %q", text, test.begins)
			}
		})
	}
}

// kubectl get --raw accepts JSON first, and a person reads the answer.
func TestProbeByKubectl(t *testing.T) {
	store := exporter.NewStore(nil)
	store.SetTargets(targetsOf(startLab(t, "good-tls")))
	h := newHandler(store)
	for query, begins := range map[string]string{"": "OK ", "&format=json": "{"} {
		answer := get(t, h, "/probe?target=good-tls"+query, "Accept", "application/json, */*", "User-Agent", "kubectl/v1.36.3 (linux/amd64) kubernetes/abc")
		if text := body(t, answer); !strings.HasPrefix(text, begins) {
			t.Errorf("%q is answered by:\n%s", query, text)
		}
	}
}

func TestProbeMetrics(t *testing.T) {
	started := startLab(t, "good-redirect", "cert-no-ip", "dns-serial", "dns-should-not-exist", "dns-silent",
		"good-tcp-labels", "tcp-other-banner", "tcp-closes", "starttls-cert-expired",
		"good-grpc", "grpc-not-serving", "grpc-no-health-service", "grpc-untrusted", "good-otlp-grpc")
	store := exporter.NewStore(nil)
	store.SetTargets(targetsOf(started))
	h := newHandler(store)
	for _, test := range []struct {
		target string
		want   []string
	}{
		{"dns-serial", []string{"probe_success 1", "probe_dns_serial 2.026112101e+09", "probe_dns_answer_rrs 1", "probe_dns_authority_rrs 0",
			"probe_dns_additional_rrs 0", "probe_dns_query_succeeded 1", `probe_dns_duration_seconds{phase="connect"} 0`,
			`probe_dns_duration_seconds{phase="request"} `, `probe_dns_duration_seconds{phase="resolve"} `, "probe_ip_protocol 4"}},
		{"dns-should-not-exist", []string{"probe_success 0", "probe_dns_query_succeeded 1", "probe_dns_answer_rrs 1",
			`probe_failure_info{reason="dns_validation_failed",phase="request"} 1`}},
		{"dns-silent", []string{"probe_success 0", "probe_dns_query_succeeded 0", "probe_dns_answer_rrs 0",
			`probe_failure_info{reason="dns_timeout",phase="resolve"} 1`}},
		{"good-tcp-labels", []string{"probe_success 1", `probe_expect_info{software="OpenSSH_9.6"} 1`, "probe_failed_due_to_regex 0", "probe_failed_due_to_bytes 0"}},
		{"tcp-other-banner", []string{"probe_success 0", "probe_failed_due_to_regex 0", `probe_failure_info{reason="tcp_expect_mismatch",phase="request"} 1`}},
		{"tcp-closes", []string{"probe_success 0", "probe_failed_due_to_regex 1"}},
		{"starttls-cert-expired", []string{"probe_success 0", "probe_failed_due_to_regex 0", "probe_ssl_earliest_cert_expiry ",
			`probe_failure_info{reason="cert_expired",phase="verify"} 1`}},
		{"good-grpc", []string{"probe_success 1", "probe_grpc_ssl 1", "probe_grpc_status_code 0", `probe_grpc_duration_seconds{phase="check"} `,
			`probe_grpc_duration_seconds{phase="resolve"} `, `probe_grpc_healthcheck_response{serving_status="SERVING"} 1`,
			`probe_grpc_healthcheck_response{serving_status="NOT_SERVING"} 0`, "probe_ssl_earliest_cert_expiry "}},
		{"grpc-not-serving", []string{"probe_success 0", "probe_grpc_ssl 1", "probe_grpc_status_code 0",
			`probe_grpc_healthcheck_response{serving_status="SERVING"} 0`, `probe_grpc_healthcheck_response{serving_status="NOT_SERVING"} 1`}},
		{"grpc-no-health-service", []string{"probe_success 0", "probe_grpc_ssl 0", "probe_grpc_status_code 12",
			`probe_grpc_healthcheck_response{serving_status="UNKNOWN"} 0`}},
		{"grpc-untrusted", []string{"probe_success 0", "probe_grpc_ssl 0", "probe_grpc_status_code 14", "probe_ssl_earliest_cert_expiry ",
			`probe_failure_info{reason="unknown_authority",phase="verify"} 1`}},
		{"good-otlp-grpc", []string{"probe_success 1", "probe_ip_protocol 4"}},
		{"good-redirect", []string{"probe_success 1", "probe_http_status_code 200", "probe_http_redirects 1", "probe_http_ssl 1", "probe_ip_protocol 4",
			"probe_http_version 2", `probe_tls_version_info{version="TLS 1.3"} 1`, `probe_node_info{node="node-a"} 1`, "probe_ssl_earliest_cert_expiry "}},
		{"cert-no-ip", []string{"probe_success 0", `probe_failure_info{reason="missing_ip_san",phase="verify"} 1`,
			"probe_ssl_earliest_cert_expiry ", `probe_ssl_last_chain_info{fingerprint_sha256="`, `probe_tls_version_info{version="TLS 1.3"} 1`}},
	} {
		answer := get(t, h, "/probe?target="+test.target, "X-Prometheus-Scrape-Timeout-Seconds", "10", "Accept", "text/plain;version=0.0.4")
		text := body(t, answer)
		for _, want := range test.want {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("%s lacks %q:\n%s", test.target, want, text)
			}
		}
	}
}

// TestProbeScrapeTimeout probes what never answers with the patience of a
// scrape, not the target's.
func TestProbeScrapeTimeout(t *testing.T) {
	started := startLab(t, "tls-hangs")
	patient := *started["tls-hangs"].Target
	patient.Timeout = time.Minute
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{&patient})
	answer := get(t, newHandler(store), "/probe?target=tls-hangs", "X-Prometheus-Scrape-Timeout-Seconds", "0.6")
	text := body(t, answer)
	var took float64
	if _, after, ok := strings.Cut(text, "\nprobe_duration_seconds "); ok {
		fmt.Sscan(after, &took)
	}
	if took <= 0 || took > 30 || !strings.Contains(text, `probe_failure_info{reason="tls_timeout"`) {
		t.Errorf("status %d:\n%s", answer.StatusCode, text)
	}
}

// TestProbeMetricsOfHostileNames has bytes that a label cannot hold.
func TestProbeMetricsOfHostileNames(t *testing.T) {
	r := resultOK()
	r.Start = time.Now()
	r.Attempts[0].TLS.Chain[0].Subject = "CN=\xff\n\"} 1"
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{kong})
	store.Record(r)
	answer := get(t, newHandler(store), "/probe?target=kong-validation&format=metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range families["probe_ssl_last_chain_info"].Metric[0].Label {
		if l.GetName() == "subject" && l.GetValue() != "CN=\ufffd\n\"} 1" {
			t.Errorf("subject %q", l.GetValue())
		}
	}
}

func TestProbeServesWhatIsFresh(t *testing.T) {
	started := startLab(t, "good-tls")
	instance := started["good-tls"]
	var c clock
	store := exporter.NewStore(c.now)
	store.SetTargets([]*probe.Target{instance.Target})
	h := newHandler(store)

	var together sync.WaitGroup
	for range 10 {
		together.Go(func() { get(t, h, "/probe?target=good-tls") })
	}
	together.Wait()
	if n := instance.Accepted(); n != 1 {
		t.Errorf("10 requests at once made %d connections", n)
	}
	c.advance(4 * time.Second)
	if text := body(t, get(t, h, "/probe?target=good-tls")); !strings.Contains(text, "probed 4 s ago") || instance.Accepted() != 1 {
		t.Errorf("after 4 s there were %d connections:\n%s", instance.Accepted(), text)
	}
	c.advance(2 * time.Second)
	if text := body(t, get(t, h, "/probe?target=good-tls")); instance.Accepted() != 2 {
		t.Errorf("after 6 s there were %d connections:\n%s", instance.Accepted(), text)
	}

	c.advance(10 * time.Second)
	recorded := result(instance.Target, attempt("127.0.0.1:443"))
	recorded.Start = c.now().Add(-time.Second)
	store.Record(recorded)
	if text := body(t, get(t, h, "/probe?target=good-tls")); !strings.Contains(text, "scheduled run of 1 s ago") || instance.Accepted() != 2 {
		t.Errorf("a scheduled run was fresh, and there were %d connections:\n%s", instance.Accepted(), text)
	}
}

// TestProbeBusy fills every place for live probes with peers that never answer.
func TestProbeBusy(t *testing.T) {
	const places = 8
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	accepted := make(chan net.Conn, places+1)
	go func() {
		for {
			c, err := peer.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	var targets []*probe.Target
	for _, name := range strings.Fields("a b c d e f g h i") {
		hangs := target(name, peer.Addr().String(), "tls")
		hangs.Timeout = time.Minute
		targets = append(targets, hangs)
	}
	store := exporter.NewStore(nil)
	store.SetTargets(targets)
	h := newHandler(store)

	ctx, giveUp := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for i := range places {
		asking.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/probe?target="+targets[i].Name, nil)
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	var conns []net.Conn
	for range places {
		conns = append(conns, <-accepted)
	}
	answer := get(t, h, "/probe?target=i")
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", answer.StatusCode, answer.Header.Get("Retry-After"))
	}

	giveUp()
	asking.Wait()
	for _, c := range conns {
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		for err = nil; err == nil; _, err = c.Read(make([]byte, 4096)) {
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Error("nobody waits for the probe any more, and it goes on")
		}
		c.Close()
	}
}

func TestProbeRefuses(t *testing.T) {
	started := startLab(t, "good-tls")
	address := started["good-tls"].Target.Address
	_, port, _ := net.SplitHostPort(address)
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{kong, started["good-tls"].Target})
	allow := func(rules ...probe.AllowRule) func() probe.AllowList {
		return func() probe.AllowList { return rules }
	}
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	for _, test := range []struct {
		name, query string
		allow       func() probe.AllowList
		status      int
		says        string
	}{
		{"no target", "", nil, 400, "Target parameter is missing"},
		{"two targets", "target=a&target=b", nil, 400, "2 times"},
		{"bad query", "target=%zz", nil, 400, "invalid URL escape"},
		{"control characters", "target=a%0ab", nil, 400, "printable ASCII"},
		{"endless name", "target=" + strings.Repeat("a", 5000), nil, 400, "5000 bytes"},
		{"unknown format", "target=good-tls&format=xml", nil, 400, "none of text, json, metrics"},
		{"odd strict", "target=good-tls&strict=maybe", nil, 400, "neither 1 nor 0"},
		{"unknown name", "target=kong-validaton", nil, 404, "did you mean kong-validation?"},
		{"address without a module", "target=10.0.0.1:443", nil, 404, "add &module="},
		{"allowed address without a module", "target=127.0.0.1:1", allow(probe.AllowRule{Network: loopback}), 200, "  module http_2xx  "},
		{"another module", "target=good-tls&module=http", nil, 400, `probed by module "tls"`},
		{"unknown module", "target=10.0.0.1:443&module=htttp", nil, 400, "Unknown module \"htttp\"; did you mean http?"},
		{"nothing allowed", "module=tls&target=" + address, nil, 403, "probe_endpoint.allow is empty"},
		{"nothing allowed, and no name looked up", "module=tls&target=nowhere.invalid:443", nil, 403, "probe_endpoint.allow is empty"},
		{"another network", "module=tls&target=" + address, allow(probe.AllowRule{Network: netip.MustParsePrefix("10.0.0.0/8")}), 403, "no rule of probe_endpoint.allow"},
		{"another port", "module=tls&target=" + address, allow(probe.AllowRule{Network: loopback, Ports: []probe.PortRange{{First: 1, Last: 1}}}), 403, "at port 1 only"},
		{"no port", "module=tls&target=127.0.0.1", allow(probe.AllowRule{Network: loopback}), 400, "port"},
		{"mapped metadata address", "module=tls&target=" + url.QueryEscape("[::ffff:169.254.169.254]:80"), func() probe.AllowList { return probe.AllowAny() }, 403, "metadata"},
		{"allowed", "module=tls&target=127.0.0.1:" + port, allow(probe.AllowRule{Network: loopback}), 200, "  127.0.0.1:" + port + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := exporter.New(exporter.Config{Store: store, Runner: probe.NewRunner(""), Allow: test.allow})
			answer := get(t, h, "/probe?"+test.query)
			text := body(t, answer)
			if answer.StatusCode != test.status || !strings.Contains(text, test.says) {
				t.Errorf("status %d, want %d that says %q:\n%s", answer.StatusCode, test.status, test.says, text)
			}
		})
	}
}

func TestProbeRefusesRedirect(t *testing.T) {
	away := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:1/", http.StatusFound))
	defer away.Close()
	store := exporter.NewStore(nil)
	h := exporter.New(exporter.Config{Store: store, Runner: probe.NewRunner(""), Allow: func() probe.AllowList {
		return probe.AllowList{{Network: netip.MustParsePrefix("127.0.0.1/32")}}
	}})
	answer := get(t, h, "/probe?module=http&target="+away.URL)
	if text := body(t, answer); answer.StatusCode != http.StatusOK || answer.Header.Get("X-Probe-Reason") != "address_refused" {
		t.Errorf("status %d:\n%s", answer.StatusCode, text)
	}
}

func TestProbeJSONHoldsTheChain(t *testing.T) {
	started := startLab(t, "good-chain")
	store := exporter.NewStore(nil)
	store.SetTargets(targetsOf(started))
	var got struct {
		Attempts []struct {
			TLS struct {
				Chain []struct {
					PEM string `json:"pem"`
				} `json:"chain"`
			} `json:"tls"`
		} `json:"attempts"`
	}
	answer := get(t, newHandler(store), "/probe?target=good-chain&format=json")
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if chain := got.Attempts[0].TLS.Chain; len(chain) != 2 || !strings.HasPrefix(chain[1].PEM, "-----BEGIN CERTIFICATE-----\n") {
		t.Errorf("chain %+v", chain)
	}
}
