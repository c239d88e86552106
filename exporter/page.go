package exporter

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"tlsprobe/probe"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS []byte

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// maxRows is how many targets the landing page lists: those that fail come first.
const maxRows = 500

// A page is what the landing page shows.
type page struct {
	Node, Version                 string
	Failing, Warning, Pending, OK int
	Rows                          []row
	Sources                       []sourceRow
	Left                          int // targets that are not listed
}

// A row is a target on the landing page.
type row struct {
	Name, Word, Class, Reason, Since, Strip, Expiry string

	rank int
}

// Title is what a reason's id stands for.
func (page) Title(id string) string {
	if r := probe.Lookup(id); r != nil {
		return r.Title
	}
	return ""
}

// landing serves /: links to all there is, and the targets, those that fail first.
func (h *Handler) landing(w http.ResponseWriter, _ *http.Request) {
	writePage(w, h.log, pageTemplate, h.newPage())
}

func writePage(w http.ResponseWriter, log *slog.Logger, as *template.Template, page any) {
	var body bytes.Buffer
	if err := as.Execute(&body, page); err != nil {
		log.Error("the landing page could not be written", "err", err)
		http.Error(w, "the page could not be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Write(body.Bytes())
}

func style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Write(styleCSS)
}

func (h *Handler) newPage() page {
	p := page{Node: h.node, Version: h.version, Sources: sourceRows(h.sources(), h.store.now())}
	for _, v := range h.store.Views() {
		r := newRow(v, h.store.now())
		*[]*int{&p.Failing, &p.Warning, &p.Pending, &p.OK}[r.rank]++
		p.Rows = append(p.Rows, r)
	}
	slices.SortStableFunc(p.Rows, func(a, b row) int { return cmp.Compare(a.rank, b.rank) })
	p.Left = max(0, len(p.Rows)-maxRows)
	p.Rows = p.Rows[:len(p.Rows)-p.Left]
	return p
}

func newRow(v View, now time.Time) row {
	r := row{Name: v.Target.Name, Strip: strip(v.History[max(0, len(v.History)-30):])}
	if v.Result == nil {
		r.Word, r.Class, r.rank = "wait", "pending", 2
		return r
	}
	switch v.outcome() {
	case OutcomeFailure:
		r.Word, r.Class, r.rank = "FAIL", "failing", 0
	case OutcomeWarning:
		r.Word, r.Class, r.rank = "WARN", "warning", 1
	default:
		r.Word, r.Class, r.rank = "ok", "ok", 3
	}
	if worst := v.Result.Worst(); worst != nil {
		r.Reason = worst.Reason.ID
	}
	r.Since = timestamp(v.Since)
	if longestChain(v.Result) > 0 {
		r.Expiry = remaining(earliestNotAfter(v.Result, 0), now)
	}
	return r
}
