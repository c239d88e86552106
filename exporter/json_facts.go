package exporter

import (
	"time"

	"tlsprobe/probe"
)

type tlsJSON struct {
	Version             string            `json:"version,omitempty"`
	Cipher              string            `json:"cipher,omitempty"`
	Group               string            `json:"group,omitempty"`
	ALPN                string            `json:"alpn,omitempty"`
	ServerName          string            `json:"server_name,omitempty"`
	ClientCertRequested bool              `json:"client_certificate_requested"`
	ClientCertSent      bool              `json:"client_certificate_sent"`
	AcceptableCAs       []string          `json:"acceptable_cas,omitempty"`
	ClientCert          *certificateJSON  `json:"client_certificate,omitempty"`
	Stapled             *ocspJSON         `json:"stapled_ocsp,omitempty"`
	SCTs                int               `json:"scts"`
	Sent                int               `json:"certificates_sent"`
	Chain               []certificateJSON `json:"chain"`
}

type certificateJSON struct {
	Position       int       `json:"position"`
	Subject        string    `json:"subject"`
	Issuer         string    `json:"issuer"`
	Serial         string    `json:"serial"`
	DNSNames       []string  `json:"dns_names,omitempty"`
	IPAddresses    []string  `json:"ip_addresses,omitempty"`
	URIs           []string  `json:"uris,omitempty"`
	EmailAddresses []string  `json:"email_addresses,omitempty"`
	SANs           int       `json:"sans"`
	NotBefore      time.Time `json:"not_before"`
	NotAfter       time.Time `json:"not_after"`
	Key            string    `json:"key"`
	Signature      string    `json:"signature"`
	IsCA           bool      `json:"is_ca"`
	SelfSigned     bool      `json:"self_signed"`
	SCTs           int       `json:"scts,omitempty"`
	SHA256         string    `json:"sha256"`
	PEM            string    `json:"pem,omitempty"`
}

type ocspJSON struct {
	Status     string     `json:"status"`
	ThisUpdate *time.Time `json:"this_update,omitempty"`
	NextUpdate *time.Time `json:"next_update,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
}

type httpJSON struct {
	Hops          []hopJSON  `json:"hops"`
	Body          int64      `json:"body_bytes"`
	ContentLength int64      `json:"content_length"`
	LastModified  *time.Time `json:"last_modified,omitempty"`
	AltSvc        string     `json:"alt_svc,omitempty"`
}

type hopJSON struct {
	Method     string   `json:"method"`
	URL        string   `json:"url"`
	Peer       string   `json:"peer,omitempty"`
	Proxy      string   `json:"proxy,omitempty"`
	Proto      string   `json:"proto,omitempty"`
	Status     int      `json:"status,omitempty"`
	Location   string   `json:"location,omitempty"`
	Processing seconds  `json:"processing_seconds"`
	Transfer   seconds  `json:"transfer_seconds"`
	TLS        *tlsJSON `json:"tls,omitempty"`
}

func newTLSJSON(t *probe.TLS) *tlsJSON {
	if t == nil {
		return nil
	}
	out := &tlsJSON{
		Version:             versionName(t.Version),
		Cipher:              cipherName(t.Cipher),
		Group:               groupName(t.Group),
		ALPN:                t.ALPN,
		ServerName:          t.ServerName,
		ClientCertRequested: t.ClientCertRequested,
		ClientCertSent:      t.ClientCertSent,
		AcceptableCAs:       t.AcceptableCAs,
		SCTs:                t.SCTs,
		Sent:                t.Sent,
		Chain:               []certificateJSON{},
	}
	if t.ClientCert != nil {
		own := newCertificateJSON(0, t.ClientCert)
		out.ClientCert = &own
	}
	if o := t.Stapled; o != nil {
		out.Stapled = &ocspJSON{o.Status, timeJSON(o.ThisUpdate), timeJSON(o.NextUpdate), timeJSON(o.RevokedAt)}
	}
	for i, c := range t.Chain {
		out.Chain = append(out.Chain, newCertificateJSON(i, c))
	}
	return out
}

func newCertificateJSON(position int, c *probe.Certificate) certificateJSON {
	return certificateJSON{
		Position:       position,
		Subject:        c.Subject,
		Issuer:         c.Issuer,
		Serial:         c.Serial,
		DNSNames:       c.DNSNames,
		IPAddresses:    c.IPAddresses,
		URIs:           c.URIs,
		EmailAddresses: c.EmailAddresses,
		SANs:           c.SANs,
		NotBefore:      c.NotBefore.UTC(),
		NotAfter:       c.NotAfter.UTC(),
		Key:            c.Key,
		Signature:      c.Signature,
		IsCA:           c.IsCA,
		SelfSigned:     c.SelfSigned,
		SCTs:           c.SCTs,
		SHA256:         hexOf(c.SHA256),
		PEM:            pemOf(c.Raw),
	}
}

func newHTTPJSON(h *probe.HTTP) *httpJSON {
	if h == nil {
		return nil
	}
	out := &httpJSON{Hops: []hopJSON{}, Body: h.Body, ContentLength: h.ContentLength,
		LastModified: timeJSON(h.LastModified), AltSvc: h.AltSvc}
	for i := range h.Hops {
		hop := &h.Hops[i]
		out.Hops = append(out.Hops, hopJSON{
			Method:     hop.Method,
			URL:        hop.URL,
			Peer:       addressJSON(hop.Peer),
			Proxy:      hop.Proxy,
			Proto:      hop.Proto,
			Status:     hop.Status,
			Location:   hop.Location,
			Processing: seconds(hop.Processing),
			Transfer:   seconds(hop.Transfer),
			TLS:        newTLSJSON(hop.TLS),
		})
	}
	return out
}
