package exporter_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

func TestControl(t *testing.T) {
	fail := func() error { return errors.New("config.yaml:3:5: no such key") }
	for _, test := range []struct {
		name, method, path string
		config             exporter.Config
		status             int
		says               string
	}{
		{"healthy", "GET", "/-/healthy", exporter.Config{}, 200, "healthy"},
		{"ready", "GET", "/-/ready", exporter.Config{}, 200, "ready"},
		{"not ready", "GET", "/-/ready", exporter.Config{Ready: fail}, 503, "config.yaml:3:5"},
		{"reload", "POST", "/-/reload", exporter.Config{}, 200, "reloaded"},
		{"reload fails", "POST", "/-/reload", exporter.Config{Reload: fail}, 500, "config.yaml:3:5: no such key"},
		{"reload by GET", "GET", "/-/reload", exporter.Config{}, 405, "/-/reload takes a POST"},
		{"probe by POST", "POST", "/probe?target=a", exporter.Config{}, 404, "no target has the name"},
		{"nothing there", "GET", "/nothing", exporter.Config{}, 404, "see /, /metrics, /probe?target=NAME"},
		{"metrics by POST", "POST", "/metrics", exporter.Config{}, 405, "takes a GET, and no POST"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Store, test.config.Runner = exporter.NewStore(nil), probe.NewRunner("")
			w := httptest.NewRecorder()
			exporter.New(test.config).ServeHTTP(w, httptest.NewRequest(test.method, test.path, nil))
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
			if allowed := w.Header().Get("Allow") != ""; allowed != (w.Code == http.StatusMethodNotAllowed) {
				t.Errorf("status %d with the headers %v", w.Code, w.Header())
			}
		})
	}
}

// populated has a target in each state; names sort against the states.
func populated() *exporter.Store {
	ok, warning, failing, pending := *kong, *kong, *kong, *kong
	ok.Name, pending.Name, warning.Name, failing.Name = "a-ok", "b-pending", "c-warning", `d-failing"><script>`
	store := exporter.NewStore(nil)
	store.SetTargets([]*probe.Target{&ok, &warning, &failing, &pending})
	store.Record(result(&ok, attempt("10.0.0.1:443")))
	store.Record(withReasons(result(&warning, attempt("10.0.0.1:443")), "weak_crypto"))
	store.Record(withReasons(result(&failing, attempt("10.0.0.1:443")), "cert_expired", "weak_crypto"))
	return store
}

func TestLandingPage(t *testing.T) {
	answer := get(t, newHandler(populated()), "/")
	if csp := answer.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	text := body(t, answer)
	last := -1
	for _, want := range []string{
		"1 failing</strong>, 1 with a warning, 1 pending, 1 ok",
		`href="metrics"`, `href="results"`, `href="targets"`, `href="-/healthy"`, `href="-/ready"`,
		"FAIL", "d-failing&#34;&gt;&lt;script&gt;", "cert_expired", "WARN", "c-warning", "weak_crypto", "b-pending", `href="probe?target=a-ok"`,
	} {
		i := strings.Index(text, want)
		if i < 0 {
			t.Errorf("the page lacks %q", want)
		} else if i < last {
			t.Errorf("%q is not where it belongs", want)
		}
		last = i
	}
	if strings.Contains(text, "<script>") {
		t.Error("a target's name is not escaped")
	}
	if style := get(t, newHandler(populated()), "/style.css"); style.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Error("no style sheet")
	}
}

// How old the targets of each source are shows where people look.
func TestSourcesAreShown(t *testing.T) {
	h := exporter.New(exporter.Config{Store: exporter.NewStore(nil), Runner: probe.NewRunner(""), Sources: func() []exporter.Source {
		return []exporter.Source{
			{Name: "http://hub/", Updated: time.Now().Add(-5 * time.Minute), Targets: 7, Err: errors.New("<away>")},
			{Name: "http://new/"},
		}
	}})
	page := body(t, get(t, h, "/"))
	for _, want := range []string{"<td>http://hub/</td><td>7</td>", "5 min ago", "&lt;away&gt;", "none yet"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	var list struct {
		Sources []struct {
			Name, Updated, Error string
			Age                  float64 `json:"age_seconds"`
			Targets              int
		}
	}
	if err := json.NewDecoder(get(t, h, "/targets").Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if hub := list.Sources[0]; len(list.Sources) != 2 || hub.Age < 300 || hub.Targets != 7 || hub.Error != "<away>" || hub.Updated == "" {
		t.Errorf("sources %+v", list.Sources)
	}
}

func TestLandingPageIsBounded(t *testing.T) {
	var targets []*probe.Target
	for i := range 501 {
		numbered := *kong
		numbered.Name = strings.Repeat("x", i+1)
		targets = append(targets, &numbered)
	}
	store := exporter.NewStore(nil)
	store.SetTargets(targets)
	text := body(t, get(t, newHandler(store), "/"))
	if rows := strings.Count(text, "<tr class="); rows != 500 || !strings.Contains(text, "1 more in") {
		t.Errorf("%d rows", rows)
	}
}

func TestLists(t *testing.T) {
	h := newHandler(populated())
	for _, test := range []struct {
		path string
		key  string
		want []string
	}{
		{"/targets", "name", []string{"a-ok", "b-pending", "c-warning", `d-failing"><script>`}},
		{"/results", "target", []string{"a-ok", "b-pending", "c-warning", `d-failing"><script>`}},
		{"/results", "status", []string{"ok", "pending", "ok", "failing"}},
	} {
		answer := get(t, h, test.path)
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, %s", test.path, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
		var list struct {
			SchemaVersion int              `json:"schema_version"`
			Items         []map[string]any `json:"items"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range list.Items {
			got = append(got, item[test.key].(string))
		}
		if list.SchemaVersion != 1 || strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s: %s is %q, want %q", test.path, test.key, got, test.want)
		}
	}
}
