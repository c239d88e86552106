package exporter

import (
	_ "embed"
	"html/template"
	"net/http"
	"time"
)

var (
	//go:embed hub.html
	hubHTML string

	hubTemplate = template.Must(template.New("hub").Parse(hubHTML))
)

// A hubPage is what the landing page of a hub shows.
type hubPage struct {
	Version string
	Ready   error // why there is no list yet
	Nodes   int
	Bytes   int // of the packed list
	Since   string
	Kinds   []kindCount
	Sources []sourceRow
}

// A sourceRow is a source on a landing page.
type sourceRow struct {
	Name, Age, Trouble string
	Targets            int
	Watches            []watchRow
}

// A watchRow is a watch on a landing page.
type watchRow struct {
	Resource, State, Class, Age, Trouble string
	Objects                              int
}

// sourceRows shows sources as they are now.
func sourceRows(sources []Source, now time.Time) []sourceRow {
	var out []sourceRow
	for _, s := range sources {
		row := sourceRow{Name: s.Name, Targets: s.Targets, Age: "none yet", Trouble: errorText(s.Err)}
		if !s.Updated.IsZero() {
			row.Age = rough(now.Sub(s.Updated)) + " ago"
		}
		for _, w := range s.Watches {
			row.Watches = append(row.Watches, newWatchRow(w, now))
		}
		out = append(out, row)
	}
	return out
}

func newWatchRow(w Watch, now time.Time) watchRow {
	row := watchRow{Resource: w.Resource, State: w.State, Objects: w.Objects, Trouble: errorText(w.Err)}
	switch w.State {
	case "synced":
		row.Class = "ok"
	case "forbidden", "failing":
		row.Class = "failing"
	default:
		row.Class = "pending"
	}
	if !w.LastEvent.IsZero() {
		row.Age = rough(now.Sub(w.LastEvent)) + " ago"
	}
	return row
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// landing serves /: links to all there is, and how the hub knows what it knows.
func (h *Hub) landing(w http.ResponseWriter, _ *http.Request) {
	p := hubPage{Version: h.version, Ready: h.unready(), Sources: sourceRows(h.sources(), time.Now())}
	if l := h.listing.Load(); l != nil {
		p.Nodes, p.Bytes, p.Kinds, p.Since = l.Nodes, len(l.packed), l.kinds(), timestamp(l.published)
	}
	writePage(w, h.log, hubTemplate, p)
}
