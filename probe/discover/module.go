package discover

import (
	"errors"
	"maps"
	"time"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
)

// moduleEntry is a module: a prober's name, and a section of settings for it.
type moduleEntry struct {
	kind       string
	timeout    time.Duration
	sslMetrics bool
	prober     probe.Prober // nil if its settings cannot work, or the prober is foreign
}

// foreignProbers are those of blackbox_exporter that tlsprobe does not have, with
// what they do. A module with one is left out with a warning: a blackbox.yml as
// it is shipped has some, and the rest of it is of use.
var foreignProbers = map[string]string{
	"icmp":      "sends pings",
	"unix":      "talks to a Unix socket",
	"websocket": "opens a WebSocket",
}

// decodeNode implements nodeDecoder. The sections of other probers than the
// module's are checked as well and then ignored, as blackbox_exporter does.
func (m *moduleEntry) decodeNode(d *decoder, n *yaml.Node, path string) {
	keys := map[string]any{"prober": &m.kind, "timeout": &m.timeout, "ssl_metrics": &m.sslMetrics}
	for _, kind := range probe.Kinds() {
		keys[kind] = probe.NewProber(kind)
	}
	for kind := range foreignProbers {
		keys[kind] = new(any)
	}
	d.keys(n, keys, path)
	if d.bad[path] || d.bad[path+".prober"] {
		return
	}
	prober, ok := keys[m.kind].(probe.Prober)
	switch does := foreignProbers[m.kind]; {
	case does != "":
		d.warnAt(path+".prober", "the module is left out: blackbox_exporter's prober %s, which %s, is none of tlsprobe's; keep blackbox_exporter for it",
			m.kind, does)
	case m.kind == "":
		d.failAt(path+".prober", "is missing; write %s", oneOf(probe.Kinds()))
	case !ok:
		_, hint := suggest(m.kind, probe.Kinds())
		d.failAt(path+".prober", "unknown prober %q%s", m.kind, hint)
	case m.timeout != 0 && m.timeout < shortest:
		d.failAt(path+".timeout", "%s is too short; write %s or more", m.timeout, shortest)
	default:
		m.validate(d, prober, path+"."+m.kind)
	}
}

// validate keeps the prober if its settings, written at the path, can work.
func (m *moduleEntry) validate(d *decoder, prober probe.Prober, path string) {
	err := prober.Validate()
	var setting *probe.SettingError
	switch {
	case err == nil:
		m.prober = prober
	case errors.As(err, &setting):
		if path += "." + setting.Key; !d.bad[path] {
			d.failAt(path, "%s", setting.Msg)
		}
	default:
		d.failAt(path, "%s", err)
	}
}

// modules returns the built-in modules and those of the file, which may take a
// built-in's name. One whose settings cannot work has no prober, nor has one
// whose prober is foreign.
func modules(written map[string]moduleEntry) map[string]*probe.Module {
	out := maps.Clone(probe.BuiltinModules())
	for name, m := range written {
		out[name] = m.module(name)
	}
	return out
}

func (m *moduleEntry) module(name string) *probe.Module {
	return &probe.Module{Name: name, Kind: m.kind, Timeout: m.timeout, SSLMetrics: m.sslMetrics, Prober: m.prober}
}
