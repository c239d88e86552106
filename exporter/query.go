package exporter

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A query is what a request for /probe asks.
type query struct {
	target, module string
	format         format
	strict         bool          // a failure answers 503
	timeout        time.Duration // what the asker's patience allows; 0: not said
}

// A format is a form of an answer.
type format string

const (
	formatText    format = "text"
	formatJSON    format = "json"
	formatMetrics format = "metrics"
)

// A refusal is an answer to a request that led to no probe.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, text string, args ...any) error {
	return &refusal{status, fmt.Sprintf(text, args...)}
}

// parseQuery reads a request for /probe. Parameters that it does not know are
// ignored: a Prometheus Probe object may send any.
func parseQuery(r *http.Request) (query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return query{}, refuse(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	for _, name := range []string{"target", "module", "format", "strict"} {
		if n := len(values[name]); n > 1 {
			return query{}, refuse(http.StatusBadRequest, "the parameter %s is given %d times: give it once", name, n)
		}
	}
	q := query{target: values.Get("target"), module: values.Get("module")}
	const maxTarget = 2048 // longer than any name or URL that works elsewhere
	switch {
	case q.target == "":
		return q, refuse(http.StatusBadRequest, "the parameter target is missing: write /probe?target=NAME; /targets lists the names")
	case len(q.target) > maxTarget:
		return q, refuse(http.StatusBadRequest, "the parameter target has %d bytes: at most %d make sense", len(q.target), maxTarget)
	case q.target != printable(q.target):
		return q, refuse(http.StatusBadRequest, "the parameter target holds characters that are not printable ASCII")
	}
	if q.strict, err = parseStrict(values.Get("strict")); err != nil {
		return q, err
	}
	if q.timeout, err = parseScrapeTimeout(r.Header.Get(scrapeTimeoutHeader)); err != nil {
		return q, err
	}
	q.format, err = chooseFormat(values.Get("format"), r.Header)
	return q, err
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
// back, as blackbox_exporter does.
func parseScrapeTimeout(header string) (time.Duration, error) {
	if header == "" {
		return 0, nil
	}
	const offset = 0.5
	s, err := strconv.ParseFloat(header, 64)
	if err != nil || !(s > 0 && s < time.Hour.Seconds()) {
		return 0, refuse(http.StatusBadRequest, "the header %s is no number of seconds: %q", scrapeTimeoutHeader, header)
	}
	if s > offset {
		s -= offset
	}
	return time.Duration(s * float64(time.Second)), nil
}

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
