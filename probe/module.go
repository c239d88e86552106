package probe

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// A Prober probes by one protocol. Its exported fields, with yaml tags, are the
// settings that a module has under the prober's name. The implementations live
// in this package, one file each.
type Prober interface {
	// Validate returns the first setting that cannot work, as a *[SettingError]
	// where a key is to blame.
	Validate() error

	// endpoint says where t is reached. An error is a fault of the target's
	// configuration.
	endpoint(t *Target) (endpoint, error)

	// attempt probes a.Peer, one of the addresses of the endpoint, and fills in
	// a. It respects ctx and leaves nothing running.
	attempt(ctx context.Context, s *session, a *Attempt)
}

// An endpoint is a host and port to resolve and dial.
type endpoint struct {
	host      string // a name or an IP address
	port      uint16
	addresses AddressSettings
}

// A SettingError is a setting whose value cannot work.
type SettingError struct {
	Key string // dotted path below the prober's section: "tls_config.min_version"
	Msg string // what is wrong and what to write instead
}

func (e *SettingError) Error() string { return e.Key + ": " + e.Msg }

func settingErrorf(key, format string, args ...any) error {
	return &SettingError{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// kinds holds a constructor of each prober with its defaults; written by
// registerProber while the package is initialised and read-only afterwards.
var kinds = map[string]func() Prober{}

func registerProber(kind string, withDefaults func() Prober) bool {
	kinds[kind] = withDefaults
	return true
}

// Kinds returns the names of all probers, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// NewProber returns a prober with its default settings, ready to be decoded
// into, or nil if there is no such kind.
func NewProber(kind string) Prober {
	if withDefaults := kinds[kind]; withDefaults != nil {
		return withDefaults()
	}
	return nil
}

// named holds the built-in modules that are not simply a prober with its
// defaults; written by registerModule as kinds is by registerProber.
var named = map[string]namedModule{}

type namedModule struct {
	kind string
	make func() Prober
}

// registerModule adds a built-in module under a name that people know from
// blackbox_exporter.
func registerModule(name, kind string, make func() Prober) bool {
	named[name] = namedModule{kind, make}
	return true
}

// BuiltinModules returns the modules that need no entry in the configuration:
// one per prober, named after it, with its default settings, and those that
// blackbox_exporter ships by name. A prober that does not work without settings
// has none of its own name.
func BuiltinModules() map[string]*Module {
	out := map[string]*Module{}
	for kind, withDefaults := range kinds {
		if prober := withDefaults(); prober.Validate() == nil {
			out[kind] = &Module{Name: kind, Kind: kind, Prober: prober}
		}
	}
	for name, m := range named {
		out[name] = &Module{Name: name, Kind: m.kind, Prober: m.make()}
	}
	return out
}
