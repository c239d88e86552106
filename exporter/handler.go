package exporter

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"tlsprobe/probe"
)

// A Config says what a [Handler] serves. Store and Runner are needed; functions
// that are nil stand for nothing to say.
type Config struct {
	Store  *Store
	Runner *probe.Runner // for /probe

	Modules func() map[string]*probe.Module // for addresses given to /probe; nil: the built-in ones
	Allow   func() probe.AllowList          // which addresses /probe may dial beside known targets; nil: none

	Sources func() []Source // where targets come from

	Reload func() error // loads the configuration anew
	Ready  func() error // why the agent is not ready yet: never because of results

	Node    string
	Version string
	// Registry may hold further metrics to serve. New adds those of the process
	// and the agent, so a registry serves one Handler.
	Registry *prometheus.Registry
	Log      *slog.Logger
}

// A Handler serves all that people and machines read.
type Handler struct {
	control
	reloads
	store   *Store
	runner  *probe.Runner
	modules func() map[string]*probe.Module
	allow   func() probe.AllowList
	sources func() []Source
	node    string
	version string
	log     *slog.Logger
	meters  *meters
	live    *live // runs for people
	scraped *live // runs for scrapes
}

// New returns the handler of c.
func New(c Config) *Handler {
	h := &Handler{
		store:   c.Store,
		runner:  c.Runner,
		modules: c.Modules,
		allow:   c.Allow,
		sources: c.Sources,
		control: newControl(c.Reload, c.Ready, agentPaths),
		reloads: newReloads(),
		node:    c.Node,
		version: c.Version,
		log:     c.Log,
		live:    newLive(c.Store.now, maxLive),
		scraped: newLive(c.Store.now, maxScraped),
	}
	if h.modules == nil {
		h.modules = probe.BuiltinModules
	}
	if h.allow == nil {
		h.allow = func() probe.AllowList { return nil }
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.sources == nil {
		h.sources = func() []Source { return nil }
	}
	h.meters = newMeters(c.Registry, c.Store.phases, h.sources, h.reloads)
	h.routes()
	return h
}

const agentPaths = "/, /metrics, /probe?target=NAME, /targets, /results, /-/healthy or /-/ready"

func (h *Handler) routes() {
	h.mux.Handle("GET /metrics", &metricsPage{store: h.store, meters: h.meters, node: h.node, log: h.log})
	h.mux.HandleFunc("/probe", h.probe) // by any method, as blackbox_exporter
	h.mux.HandleFunc("GET /targets", h.listTargets)
	h.mux.HandleFunc("GET /results", h.listResults)
	h.mux.HandleFunc("GET /{$}", h.landing)
}
