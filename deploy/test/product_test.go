package test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tlsprobe/deploy/test/cluster"
)

// readyTime is how long the product may take to do what it does within a few
// seconds, on a busy machine.
const readyTime = time.Minute

// A product is a tlsprobe that runs on a host of the cluster.
type product struct {
	*cluster.Process
	host   *cluster.Host
	before int // bytes that earlier processes wrote to its log
	client http.Client
	url    string
}

// startProduct starts "tlsprobe COMMAND" with this configuration, and returns when
// its pages are served. Flags follow the configuration's.
func startProduct(t *testing.T, c *cluster.Cluster, host *cluster.Host, command, config string, flags ...string) *product {
	t.Helper()
	name := command + "-" + host.Name
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := netip.AddrPortFrom(host.Address, 9790).String()
	args := append([]string{command, "--config.file=" + file, "--web.listen-address=" + address}, flags...)
	before := c.Processes.Logged(name)
	process, err := c.Processes.Start(name, host.Command(context.Background(), programs.Tlsprobe, args...))
	if err != nil {
		t.Fatal(err)
	}
	p := &product{Process: process, host: host, before: before, url: "http://" + address}
	p.client.Transport = &http.Transport{DialContext: host.Dial, DisableKeepAlives: true}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, p.Tail())
		}
	})
	cluster.Eventually(t, readyTime, func() error {
		if err := p.Err(); err != nil {
			return err
		}
		_, err := p.get("/-/healthy")
		return err
	})
	return p
}

// said returns what the process has logged.
func (p *product) said() string { return p.Output()[p.before:] }

// get returns what is served at a path.
func (p *product) get(path string) (string, error) {
	response, err := p.client.Get(p.url + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.400s", path, response.Status, body)
	}
	return string(body), err
}

// metric returns the value of a series, named with its labels as /metrics does.
func (p *product) metric(series string) (float64, error) {
	metrics, err := p.get("/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(metrics) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no series %s", series)
}

// mustMetric is metric for one that has to be there.
func (p *product) mustMetric(t *testing.T, series string) float64 {
	t.Helper()
	value, err := p.metric(series)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// probedSince reports which targets have no result since then, or a bad one.
func (p *product) probedSince(then time.Time) error {
	body, err := p.get("/results")
	if err != nil {
		return err
	}
	var list struct {
		Items []struct {
			Target, Status, Reason string
			Age                    float64 `json:"age_seconds"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return err
	}
	waiting, failing, example := 0, 0, ""
	age := time.Since(then).Seconds()
	for _, item := range list.Items {
		switch {
		case item.Status == "pending" || item.Age > age:
			waiting++
		case item.Status != "ok":
			failing++
			example = item.Target + " " + item.Reason
		}
	}
	if waiting > 0 || failing > 0 || len(list.Items) == 0 {
		return fmt.Errorf("of %d targets, %d were not probed, %d fail, as %s", len(list.Items), waiting, failing, example)
	}
	return nil
}

// A verdict is what /probe says of a target.
type verdict struct {
	Status   string   // "ok", "failing"
	Reason   string   // the one to fix first
	Reasons  []string // all of them
	Attempts []struct {
		Via, Peer string
		Problems  []struct{ Reason, Detail, Received string }
	}
}

// probe probes a known target now.
func (p *product) probe(target string) (v verdict, err error) {
	body, err := p.get("/probe?format=json&target=" + target)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal([]byte(body), &v)
}

// reasonOfLine is how tlsprobe explain begins.
var reasonOfLine = regexp.MustCompile(`^This line means (\w+),`)

// explain returns the reason that the product finds in a line of a log.
func explain(line string) (string, error) {
	out, err := exec.Command(programs.Tlsprobe, "explain", line).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tlsprobe explain %q: %w: %s", line, err, out)
	}
	match := reasonOfLine.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("tlsprobe explain %q: %s", line, out)
	}
	return string(match[1]), nil
}
