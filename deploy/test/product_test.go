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
	process, err := c.Processes.Start(name, host.Command(context.Background(), programs.Tlsprobe, args...))
	if err != nil {
		t.Fatal(err)
	}
	p := &product{Process: process, host: host, url: "http://" + address}
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

// A verdict is what /probe says of a target.
type verdict struct {
	Status   string   // "ok", "failing"
	Reason   string   // the one to fix first
	Reasons  []string // all of them
	Attempts []struct {
		Via      string
		Problems []struct{ Reason, Detail string }
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
