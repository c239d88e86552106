package exporter

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tlsprobe/probe"
)

// A query is what a request for /probe asks.
type query struct {
	target, module string
	hostname       string // the name that the server goes by, "" for the target's
	format         format
	strict         bool          // a failure answers 503
	debug          bool          // answer as blackbox_exporter does to debug=true
	timeout        time.Duration // what the asker's patience allows; 0: not said
}

// A format is a form of an answer.
type format string

const (
	formatText    format = "text"
	formatJSON    format = "json"
	formatMetrics format = "metrics"
)

// A refusal is an answer to a request that led to no probe. The texts of those
// that blackbox_exporter knows as well are its own; the hint is for people.
type refusal struct {
	status     int
	text, hint string
}

func (r *refusal) Error() string { return r.text + r.hint }

func refuse(status int, text string, args ...any) *refusal {
	return &refusal{status: status, text: fmt.Sprintf(text, args...)}
}

func (r *refusal) hinting(hint string) *refusal {
	r.hint = hint
	return r
}

// parseQuery reads a request for /probe. Parameters that it does not know are
// ignored: a Prometheus Probe object may send any. What is wrong is told in
// blackbox_exporter's order, and the format is known even then.
func parseQuery(r *http.Request, modules map[string]*probe.Module) (query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := query{
		target:   values.Get("target"),
		module:   values.Get("module"),
		hostname: values.Get("hostname"),
		debug:    values.Get("debug") == "true",
	}
	var wrong error
	q.format, wrong = chooseFormat(values.Get("format"), r.Header)
	if err != nil {
		return q, refuse(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	if wrong != nil {
		return q, wrong
	}
	if err := q.checkOnce(values); err != nil {
		return q, err
	}
	if q.module != "" && modules[q.module] == nil {
		return q, refuse(http.StatusBadRequest, "Unknown module %q", q.module).
			hinting(meant(probe.Nearest(q.module, slices.Sorted(maps.Keys(modules)))))
	}
	if q.timeout, err = parseScrapeTimeout(r.Header.Get(scrapeTimeoutHeader)); err != nil {
		return q, err
	}
	if q.strict, err = parseStrict(values.Get("strict")); err != nil {
		return q, err
	}
	return q, q.checkTexts()
}

// checkOnce refuses a parameter that is given twice. A scraper's first one counts,
// as it does for blackbox_exporter: its parameters are lists.
func (q *query) checkOnce(values url.Values) error {
	if q.format == formatMetrics {
		return nil
	}
	for _, name := range []string{"target", "module", "hostname", "format", "strict"} {
		if n := len(values[name]); n > 1 {
			return refuse(http.StatusBadRequest, "the parameter %s is given %d times: give it once", name, n)
		}
	}
	return nil
}

func (q *query) checkTexts() error {
	const maxTarget = 2048 // longer than any name or URL that works elsewhere
	switch {
	case q.target == "":
		return refuse(http.StatusBadRequest, "Target parameter is missing").hinting(": write /probe?target=NAME; /targets lists the names")
	case len(q.target) > maxTarget:
		return refuse(http.StatusBadRequest, "the parameter target has %d bytes: at most %d make sense", len(q.target), maxTarget)
	case q.target != printable(q.target):
		return refuse(http.StatusBadRequest, "the parameter target holds characters that are not printable ASCII")
	case len(q.hostname) > maxTarget || q.hostname != printable(q.hostname) || strings.ContainsAny(q.hostname, " /"):
		return refuse(http.StatusBadRequest, "the parameter hostname is no name of a host")
	}
	return nil
}

func parseStrict(value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	strict, err := strconv.ParseBool(value)
	if err != nil {
		return false, refuse(http.StatusBadRequest, "strict=%s is neither 1 nor 0", printable(value))
	}
	return strict, nil
}

// scrapeTimeoutHeader is what Prometheus sends with a scrape: how many seconds
// it waits for the answer.
const scrapeTimeoutHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// parseScrapeTimeout leaves half a second of what Prometheus waits for the way
// back, as blackbox_exporter does. A number that makes no sense says nothing.
func parseScrapeTimeout(header string) (time.Duration, error) {
	if header == "" {
		return 0, nil
	}
	s, err := strconv.ParseFloat(header, 64)
	if err != nil {
		return 0, refuse(http.StatusInternalServerError, "Failed to parse timeout from Prometheus header: %s", err)
	}
	if !(s > 0 && s < time.Hour.Seconds()) {
		return 0, nil
	}
	timeout := time.Duration(s * float64(time.Second))
	if timeout > timeoutOffset {
		timeout -= timeoutOffset
	}
	return timeout, nil
}

const (
	// timeoutOffset is what of a scrape's timeout is left for the way back.
	timeoutOffset = 500 * time.Millisecond
	// scrapePatience is the timeout of a scrape that names none.
	scrapePatience = 120*time.Second - timeoutOffset
)

// chooseFormat takes the format that is asked for by name, else the one that the
// headers fit, else text.
func chooseFormat(named string, h http.Header) (format, error) {
	switch f := format(named); f {
	case formatText, formatJSON, formatMetrics:
		return f, nil
	case "":
	default:
		return "", refuse(http.StatusBadRequest, "format=%s is none of text, json, metrics", printable(named))
	}
	if h.Get(scrapeTimeoutHeader) != "" {
		return formatMetrics, nil
	}
	if strings.HasPrefix(h.Get("User-Agent"), "kubectl/") {
		return formatText, nil // kubectl get --raw accepts JSON first, and a person reads it
	}
	for accepted := range strings.SplitSeq(h.Get("Accept"), ",") {
		mediaType, params, _ := strings.Cut(strings.TrimSpace(accepted), ";")
		switch strings.ToLower(strings.TrimSpace(mediaType)) {
		case "application/json":
			return formatJSON, nil
		case "application/openmetrics-text", "application/vnd.google.protobuf":
			return formatMetrics, nil
		case "text/plain":
			if strings.Contains(params, "version=") {
				return formatMetrics, nil // a scraper: people's programs do not name a version
			}
			return formatText, nil
		case "text/html":
			return formatText, nil
		}
	}
	return formatText, nil
}
