package test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"tlsprobe/deploy/test/cluster"
)

// A large cluster, and what it may cost.
const (
	someNodes, allNodes = 500, 5000
	allIngresses        = 2000
	allWebhooks         = 500

	hubMemory   = 120 << 20
	agentMemory = 40 << 20
	listSize    = 64 << 10 // compressed
)

const rebuilds = `tlsprobe_source_rebuilds_total{source="kubernetes"}`

// TestScale measures hub and agent in a large cluster. All that the agent probes
// answers, and is well.
func TestScale(t *testing.T) {
	c := startCluster(t, cluster.Config{Name: "scale"})
	crowd := newCrowd(t, c)
	agentHost := addHost(t, c, "agent", "10.77.0.21")
	agentHost.UseDNS(c.ControlPlane.Address)
	crowd.addWebhooks(t, allWebhooks)
	crowd.addIngresses(t, allIngresses, ingressAddress)
	crowd.addNodes(t, 0, someNodes)
	serveCrowd(t, c, crowd, agentHost)

	settings := "probes_per_second: 1000000, kubeconfig: " + grantHub(t, c) // as often as in a small cluster
	hub := runHub(t, c, addHost(t, c, "hub", "10.77.0.20"), settings)
	some := hub.list(t, someNodes)
	agent := runAgent(t, c, agentHost, hub, nodeName(0), "30s") // as by default
	agent.probesAll(t)
	agent.rests(t, "the agent among 500 nodes", agentMemory)

	crowd.addNodes(t, someNodes, allNodes)
	all := hub.list(t, allNodes)
	agent.probesAll(t)
	agent.rests(t, "the agent among 5000 nodes", agentMemory)
	hub.within(t, "the hub that saw the cluster grow", hubMemory)
	if few, many := some.packed, all.packed; many > listSize || many > few+few/20 {
		t.Errorf("the list has %d bytes, and had %d among %d nodes; the goal is %d whatever the number of nodes", many, few, someNodes, listSize)
	}
	replica := runHub(t, c, addHost(t, c, "hub2", "10.77.0.22"), settings)
	if other := replica.list(t, allNodes); other.etag != all.etag {
		t.Errorf("two hubs hand out different lists: %s and %s", all.etag, other.etag)
	}
	replica.within(t, "the hub that found the cluster grown", hubMemory)
	hub.ignoresHeartbeats(t, c, crowd, all.etag)
}

// A nodeList is what an agent gets.
type nodeList struct {
	etag        string
	raw, packed int // bytes
}

// list waits until the hub knows so many nodes, and returns the first one's list.
func (p *product) list(t *testing.T, nodes float64) (l nodeList) {
	t.Helper()
	cluster.Eventually(t, 2*readyTime, func() error {
		n, err := p.metric("tlsprobe_hub_nodes")
		if err == nil && n != nodes {
			err = fmt.Errorf("the hub knows %v nodes, want %v", n, nodes)
		}
		return err
	})
	l, err := p.fetch(nodeName(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("among %v nodes the list has %d bytes, %d compressed", nodes, l.raw, l.packed)
	return l
}

func (p *product) fetch(node string) (l nodeList, err error) {
	request, err := http.NewRequest(http.MethodGet, p.url+"/targets?node="+node, nil)
	if err != nil {
		return l, err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := p.client.Do(request)
	if err != nil {
		return l, err
	}
	defer response.Body.Close()
	packed, err := io.ReadAll(response.Body)
	if err != nil {
		return l, err
	}
	unpacked, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return l, err
	}
	raw, err := io.Copy(io.Discard, unpacked)
	return nodeList{etag: response.Header.Get("ETag"), raw: int(raw), packed: len(packed)}, err
}

// probesAll waits until all targets have been probed since now, and wants them to be
// well.
func (p *product) probesAll(t *testing.T) {
	t.Helper()
	start := time.Now()
	cluster.Eventually(t, 3*readyTime, func() error { return p.probedSince(start) })
}

// rests waits until the process holds no more memory than this of its own. The pages
// of its file do not count, which all processes of a program share; and a new list
// takes more for a moment.
func (p *product) rests(t *testing.T, what string, bytes int64) {
	t.Helper()
	cluster.Eventually(t, 2*readyTime, func() error {
		memory, err := p.Memory()
		if err == nil && memory.Resident-memory.File > bytes {
			err = fmt.Errorf("%s holds %s; the goal is %d MiB without the file", what, memory, bytes>>20)
		}
		if err == nil {
			t.Logf("%s holds %s", what, memory)
		}
		return err
	})
}

// within wants the process never to have held more memory than this.
func (p *product) within(t *testing.T, what string, bytes int64) {
	t.Helper()
	memory, err := p.Memory()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s holds %s", what, memory)
	if memory.Peak > bytes {
		t.Errorf("%s held more than the goal, %d MiB", what, bytes>>20)
	}
}

// ignoresHeartbeats renews the status of all nodes. The hub hears of it and does
// nothing; only a change after it makes a new list.
func (p *product) ignoresHeartbeats(t *testing.T, c *cluster.Cluster, crowd *crowd, etag string) {
	t.Helper()
	const heard = `tlsprobe_watch_events_total{resource="nodes",source="kubernetes"}`
	events, before := p.mustMetric(t, heard), p.mustMetric(t, rebuilds)
	crowd.beat(t, allNodes)
	cluster.Eventually(t, readyTime, func() error {
		now, err := p.metric(heard)
		if err == nil && now < events+allNodes {
			err = fmt.Errorf("the hub has heard of %v heartbeats", now-events)
		}
		return err
	})
	if l, err := p.fetch(nodeName(0)); err != nil || l.etag != etag {
		t.Errorf("after heartbeats the list's ETag is %s (%v), and was %s", l.etag, err, etag)
	}
	mustApply(t, c, marker("last"))
	cluster.Eventually(t, readyTime, func() error {
		l, err := p.fetch(nodeName(0))
		if err == nil && l.etag == etag {
			err = fmt.Errorf("the hub has not noticed a new webhook")
		}
		return err
	})
	if after := p.mustMetric(t, rebuilds); after != before+1 {
		t.Errorf("the hub made %v lists; want 1, since heartbeats change none", after-before)
	}
}
