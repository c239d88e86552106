package exporter

import (
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/netip"
	"time"

	"tlsprobe/probe"
)

// schemaVersion counts incompatible changes of the JSON: a field that is removed
// or changes its meaning. New fields do not count. SCHEMA.md describes it.
const schemaVersion = 1

// WriteJSON writes v as one JSON object, described in SCHEMA.md.
func WriteJSON(w io.Writer, v View) error {
	return encodeJSON(w, newResultJSON(v))
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

type resultJSON struct {
	SchemaVersion int          `json:"schema_version"`
	Target        targetJSON   `json:"target"`
	Status        string       `json:"status"` // "ok", "failing", "pending"
	Reason        string       `json:"reason,omitempty"`
	Reasons       []string     `json:"reasons"`
	Node          string       `json:"node,omitempty"`
	Version       string       `json:"version,omitempty"`
	Start         *time.Time   `json:"start,omitempty"`
	Duration      seconds      `json:"duration_seconds"`
	Live          bool         `json:"live"`
	Age           seconds      `json:"age_seconds"`
	Next          seconds      `json:"next_run_seconds,omitempty"`
	Since         *time.Time   `json:"since,omitempty"`
	History       string       `json:"history,omitempty"`
	LastFailure   *failureJSON `json:"last_failure,omitempty"`

	Attempts []attemptJSON `json:"attempts"`
}

// seconds is a duration as a JSON number of seconds.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

type targetJSON struct {
	Name       string            `json:"name"`
	Address    string            `json:"address"`
	ServerName string            `json:"server_name,omitempty"`
	Module     string            `json:"module"`
	Prober     string            `json:"prober"`
	Interval   seconds           `json:"interval_seconds,omitempty"`
	Timeout    seconds           `json:"timeout_seconds,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Routes     []routeJSON       `json:"routes,omitempty"`
	Undialled  bool              `json:"undialled,omitempty"`
}

type routeJSON struct {
	Via     string `json:"via"`
	Address string `json:"address"`
}

type failureJSON struct {
	Start  time.Time `json:"start"`
	Reason string    `json:"reason"`
	Detail string    `json:"detail,omitempty"`
}

type attemptJSON struct {
	Via      string             `json:"via,omitempty"`
	Peer     string             `json:"peer,omitempty"`
	Local    string             `json:"local,omitempty"`
	Resolver string             `json:"resolver,omitempty"`
	Phases   map[string]seconds `json:"phases"`
	Problems []problemJSON      `json:"problems"`
	TLS      *tlsJSON           `json:"tls,omitempty"`
	HTTP     *httpJSON          `json:"http,omitempty"`
	QUIC     *quicJSON          `json:"quic,omitempty"`
	DNS      *dnsJSON           `json:"dns,omitempty"`
	TCP      *tcpJSON           `json:"tcp,omitempty"`
	GRPC     *grpcJSON          `json:"grpc,omitempty"`
	OTLP     *otlpJSON          `json:"otlp,omitempty"`
}

type problemJSON struct {
	Reason    string   `json:"reason"`
	Phase     string   `json:"phase"`
	Severity  string   `json:"severity"`
	Title     string   `json:"title"`
	Detail    string   `json:"detail,omitempty"`
	Expected  string   `json:"expected,omitempty"`
	Received  string   `json:"received,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Breaks    string   `json:"breaks,omitempty"`
	OtherSide string   `json:"other_side,omitempty"`
	Causes    []string `json:"causes,omitempty"`
	Fixes     []string `json:"fixes,omitempty"`
	Cite      string   `json:"cite,omitempty"`
	Error     string   `json:"error,omitempty"`
}

func newResultJSON(v View) resultJSON {
	out := resultJSON{
		SchemaVersion: schemaVersion,
		Target:        newTargetJSON(v.target()),
		Status:        v.status(),
		Reasons:       []string{},
		Version:       v.Version,
		Live:          v.Live,
		Age:           seconds(v.Age),
		Next:          seconds(v.Next),
		Since:         timeJSON(v.Since),
		History:       strip(v.History),
		Attempts:      []attemptJSON{},
	}
	if v.LastFailure != nil {
		worst := v.LastFailure.Worst()
		out.LastFailure = &failureJSON{v.LastFailure.Start.UTC(), worst.Reason.ID, worst.Detail}
	}
	if v.Result == nil {
		return out
	}
	out.Node = v.Result.Node
	out.Start = timeJSON(v.Result.Start)
	out.Duration = seconds(v.Result.Duration)
	if worst := v.Result.Worst(); worst != nil {
		out.Reason = worst.Reason.ID
	}
	for _, r := range v.Result.Reasons() {
		out.Reasons = append(out.Reasons, r.ID)
	}
	for i := range v.Result.Attempts {
		out.Attempts = append(out.Attempts, newAttemptJSON(&v.Result.Attempts[i]))
	}
	return out
}

func newTargetJSON(t *probe.Target) targetJSON {
	out := targetJSON{
		Name:       t.Name,
		Address:    t.Address,
		ServerName: t.ServerName,
		Module:     t.Module.Name,
		Prober:     t.Module.Kind,
		Interval:   seconds(t.Interval),
		Timeout:    seconds(t.Timeout),
		Labels:     t.Labels.Map(),
		Undialled:  t.Undialled,
	}
	for _, route := range t.Routes {
		out.Routes = append(out.Routes, routeJSON(route))
	}
	return out
}

func newAttemptJSON(a *probe.Attempt) attemptJSON {
	out := attemptJSON{
		Via:      a.Via,
		Peer:     addressJSON(a.Peer),
		Local:    addressJSON(a.Local),
		Resolver: a.Resolver,
		Phases:   map[string]seconds{},
		Problems: []problemJSON{},
		TLS:      newTLSJSON(a.TLS),
		HTTP:     newHTTPJSON(a.HTTP),
		QUIC:     newQUICJSON(a.QUIC),
		DNS:      newDNSJSON(a.DNS),
		TCP:      newTCPJSON(a.TCP),
		GRPC:     newGRPCJSON(a.GRPC),
		OTLP:     newOTLPJSON(a.OTLP),
	}
	for phase, took := range a.Phases {
		if took > 0 {
			out.Phases[probe.Phase(phase).String()] = seconds(took)
		}
	}
	for i := range a.Problems {
		out.Problems = append(out.Problems, newProblemJSON(&a.Problems[i]))
	}
	return out
}

func newProblemJSON(p *probe.Problem) problemJSON {
	r := p.Reason
	out := problemJSON{
		Reason:    r.ID,
		Phase:     r.Phase.String(),
		Severity:  r.Severity.String(),
		Title:     r.Title,
		Detail:    p.Detail,
		Expected:  p.Expected,
		Received:  p.Received,
		Notes:     p.Notes,
		Breaks:    r.Breaks,
		OtherSide: r.OtherSide,
		Causes:    r.Causes,
		Fixes:     r.Fixes,
		Cite:      r.Cite,
	}
	if p.Err != nil {
		out.Error = p.Err.Error()
	}
	return out
}

// timeJSON leaves out what is zero.
func timeJSON(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func addressJSON(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func pemOf(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

func hexOf(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
