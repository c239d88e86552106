//go:build linux

package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tlsprobe/probe/lab"
)

// BenchmarkDropInHTTPS is the CPU time of an HTTPS probe on demand by the agent
// over that of blackbox_exporter's, asked for the same at the same pace in the
// same windows.
func BenchmarkDropInHTTPS(b *testing.B) { costOnDemand(b, "") }

// BenchmarkDropInHTTP2 is the same by HTTP/2.
func BenchmarkDropInHTTP2(b *testing.B) { costOnDemand(b, groupsOfHTTP2) }

func costOnDemand(b *testing.B, suffix string) {
	program, exporter := buildAgent(b), buildBlackbox(b)
	for b.Loop() {
		t := startTarget(b)
		pair := startScrapedPair(b, program, exporter, t.CA)
		stop := make(chan struct{})
		var driving sync.WaitGroup
		for _, p := range pair {
			p.group += suffix
			driving.Go(func() { p.drive(t, stop) })
		}
		compare(t, contender{pair[0].group, pair[0].process}, contender{pair[1].group, pair[1].process})
		close(stop)
		driving.Wait()
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDropInMemory is by how much the resident memory of both grows with
// each probe by HTTP/2, turn by turn.
func BenchmarkDropInMemory(b *testing.B) {
	program, exporter := buildAgent(b), buildBlackbox(b)
	l, err := lab.New()
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	cert, err := l.CA.Issue()
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(answerOK))
	server.EnableHTTP2, server.TLS = true, &tls.Config{Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	defer server.Close()
	for b.Loop() {
		pair := startScrapedPair(b, program, exporter, l.CA.PEM())
		const warm, probes = 600, 1500
		var grown [2]float64
		for i := range warm + probes {
			for _, p := range pair {
				p.get(b, server.URL, "")
			}
			if i+1 == warm || i+1 == warm+probes {
				grown[0], grown[1] = pair[0].resident()-grown[0], pair[1].resident()-grown[1]
			}
		}
		b.ReportMetric(grown[0]/probes, "agent-KiB/probe")
		b.ReportMetric(grown[1]/probes, "blackbox-KiB/probe")
	}
	b.ReportMetric(0, "ns/op")
}

// A scrapedProcess is a program that is asked for probes.
type scrapedProcess struct {
	*process
	group  string
	url    string
	client *http.Client
}

// startScrapedPair starts an agent and a blackbox_exporter with the same module.
func startScrapedPair(b *testing.B, agent, exporter, ca string) []*scrapedProcess {
	b.Helper()
	dir := b.TempDir()
	config := fmt.Appendf(nil, "modules:\n  web: {prober: http, http: {tls_config: {ca_file: %q}}}\n", filepath.Join(dir, "ca.pem"))
	for name, content := range map[string][]byte{"ca.pem": []byte(ca), "blackbox.yml": config, "config.yaml": append(bytes.Clone(config), openMode...)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	listen := "--web.listen-address=127.0.0.1:0"
	return []*scrapedProcess{
		newScraped("agent", startProcess(b, agent, "agent", "--config.file="+filepath.Join(dir, "config.yaml"), listen)),
		newScraped("blackbox", startProcess(b, exporter, "--config.file="+filepath.Join(dir, "blackbox.yml"), listen)),
	}
}

func newScraped(group string, p *process) *scrapedProcess {
	return &scrapedProcess{process: p, group: group, url: "http://" + listeningAt(p.b, p.out), client: &http.Client{}}
}

// drive asks for a probe of each of 500 names in turn, 50 a second.
func (p *scrapedProcess) drive(t *targetProcess, stop <-chan struct{}) {
	const names, pace = 500, 20 * time.Millisecond
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			p.get(p.b, "https://"+t.Addrs[i%len(t.Addrs)]+"/", benchName(p.group, i%names))
		}
	}
}

var succeeded = []byte("\nprobe_success 1\n")

// get asks for one probe, which must succeed.
func (p *scrapedProcess) get(b *testing.B, target, hostname string) {
	query := url.Values{"module": {"web"}, "target": {target}}
	if hostname != "" {
		query.Set("hostname", hostname)
	}
	r, err := http.NewRequest(http.MethodGet, p.url+"/probe?"+query.Encode(), nil)
	if err != nil {
		b.Error(err)
		return
	}
	r.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "10")
	r.Header.Set("Accept", "text/plain;version=0.0.4")
	answer, err := p.client.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !bytes.Contains(text, succeeded) {
		b.Errorf("%s: %v\n%s", r.URL, err, text)
	}
}
