package discover

import (
	"path/filepath"
	"reflect"
	"time"

	"tlsprobe/probe"
)

// The defaults of the configuration. Where an interval leaves no room for
// defaultTimeout, the default is half of the interval.
const (
	defaultInterval = 30 * time.Second
	defaultTimeout  = 10 * time.Second
)

// A Config is what one configuration file says, checked and complete.
// It is read-only, and a [Source] of all its targets.
type Config struct {
	Interval, Timeout time.Duration
	Modules           map[string]*probe.Module // built-ins and the file's, by name
	Targets           []*probe.Target          // of the file, with Interval and Timeout filled in
	Sources           []Source                 // of more targets
	Allow             probe.AllowList          // probe_endpoint.allow
	Warnings          Errors                   // what the file says in vain

	// Shadowed, if not nil, is called with each target that is left out because its
	// name belongs to an earlier list, each time the lists are joined; never
	// concurrently. Set it before Run.
	Shadowed func(*probe.Target)

	files []fileSetting
}

// Parse reads a configuration from the bytes of a file. Relative names of other
// files start from the file's folder. The error is [Errors], with all that is
// wrong; files that the configuration names are left to [Config.CheckFiles].
func Parse(file string, data []byte) (*Config, error) {
	return parse(file, data, func(*decoder, *grammar) {})
}

// parse is [Parse] with a further check.
func parse(file string, data []byte, check func(*decoder, *grammar)) (*Config, error) {
	root, syntax := parseYAML(file, data)
	if syntax != nil {
		return nil, Errors{syntax}
	}
	d := newDecoder(file, filepath.Dir(file))
	var g grammar
	d.value(root, reflect.ValueOf(&g).Elem(), "")
	c := &Config{Modules: modules(g.Modules), Allow: g.ProbeEndpoint.Allow.list}
	times := d.times(times{interval: defaultInterval}, "", g.Interval, g.Timeout)
	c.Interval, c.Timeout = times.interval, times.timeoutFor(times.interval)
	rules := targetRules{modules: c.Modules, times: times}
	c.Targets = rules.targets(d, g.Targets)
	for i := range g.Sources {
		c.Sources = append(c.Sources, d.source(&g.Sources[i], indexed("sources", i), rules))
	}
	check(d, &g)
	if len(d.errs) > 0 {
		d.errs.sort()
		return nil, d.errs
	}
	d.warns.sort()
	c.files, c.Warnings = d.files, d.warns
	return c, nil
}
