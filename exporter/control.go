package exporter

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

// control answers what asks about the process itself, of an agent or a hub, which
// add what they serve beside that to its mux.
type control struct {
	mux    *http.ServeMux
	reload func() error // loads the configuration anew
	ready  func() error // why it is not ready yet: never because of results
	paths  string       // what else there is, for those who are lost
}

// newControl returns a control; functions that are nil stand for nothing to say.
func newControl(reload, ready func() error, paths string) control {
	nothing := func() error { return nil }
	if reload == nil {
		reload = nothing
	}
	if ready == nil {
		ready = nothing
	}
	c := control{http.NewServeMux(), reload, ready, paths}
	c.mux.HandleFunc("GET /-/healthy", c.healthy)
	c.mux.HandleFunc("GET /-/ready", c.readiness)
	c.mux.HandleFunc("POST /-/reload", c.reloadConfig)
	c.mux.HandleFunc("GET /style.css", style)
	c.mux.HandleFunc("/", c.misdirected)
	return c
}

// ServeHTTP implements [http.Handler].
func (c control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What is shown holds what peers chose: no browser may take it for another type.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	c.mux.ServeHTTP(w, r)
}

// healthy answers for as long as the process serves at all.
func (c control) healthy(w http.ResponseWriter, _ *http.Request) {
	writePlain(w, http.StatusOK, "healthy")
}

func (c control) readiness(w http.ResponseWriter, _ *http.Request) {
	if err := c.ready(); err != nil {
		writePlain(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
		return
	}
	writePlain(w, http.StatusOK, "ready")
}

func (c control) reloadConfig(w http.ResponseWriter, _ *http.Request) {
	if err := c.reload(); err != nil {
		writePlain(w, http.StatusInternalServerError, "the configuration in force stays: "+err.Error())
		return
	}
	writePlain(w, http.StatusOK, "reloaded")
}

// misdirected answers what asks for a path or by a method that there is not.
func (c control) misdirected(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/-/reload":
		w.Header().Set("Allow", http.MethodPost)
		writePlain(w, http.StatusMethodNotAllowed, "/-/reload takes a POST: curl -X POST")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		writePlain(w, http.StatusMethodNotAllowed, "this path takes a GET, and no "+printable(r.Method))
	default:
		writePlain(w, http.StatusNotFound, "nothing is here: see "+c.paths)
	}
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}

// reloads are the metrics of loading the configuration.
type reloads struct {
	good prometheus.Gauge
	time prometheus.Gauge
}

func newReloads() reloads {
	return reloads{
		good: prometheus.NewGauge(gaugeOpts("tlsprobe_config_last_reload_successful")),
		time: prometheus.NewGauge(gaugeOpts("tlsprobe_config_last_reload_success_timestamp_seconds")),
	}
}

// ConfigLoaded notes how an attempt to load the configuration ended.
func (r reloads) ConfigLoaded(err error) {
	r.good.Set(boolean(err == nil))
	if err == nil {
		r.time.SetToCurrentTime()
	}
}
