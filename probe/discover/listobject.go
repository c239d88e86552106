package discover

import (
	"errors"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

// A listReader reads a [listGrammar]. What one target is written with and is not
// understood does not cost the target where it can be told instead: the hub may
// be newer than its readers.
type listReader struct {
	d       *decoder
	rules   targetRules
	cas     map[string]string
	named   map[string]string // see [targetRules.target]
	targets []*probe.Target
}

// object reads a list that is written as an object. An error says that it is
// something else.
func (r targetRules) object(d *decoder, root *yaml.Node) ([]*probe.Target, error) {
	d.lenient = true
	var g listGrammar
	d.value(root, reflect.ValueOf(&g).Elem(), "")
	if at := d.at["targets"]; at == nil || at.Kind != yaml.SequenceNode {
		return nil, errors.New("it has no list of targets in it")
	}
	l := &listReader{d: d, rules: r, cas: map[string]string{}, named: map[string]string{}}
	l.read(&g, "")
	return l.targets, nil
}

// read adds the targets of the list that is written at the path.
func (l *listReader) read(g *listGrammar, path string) {
	l.rules.times = l.d.times(l.rules.times, path, g.Interval, g.Timeout)
	l.rules.modules = maps.Clone(l.rules.modules)
	for key, m := range g.Modules {
		l.rules.modules[key] = m.module(moduleName(key))
	}
	maps.Copy(l.cas, g.CAs)
	list := keyPath(path, "targets")
	broken := l.broken(list)
	for i := range g.Targets {
		e, at := &g.Targets[i], indexed(list, i)
		switch {
		case broken[at]:
		case len(e.Names) == 0:
			l.add(e, at)
		default:
			for _, name := range e.Names {
				named := e.named(name)
				l.add(&named, at)
			}
		}
	}
	if g.Own != nil {
		l.read(g.Own, keyPath(path, "own"))
	}
}

// broken returns the items of the list at the path that could not be read whole.
func (l *listReader) broken(path string) map[string]bool {
	out := map[string]bool{}
	for key := range l.d.bad {
		if item, ok := strings.CutPrefix(key, path+"["); ok {
			index, _, _ := strings.Cut(item, "]")
			out[path+"["+index+"]"] = true
		}
	}
	return out
}

// add makes the target of the entry at the path.
func (l *listReader) add(e *listEntry, path string) {
	before := len(l.d.errs)
	l.knowModule(e.Target.Module)
	t := l.rules.target(l.d, &e.Target, path, l.named)
	if e.CAID != "" {
		pem, known := l.cas[e.CAID]
		if !known {
			l.d.failAt(path+".ca_id", "%q is not among the cas of the list", e.CAID)
		}
		t.Trust.PEM = pem
	}
	t.Faults = l.faults(e.Faults, path+".faults")
	t.Undialled = e.Undialled
	if t.Module != nil && t.Module.Prober == nil {
		t.Faults, t.Undialled = append(t.Faults, unusable(t.Module)), true
	}
	if !t.Undialled {
		l.rules.checkAddress(l.d, t, path)
	}
	if t.Undialled && len(t.Faults) == 0 { // nothing was found wrong, but nothing was looked at
		t.Faults = append(t.Faults, unexplained())
	}
	if len(l.d.errs) == before {
		l.targets = append(l.targets, t)
	}
}

// knowModule puts a module that cannot probe in the place of one that is not
// known here, or whose prober is not.
func (l *listReader) knowModule(name string) {
	if m := l.rules.modules[name]; name != "" && (m == nil || m.Prober == nil) {
		l.rules.modules[name] = &probe.Module{Name: moduleName(name)}
	}
}

func unusable(m *probe.Module) probe.Problem {
	return probe.Problem{
		Reason: probe.Lookup("target_misconfigured"),
		Detail: "the list of targets names the module " + strconv.Quote(m.Name) + ", which cannot be used here",
		Notes:  []string{"write a module of this name into the configuration of the agents, or bring them up to the version of what sends the list"},
	}
}

func unexplained() probe.Problem {
	return probe.Problem{
		Reason: probe.Lookup("target_misconfigured"),
		Detail: "the list of targets says that this one cannot be dialled, and not why in words that this version of tlsprobe knows",
		Notes:  []string{"bring the agents up to the version of what sends the list"},
	}
}

// faults returns the problems that are written at the path. A fault whose reason
// is not known here still fails its target, and a warning does not.
func (l *listReader) faults(entries []faultEntry, path string) []probe.Problem {
	var out []probe.Problem
	for i, f := range entries {
		p := probe.Problem{Reason: probe.Lookup(f.Reason), Detail: f.Detail, Expected: f.Expected, Received: f.Received, Notes: f.Notes}
		if p.Reason == nil {
			l.d.warnAt(indexed(path, i)+".reason", "%q is no reason that this version of tlsprobe knows", f.Reason)
			if f.Warning {
				continue
			}
			p.Reason = probe.Lookup("target_misconfigured")
			p.Notes = append(p.Notes, "the list of targets calls this "+strconv.Quote(f.Reason)+", which this version of tlsprobe does not know")
		}
		out = append(out, p)
	}
	return out
}
