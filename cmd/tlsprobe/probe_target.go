package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

const (
	defaultTimeout = 10 * time.Second
	defaultPort    = "443"
)

// resolve returns what the flags and arguments ask to be probed.
func (f *probeFlags) resolve() ([]*probe.Target, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	config := &discover.Config{Modules: probe.BuiltinModules()}
	if f.configFile != "" {
		var err error
		if config, err = readConfig(f.configFile, discover.Parse); err != nil {
			return nil, err
		}
	}
	var targets []*probe.Target
	for _, arg := range f.targets {
		t, err := f.target(arg, config)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// target returns what arg names: a target of config, else an address.
func (f *probeFlags) target(arg string, config *discover.Config) (*probe.Target, error) {
	t, err := named(arg, config)
	if err != nil {
		return nil, err
	}
	module := config.Modules[f.module]
	if f.module != "" && module == nil {
		return nil, unknownModule(f.module, config)
	}
	if t == nil {
		if t, err = addressed(arg, module, config); err != nil {
			return nil, err
		}
	}
	if module != nil {
		t.Module = module
	}
	if t.Module, err = f.override(t.Module); err != nil {
		return nil, err
	}
	if f.serverName != "" {
		t.ServerName = f.serverName
	}
	if f.caFile != "" {
		t.Trust = probe.Trust{File: f.caFile}
	}
	if f.timeout > 0 {
		t.Timeout = f.timeout
	}
	return t, nil
}

// named returns a copy of the target of config that is called arg, nil if arg
// can be an address only.
func named(arg string, config *discover.Config) (*probe.Target, error) {
	var names []string
	for _, t := range config.Targets {
		if t.Name == arg {
			found := *t
			return &found, nil
		}
		names = append(names, t.Name)
	}
	if len(names) == 0 || strings.ContainsAny(arg, ".:/") {
		return nil, nil
	}
	hint := ""
	if near := probe.Nearest(arg, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? "
	}
	return nil, fmt.Errorf("no target is called %q: %sTo probe a host of that name write %s:%s", arg, hint, arg, defaultPort)
}

// addressed returns the target that the address arg stands for: a URL for the
// http prober, anything else for the tls prober, unless a module is asked for.
func addressed(arg string, module *probe.Module, config *discover.Config) (*probe.Target, error) {
	t := &probe.Target{Name: arg, Schedule: probe.Schedule{Timeout: defaultTimeout}}
	var err error
	switch {
	case module != nil && module.Kind == "http" && !strings.Contains(arg, "://"):
		t.Address, err = checkURL("http://" + arg) // as blackbox_exporter reads it
	case module != nil && completing[module.Kind]:
		t.Address = arg
	case module != nil && module.Kind != "http" && strings.Contains(arg, "://"):
		return nil, fmt.Errorf("%q is a URL, and module %q has the prober %s: write HOST:PORT, or leave --module out", arg, module.Name, module.Kind)
	case strings.Contains(arg, "://"):
		t.Module = config.Modules["http"]
		t.Address, err = checkURL(arg)
	default:
		t.Module = config.Modules["tls"]
		t.Address, err = hostPort(arg)
	}
	return t, err
}

// completing are the probers that complete an address by ports of their own.
var completing = map[string]bool{"dns": true, "grpc": true, "otlp": true}

func checkURL(arg string) (string, error) {
	u, err := url.Parse(arg)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is no URL: %w", arg, errors.Unwrap(err))
	case u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("%q: only https and http URLs can be probed: write https://HOST/PATH, or HOST:PORT for another protocol over TLS", arg)
	case u.Hostname() == "":
		return "", fmt.Errorf("%q has no host: write https://HOST/PATH", arg)
	}
	return arg, nil
}

// hostPort completes arg, a host with or without a port, to host:port.
func hostPort(arg string) (string, error) {
	switch {
	case arg == "":
		return "", errors.New("the target is empty: write a host, host:port or a URL")
	case strings.Contains(arg, "/"):
		return "", fmt.Errorf("%q is neither a host nor host:port: write https://%s for a URL", arg, arg)
	}
	bare := arg
	if strings.HasPrefix(arg, "[") && strings.HasSuffix(arg, "]") {
		bare = arg[1 : len(arg)-1]
	}
	if addr, err := netip.ParseAddr(bare); err == nil {
		return net.JoinHostPort(addr.String(), defaultPort), nil
	}
	complete := arg
	if !strings.Contains(arg, ":") {
		complete += ":" + defaultPort
	}
	host, port, err := net.SplitHostPort(complete)
	if err != nil || host == "" || strings.ContainsFunc(host, isNoHost) {
		return "", fmt.Errorf("%q is no host:port: write HOST, HOST:PORT, or [IPV6]:PORT", arg)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q: port %q is no number from 1 to 65535", arg, port)
	}
	return complete, nil
}

// isNoHost reports whether c occurs in no host's name and no address.
func isNoHost(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`\@?#[]`, c) }

// unknownModule says what to write in place of a module that is not there. A
// prober that does not work without settings is no module, and says which.
func unknownModule(name string, config *discover.Config) error {
	if prober := probe.NewProber(name); prober != nil {
		missing := prober.Validate()
		return fmt.Errorf("%s is a prober and no module of its own, as it needs settings (%w): "+
			"write a module with prober: %[1]s in a file, and name both: --config.file=FILE --module=NAME", name, missing)
	}
	known := slices.Sorted(maps.Keys(config.Modules))
	if near := probe.Nearest(name, known); len(near) > 0 {
		known = near
	}
	return fmt.Errorf("no module is called %q: write one of %s", name, strings.Join(known, ", "))
}

// override returns m with the settings that the flags say: a client certificate,
// all addresses. A prober's settings are YAML by their nature, so the flags are
// too, and no prober needs a line here.
func (f *probeFlags) override(m *probe.Module) (*probe.Module, error) {
	settings := map[string]any{}
	if f.certFile != "" {
		settings["tls_config"] = map[string]string{"cert_file": f.certFile, "key_file": f.keyFile}
	}
	if f.all {
		settings["addresses"] = "all"
	}
	if len(settings) == 0 {
		return m, nil
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("writing settings: %w", err)
	}
	prober := reflect.New(reflect.TypeOf(m.Prober).Elem())
	prober.Elem().Set(reflect.ValueOf(m.Prober).Elem())
	changed := *m
	changed.Prober = prober.Interface().(probe.Prober)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(changed.Prober); err != nil {
		return nil, fmt.Errorf("module %q cannot take --cert-file or --all-addresses: %w", m.Name, err)
	}
	return &changed, changed.Prober.Validate()
}
