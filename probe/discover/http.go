package discover

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"tlsprobe/probe"
)

// An HTTPSource fetches a JSON list of targets from a URL, again and again. An
// entry has the keys that a target has in the configuration file. On any error
// it keeps the last good list.
type HTTPSource struct {
	// Node, if not empty, is added to the URL as node=, unless its query has one: a
	// hub answers with the list of that node. Set it before Run.
	Node string
	// Report, if not nil, is called with the first status and whenever what is
	// wrong has changed, so that each trouble is logged once. Set it before Run.
	Report func(SourceStatus)

	url       string
	refresh   time.Duration
	caFile    string // re-read for each request
	tokenFile string // likewise
	rules     targetRules

	mu       sync.Mutex // protects what follows
	status   SourceStatus
	body     []byte // of the list in use
	etag     string // of the list in use
	left     error  // the entries that were left out of it
	reported bool
}

// A SourceStatus is how a source fares.
type SourceStatus struct {
	Source      string    // the URL that is asked, or [KubernetesName]
	LastSuccess time.Time // when the list in use was last known to be the newest; zero: there is none yet
	Targets     int       // how many the list in use has
	// Err is why there is no newer list, or which entries of the list in use
	// were left out ([Errors]); nil if all is well.
	Err error
}

const (
	fetchTimeout = 10 * time.Second
	// maxList bounds an unpacked list: 5,000 targets with a CA of 4 KB each.
	maxList = 32 << 20
	// firstRetry is how soon a failed request is repeated; it doubles up to the
	// refresh interval.
	firstRetry = time.Second
)

// Status returns how the source fares now. It may be called at any time.
func (s *HTTPSource) Status() SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Source = s.url
	return status
}

// Run implements [Source].
func (s *HTTPSource) Run(ctx context.Context, set func([]*probe.Target)) error {
	failures := 0 // since the last good answer
	for {
		list, changed, err := s.update(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if changed {
			set(list)
		}
		s.note(err)
		failures++
		if err == nil {
			failures = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(pause(failures, s.refresh))):
		}
	}
}

// pause is how long to wait after so many failures in a row.
func pause(failures int, refresh time.Duration) time.Duration {
	if failures == 0 || failures > 10 {
		return refresh
	}
	return min(firstRetry<<(failures-1), refresh)
}

// jitter spreads the requests of many agents: 90% to 110% of d.
func jitter(d time.Duration) time.Duration {
	return time.Duration((0.9 + 0.2*rand.Float64()) * float64(d))
}

// update asks for the list once. It keeps and returns a new one.
func (s *HTTPSource) update(ctx context.Context) (list []*probe.Target, changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	response, err := s.get(ctx)
	if err != nil {
		return nil, false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		s.confirm(asOf(response))
		return nil, false, nil
	default:
		return nil, false, fmt.Errorf("%s answers %s", s.url, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxList+1))
	if err != nil {
		return nil, false, fmt.Errorf("reading the list from %s: %w", s.url, err)
	}
	if len(body) > maxList {
		return nil, false, fmt.Errorf("the list at %s is longer than %d bytes", s.url, maxList)
	}
	list, left, err := s.rules.parseList(s.url, body)
	switch {
	case err != nil && strings.HasPrefix(response.Header.Get("Content-Type"), "text/html"):
		return nil, false, fmt.Errorf("%s answers with a page, and no list; that of a hub is at /targets", s.url)
	case err != nil:
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body, s.etag, s.left = body, response.Header.Get("ETag"), left.err()
	s.status.Targets, s.status.LastSuccess = len(list), asOf(response)
	return list, true, nil
}

// confirm notes that the list in use was still the newest at that time.
func (s *HTTPSource) confirm(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.After(s.status.LastSuccess) {
		s.status.LastSuccess = at
	}
}

// asOf returns when who answers last knew the answer to be the newest: a hub that
// has lost its cluster says so by an Age (RFC 9111, Section 5.1).
func asOf(response *http.Response) time.Time {
	age, err := strconv.ParseUint(response.Header.Get("Age"), 10, 31)
	if err != nil {
		age = 0 // it says none
	}
	return time.Now().Add(-time.Duration(age) * time.Second)
}

func (s *HTTPSource) get(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	if query := request.URL.Query(); s.Node != "" && !query.Has("node") {
		query.Set("node", s.Node)
		request.URL.RawQuery = query.Encode()
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "tlsprobe")
	s.mu.Lock()
	if s.etag != "" {
		request.Header.Set("If-None-Match", s.etag)
	}
	s.mu.Unlock()
	if s.tokenFile != "" {
		token, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("reading the token for %s: %w", s.url, err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	client, err := s.client()
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

// client returns a client for one request: they are too rare to keep a
// connection, and the CA may have been renewed.
func (s *HTTPSource) client() (*http.Client, error) {
	trust := &tls.Config{}
	if s.caFile != "" {
		pem, err := os.ReadFile(s.caFile)
		if err != nil {
			return nil, fmt.Errorf("reading the CA for %s: %w", s.url, err)
		}
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA for %s: %q holds no certificate in PEM", s.url, s.caFile)
		}
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: sameScheme,
	}, nil
}

// sameScheme refuses to follow a redirect from https to http, which would show
// the token to the network, and a tenth one.
func sameScheme(next *http.Request, via []*http.Request) error {
	if via[0].URL.Scheme != next.URL.Scheme && next.URL.Scheme != "https" {
		return errors.New("redirected from https to http")
	}
	if len(via) >= 10 {
		return errors.New("redirected ten times")
	}
	return nil
}

// note keeps the outcome of an update, and reports it if it is news.
func (s *HTTPSource) note(err error) {
	s.mu.Lock()
	if err == nil {
		err = s.left
	}
	news := !s.reported || text(s.status.Err) != text(err)
	s.status.Err, s.reported = err, true
	s.mu.Unlock()
	if news && s.Report != nil {
		s.Report(s.Status())
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// inherit takes the list but not its ETag: the first answer is judged anew.
func (s *HTTPSource) inherit(from *HTTPSource) {
	from.mu.Lock()
	defer from.mu.Unlock()
	s.body = from.body
	s.status.LastSuccess = from.status.LastSuccess
}

// inherited returns the targets of an inherited list by the rules of this
// configuration.
func (s *HTTPSource) inherited() []*probe.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body == nil {
		return nil
	}
	list, left, err := s.rules.parseList(s.url, s.body)
	if err != nil {
		return nil
	}
	s.left, s.status.Targets = left.err(), len(list)
	return list
}
