package exporter

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/collectors/version"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tlsprobe/probe"
)

// A HubConfig says what a [Hub] serves. Functions that are nil stand for nothing
// to say.
type HubConfig struct {
	Sources func() []Source // where targets come from
	Reload  func() error    // loads the configuration anew
	Version string
	Log     *slog.Logger
}

// A Hub serves what agents and Prometheus ask a hub for: the targets of each node.
type Hub struct {
	control
	reloads
	sources func() []Source
	version string
	log     *slog.Logger
	listing atomic.Pointer[listing] // nil until the first was published

	registry *prometheus.Registry
	requests *prometheus.CounterVec
}

// NewHub returns the hub of c.
func NewHub(c HubConfig) *Hub {
	h := &Hub{sources: c.Sources, version: c.Version, log: c.Log, registry: prometheus.NewRegistry()}
	if h.sources == nil {
		h.sources = func() []Source { return nil }
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.control = newControl(c.Reload, h.unready, hubPaths)
	h.reloads = newReloads()
	requests := described("tlsprobe_hub_requests_total")
	h.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: requests.name, Help: requests.help}, requests.labels)
	h.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		version.NewCollector("tlsprobe"),
		h.requests, h.reloads.good, h.reloads.time, newSourceCollector(h.sources), newListingCollector(h.listing.Load),
	)
	h.routes()
	return h
}

const hubPaths = "/, /targets?node=NAME, /sd, /metrics, /-/healthy or /-/ready"

func (h *Hub) routes() {
	h.mux.HandleFunc("GET /targets", h.listed("/targets", h.serveTargets))
	h.mux.HandleFunc("GET /sd", h.listed("/sd", h.serveSD))
	h.mux.Handle("GET /metrics", promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelError),
		EnableOpenMetrics: true,
	}))
	h.mux.HandleFunc("GET /{$}", h.landing)
}

// Publish makes l what is handed out.
func (h *Hub) Publish(l Listing) { h.listing.Store(newListing(l)) }

// unready returns why there is no list to hand out yet, or nil. Half of a list is
// none: the targets that it lacks would be gone.
func (h *Hub) unready() error {
	if h.listing.Load() != nil {
		return nil
	}
	var waiting []string
	for _, s := range h.sources() {
		if s.Err != nil {
			waiting = append(waiting, s.Err.Error())
		}
		waiting = append(waiting, unread(s.Watches)...)
	}
	if len(waiting) == 0 {
		return errors.New("the first list is being made")
	}
	return errors.New("the cluster has not been read yet; waiting for " + strings.Join(waiting, "; "))
}

// unread names the resources that have not been read and may be, and why: once for
// all that have it in common.
func unread(watches []Watch) []string {
	var reasons []string
	resources := map[string][]string{}
	for _, w := range watches {
		if w.State != "starting" && w.State != "failing" {
			continue
		}
		why := errorText(w.Err)
		if resources[why] == nil {
			reasons = append(reasons, why)
		}
		resources[why] = append(resources[why], w.Resource)
	}
	var out []string
	for _, why := range reasons {
		names := strings.Join(resources[why], ", ")
		if why != "" {
			names += ": " + why
		}
		out = append(out, names)
	}
	return out
}

// listed wraps what answers from the listing: it counts the answers, and gives one
// while there is no listing.
func (h *Hub) listed(path string, serve func(http.ResponseWriter, *http.Request, *listing)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		counted := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() { h.requests.WithLabelValues(path, strconv.Itoa(counted.status)).Inc() }()
		if l := h.listing.Load(); l != nil {
			serve(counted, r, l)
			return
		}
		writePlain(counted, http.StatusServiceUnavailable, h.unready().Error())
	}
}

// A statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// A Listing is what a hub knows at one moment. All in it is read-only.
type Listing struct {
	Nodes  int                                       // how many there are
	Common []*probe.Target                           // of every node, in order of their names
	Own    func(node string) []*probe.Target         // what that node has beside
	Head   []byte                                    // what the list of every node begins with: the common targets
	Tail   func(own []*probe.Target) ([]byte, error) // what completes it for a node with these
}

// hubMetrics describes the metrics of a hub in order of the names, but for those
// that agents have as well.
var hubMetrics = []metric{
	{"tlsprobe_hub_list_bytes", gauge, []string{"encoding"},
		"How long the list is that all nodes get, as it is (identity) and packed (gzip). What one node has beside comes on top.", nil},
	{"tlsprobe_hub_nodes", gauge, nil,
		"How many nodes the cluster has.", nil},
	{"tlsprobe_hub_requests_total", counter, []string{"path", "code"},
		"Requests answered, by the status of the answer: 304 where an agent has the newest list already.", nil},
	{"tlsprobe_hub_targets", gauge, []string{"kind"},
		"How many targets all nodes have. What each has of its own, as kubelets, is not in it.", nil},
}
