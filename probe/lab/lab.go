// Package lab runs servers on loopback that misbehave on demand, with a CA of
// their own: the peers of every package's tests, and what `tlsprobe lab` shows a
// newcomer. Each [Scenario] is a real server in one kind of trouble, and says
// which reasons tlsprobe must find there.
//
// It is not a simulation of tlsprobe: it knows targets and probers' settings of
// package probe, and nothing of how they are judged.
//
// Start reading at [Scenarios]; the servers are in one file per kind of trouble.
package lab

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"tlsprobe/probe"
)

// A Scenario is one server that misbehaves in one way, or is good, and what
// tlsprobe must say of it.
type Scenario struct {
	Name     string   // "kubelet-no-ip-san"; the name of its target
	Incident string   // title of the incident that it retells, "" for the others
	Summary  string   // what the server does, in one line
	Reasons  []string // ids of the reasons to be found, the verdict first; empty: OK

	// start runs the servers of an instance and completes its target.
	start func(*Instance) error
}

// Scenarios returns every scenario that this operating system can play, good
// ones first. Names are unique.
func Scenarios() []Scenario {
	return slices.Concat(
		goodScenarios(),
		incidentScenarios(),
		configScenarios(),
		clusterScenarios(),
		routeScenarios(),
		nameScenarios(),
		connectScenarios(),
		endingScenarios(),
		plaintextScenarios(),
		alertScenarios(),
		negotiationScenarios(),
		clientCertScenarios(),
		certificateScenarios(),
		redirectScenarios(),
		requestScenarios(),
		dnsScenarios(),
		tcpScenarios(),
		startTLSScenarios(),
		grpcScenarios(),
		otlpScenarios(),
		answerScenarios(),
		quicScenarios(),
		hostileScenarios(),
		linuxScenarios(),
	)
}

// A Lab owns the CA and the running scenarios. It is safe for concurrent use.
type Lab struct {
	CA  *CA
	dns *DNSServer // knows the targets' names
	dir string     // for what must be a file; removed by Close

	mu        sync.Mutex
	instances []*Instance
	rsaKeys   map[int]*rsa.PrivateKey // by bits: they are slow to make
}

// New returns a lab with a CA and no servers yet. Close it.
func New() (*Lab, error) {
	ca, err := NewCA("tlsprobe lab CA")
	if err != nil {
		return nil, fmt.Errorf("making the lab's CA: %w", err)
	}
	dir, err := os.MkdirTemp("", "tlsprobe-lab-")
	if err != nil {
		return nil, fmt.Errorf("making the lab's directory: %w", err)
	}
	dns, err := StartDNS()
	if err != nil {
		os.Remove(dir)
		return nil, err
	}
	return &Lab{CA: ca, dns: dns, dir: dir, rsaKeys: map[int]*rsa.PrivateKey{}}, nil
}

// Start runs the servers of s until the instance or the lab is closed.
func (l *Lab) Start(s Scenario) (*Instance, error) {
	i := newInstance(l, s)
	if err := s.start(i); err != nil {
		i.Close()
		return nil, fmt.Errorf("starting the lab's %q: %w", s.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instances = append(l.instances, i)
	return i, nil
}

// Close ends every server, connection and goroutine of the lab, and removes its
// files. The lab cannot be used afterwards.
func (l *Lab) Close() error {
	l.mu.Lock()
	instances := l.instances
	l.instances = nil
	l.mu.Unlock()
	var errs []error
	for _, i := range instances {
		errs = append(errs, i.Close())
	}
	return errors.Join(append(errs, l.dns.Close(), os.RemoveAll(l.dir))...)
}

// mkdir makes a directory that lives as long as the lab.
func (l *Lab) mkdir() (string, error) { return os.MkdirTemp(l.dir, "") }

// rsaKey returns the lab's RSA key of this size.
func (l *Lab) rsaKey(bits int) (*rsa.PrivateKey, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := l.rsaKeys[bits]; key != nil {
		return key, nil
	}
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("making an RSA key of %d bits: %w", bits, err)
	}
	l.rsaKeys[bits] = key
	return key, nil
}

// Times of the lab's targets. A peer that hangs costs its whole timeout, so
// those get the short one.
const (
	interval     = 10 * time.Second
	timeout      = 5 * time.Second
	shortTimeout = time.Second
)

// tlsModule returns a module of the tls prober with its default settings, edited.
func tlsModule(edits ...func(*probe.TLSProber)) *probe.Module {
	p := probe.NewProber("tls").(*probe.TLSProber)
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "tls", Kind: "tls", Prober: p}
}

// httpModule returns a module of the http prober with its default settings, edited.
func httpModule(edits ...func(*probe.HTTPProber)) *probe.Module {
	p := probe.NewProber("http").(*probe.HTTPProber)
	for _, edit := range edits {
		edit(p)
	}
	return &probe.Module{Name: "http", Kind: "http", Prober: p}
}
