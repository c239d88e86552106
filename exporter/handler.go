package exporter

import (
	"log/slog"
	"net/http"

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
	mux     *http.ServeMux
	store   *Store
	runner  *probe.Runner
	modules func() map[string]*probe.Module
	allow   func() probe.AllowList
	sources func() []Source
	reload  func() error
	ready   func() error
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
		reload:  c.Reload,
		ready:   c.Ready,
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
	if h.reload == nil {
		h.reload = func() error { return nil }
	}
	if h.ready == nil {
		h.ready = func() error { return nil }
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.sources == nil {
		h.sources = func() []Source { return nil }
	}
	h.meters = newMeters(c.Registry, c.Store.phases, h.sources)
	h.mux = h.routes()
	return h
}

func (h *Handler) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", &metricsPage{store: h.store, meters: h.meters, node: h.node, log: h.log})
	mux.HandleFunc("/probe", h.probe) // by any method, as blackbox_exporter
	mux.HandleFunc("GET /targets", h.listTargets)
	mux.HandleFunc("GET /results", h.listResults)
	mux.HandleFunc("GET /-/healthy", h.healthy)
	mux.HandleFunc("GET /-/ready", h.readiness)
	mux.HandleFunc("POST /-/reload", h.reloadConfig)
	mux.HandleFunc("GET /{$}", h.landing)
	mux.HandleFunc("GET /style.css", h.style)
	mux.HandleFunc("/", misdirected)
	return mux
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What is shown holds what peers chose: no browser may take it for another type.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	h.mux.ServeHTTP(w, r)
}

// healthy answers for as long as the process serves at all.
func (h *Handler) healthy(w http.ResponseWriter, _ *http.Request) {
	writePlain(w, http.StatusOK, "healthy")
}

func (h *Handler) readiness(w http.ResponseWriter, _ *http.Request) {
	if err := h.ready(); err != nil {
		writePlain(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
		return
	}
	writePlain(w, http.StatusOK, "ready")
}

func (h *Handler) reloadConfig(w http.ResponseWriter, _ *http.Request) {
	if err := h.reload(); err != nil {
		writePlain(w, http.StatusInternalServerError, "the configuration in force stays: "+err.Error())
		return
	}
	writePlain(w, http.StatusOK, "reloaded")
}

// misdirected answers what asks for a path or by a method that there is not.
func misdirected(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/-/reload":
		w.Header().Set("Allow", http.MethodPost)
		writePlain(w, http.StatusMethodNotAllowed, "/-/reload takes a POST: curl -X POST")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		writePlain(w, http.StatusMethodNotAllowed, "this path takes a GET, and no "+printable(r.Method))
	default:
		writePlain(w, http.StatusNotFound, "nothing is here: see /, /metrics, /probe?target=NAME, /targets, /results, /-/healthy or /-/ready")
	}
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
