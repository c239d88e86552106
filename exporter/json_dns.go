package exporter

import "tlsprobe/probe"

type dnsJSON struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Class      string         `json:"class"`
	Transport  string         `json:"transport"`
	RetriedTCP bool           `json:"retried_over_tcp"`
	Answer     *dnsAnswerJSON `json:"answer,omitempty"`
}

type dnsAnswerJSON struct {
	RCode              string   `json:"rcode"`
	Authoritative      bool     `json:"authoritative"`
	RecursionAvailable bool     `json:"recursion_available"`
	Answers            int      `json:"answer_rrs"`
	Authority          int      `json:"authority_rrs"`
	Additional         int      `json:"additional_rrs"`
	Serial             uint32   `json:"serial,omitempty"`
	Records            []string `json:"records"`
}

func newDNSJSON(d *probe.DNS) *dnsJSON {
	if d == nil {
		return nil
	}
	out := &dnsJSON{Name: d.Name, Type: d.Type, Class: d.Class, Transport: d.Transport, RetriedTCP: d.Retried}
	if d.Answered {
		out.Answer = &dnsAnswerJSON{
			RCode:              d.RCode,
			Authoritative:      d.Authoritative,
			RecursionAvailable: d.RecursionAvailable,
			Answers:            d.Answers,
			Authority:          d.Authority,
			Additional:         d.Additional,
			Serial:             d.Serial,
			Records:            append([]string{}, d.Records...),
		}
	}
	return out
}
