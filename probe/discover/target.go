package discover

import (
	"cmp"
	"crypto/x509"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tlsprobe/probe"
)

// targetRules are what the targets of one list are judged by.
type targetRules struct {
	modules map[string]*probe.Module
	times   times
}

// targets builds the targets that are written as a list under "targets".
func (r targetRules) targets(d *decoder, entries []targetEntry) []*probe.Target {
	out := make([]*probe.Target, len(entries))
	named := map[string]string{}
	for i := range entries {
		path := indexed("targets", i)
		out[i] = r.target(d, &entries[i], path, named)
		r.checkAddress(d, out[i], path)
	}
	return out
}

// target builds the target that is written at the path, and tells what is wrong
// with it. named holds the paths of the targets before it by their names.
func (r targetRules) target(d *decoder, e *targetEntry, path string, named map[string]string) *probe.Target {
	if d.bad[path] {
		return nil
	}
	t := &probe.Target{
		Name:       e.Name,
		Address:    e.Address,
		ServerName: e.ServerName,
		Trust:      probe.Trust{File: e.CAFile, PEM: e.CA, System: e.SystemRoots},
		Labels:     probe.LabelsOf(e.Labels),
	}
	if e.Address == "" && !d.bad[path+".address"] {
		d.failAt(path+".address", "is missing; write host:port, or a URL")
	}
	if t.Name == "" {
		t.Name = t.Address
	}
	d.checkName(t.Name, path, named)
	d.checkTrust(e, path)
	d.checkLabels(e.Labels, path+".labels")
	t.Module = r.module(d, e, path)
	t.Routes = routes(d, e.Routes, t.Module, path+".routes")
	t.Schedule = r.times.schedule(d, e, t.Module, path)
	return t
}

// checkAddress tells what is wrong with the address of the target that is written
// at the path, if it is one.
func (r targetRules) checkAddress(d *decoder, t *probe.Target, path string) {
	if t == nil || t.Address == "" || d.bad[path+".address"] || t.Module == nil || t.Module.Prober == nil {
		return
	}
	if msg := checkAddress(t.Address, t.Module); msg != "" {
		d.failAt(path+".address", "%s", msg)
	}
}

// module returns the module of a target: by default http for a URL, else tls.
func (r targetRules) module(d *decoder, e *targetEntry, path string) *probe.Module {
	name := e.Module
	switch {
	case name != "":
	case isURL(e.Address):
		name = "http"
	default:
		name = "tls"
	}
	m := r.modules[name]
	switch {
	case m == nil:
		_, hint := suggest(name, slices.Collect(maps.Keys(r.modules)))
		d.failAt(path+".module", "unknown module %q%s", name, hint)
	case m.Prober == nil && foreignProbers[m.Kind] != "":
		d.failAt(path+".module", "module %q has the prober %s, which is none of tlsprobe's%s", name, m.Kind, alsoAt(d.at["modules."+name]))
	}
	return m
}

// routes builds the routes that are written at the path.
func routes(d *decoder, entries []routeEntry, m *probe.Module, path string) []probe.Route {
	var out []probe.Route
	for i, e := range entries {
		at := indexed(path, i)
		switch key := at + ".address"; {
		case d.bad[at] || d.bad[key]:
		case e.Address == "":
			d.failAt(key, "is missing; write host:port, the address to dial")
		case isURL(e.Address):
			d.failAt(key, "%q is a URL; write host:port, as a route changes nothing but where is dialled", e.Address)
		default:
			if msg := checkHostPort(e.Address); msg != "" {
				d.failAt(key, "%s", msg)
			}
		}
		out = append(out, probe.Route{Via: cmp.Or(e.Via, e.Address), Address: e.Address})
	}
	if m == nil || len(out) == 0 {
		return out
	}
	if p, ok := m.Prober.(*probe.HTTPProber); ok && p.UsesProxy() {
		d.failAt(path, "go through no proxy, and module %q has one; remove the routes, or name another module", m.Name)
	}
	return out
}

func (d *decoder) checkName(name, path string, named map[string]string) {
	if name == "" {
		return
	}
	key := path + ".name"
	if d.at[key] == nil {
		key = path + ".address"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		d.failAt(key, "%q holds a space or an unprintable character; a name is typed in URLs", name)
	}
	if first, taken := named[name]; taken {
		d.failAt(key, "%q is the name of %s already%s; give this target another name",
			name, first, alsoAt(d.at[first]))
		return
	}
	named[name] = path
}

func (d *decoder) checkTrust(e *targetEntry, path string) {
	if e.CA != "" && e.CAFile != "" {
		d.failAt(path+".ca", "excludes ca_file%s; write one of them", alsoAt(d.at[path+".ca_file"]))
		return
	}
	if e.CA != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(e.CA)) {
		d.failAt(path+".ca", "holds no certificate; write PEM (-----BEGIN CERTIFICATE-----), or use ca_file")
	}
}

// labelName is what Prometheus takes without quoting.
var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// reservedLabels are those that our metrics or Prometheus set itself.
var reservedLabels = []string{"target", "module", "address", "instance", "job"}

func (d *decoder) checkLabels(labels map[string]string, path string) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		key := keyPath(path, name)
		switch {
		case !labelName.MatchString(name):
			d.failAt(key, "is no label name; write letters, digits and _, not beginning with a digit")
		case strings.HasPrefix(name, "__"):
			d.failAt(key, "is reserved by Prometheus; write a name without __")
		case slices.Contains(reservedLabels, name):
			d.failAt(key, "is set by tlsprobe or Prometheus; write another name, such as %q", "target_"+name)
		}
	}
}

func indexed(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
