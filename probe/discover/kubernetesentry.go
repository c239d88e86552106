package discover

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"

	"k8s.io/apimachinery/pkg/labels"

	"tlsprobe/probe/discover/kubernetes"
)

// The defaults of a Kubernetes source.
const (
	defaultNeighbours      = 5
	defaultProbesPerSecond = 20
)

type kubernetesEntry struct {
	Kubeconfig        string        `yaml:"kubeconfig"`
	ClusterCAFile     agentFile     `yaml:"cluster_ca_file"`
	Kinds             []string      `yaml:"kinds"`
	Namespaces        []string      `yaml:"namespaces"`
	ExcludeNamespaces []string      `yaml:"exclude_namespaces"`
	Selector          selectorEntry `yaml:"selector"`
	Neighbours        int           `yaml:"neighbours"`
	ProbesPerSecond   float64       `yaml:"probes_per_second"`
}

// agentFile is a file of the machine that probes, which need not be this one.
type agentFile struct{ name string }

// UnmarshalText accepts an absolute name.
func (f *agentFile) UnmarshalText(text []byte) error {
	if f.name = string(text); !filepath.IsAbs(f.name) {
		return fmt.Errorf("%q is relative, and is read by agents on other machines; write an absolute path", text)
	}
	return nil
}

type selectorEntry struct{ labels.Selector }

// UnmarshalText accepts what kubectl's --selector does.
func (s *selectorEntry) UnmarshalText(text []byte) error {
	selector, err := labels.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is no label selector: %w; write one such as tier=edge,team!=x", text, err)
	}
	s.Selector = selector
	return nil
}

// kubernetesSource builds the source that is written at the path.
func (d *decoder) kubernetesSource(e *kubernetesEntry, at string, t times) Source {
	if e == nil {
		e = &kubernetesEntry{} // kubernetes: with nothing after it
	}
	if d.at[at+".neighbours"] == nil {
		e.Neighbours = defaultNeighbours
	}
	if d.at[at+".probes_per_second"] == nil {
		e.ProbesPerSecond = defaultProbesPerSecond
	}
	if e.Kubeconfig != "" {
		e.Kubeconfig = d.fileName(e.Kubeconfig, at+".kubeconfig")
	}
	d.checkKinds(e.Kinds, at+".kinds")
	d.checkPatterns(e.Namespaces, at+".namespaces")
	d.checkPatterns(e.ExcludeNamespaces, at+".exclude_namespaces")
	if e.Neighbours < 0 {
		d.failAt(at+".neighbours", "%d is below 0; write how many other nodes' kubelets each node probes", e.Neighbours)
	}
	if !(e.ProbesPerSecond >= 0) || math.IsInf(e.ProbesPerSecond, 0) {
		d.failAt(at+".probes_per_second", "%v is no rate; write a number such as 20, or 0 for no limit", e.ProbesPerSecond)
	}
	return &KubernetesSource{config: kubernetes.Config{
		Kubeconfig:        e.Kubeconfig,
		ClusterCAFile:     e.ClusterCAFile.name,
		Kinds:             e.Kinds,
		Namespaces:        e.Namespaces,
		ExcludeNamespaces: e.ExcludeNamespaces,
		Selector:          e.Selector.Selector,
		Neighbours:        e.Neighbours,
		ProbesPerSecond:   e.ProbesPerSecond,
		Interval:          t.interval,
		Timeout:           t.timeoutFor(t.interval),
	}}
}

func (d *decoder) checkKinds(kinds []string, at string) {
	if d.at[at] != nil && len(kinds) == 0 && !d.bad[at] {
		d.failAt(at, "names no kind, so that there would be no targets; write some, or remove the key for all of them")
	}
	known := map[string]bool{}
	for _, kind := range kubernetes.Kinds() {
		known[kind] = true
	}
	for i, kind := range kinds {
		if key := indexed(at, i); !known[kind] && !d.bad[key] {
			_, hint := suggest(kind, kubernetes.Kinds())
			d.failAt(key, "unknown kind %q%s", kind, hint)
		}
	}
}

// namespacePattern is what can match a namespace.
var namespacePattern = regexp.MustCompile(`^[a-z0-9*?\[\]^\\-]+$`)

func (d *decoder) checkPatterns(patterns []string, at string) {
	for i, pattern := range patterns {
		key := indexed(at, i)
		_, err := path.Match(pattern, "")
		switch {
		case d.bad[key]:
		case err != nil:
			d.failAt(key, "%q is no pattern; write a name, with * for any characters, ? for one and [a-c] for some", pattern)
		case !namespacePattern.MatchString(pattern):
			d.failAt(key, "%q matches no namespace, whose names have lower case letters, digits and -; write one, or a pattern such as team-*", pattern)
		}
	}
}
