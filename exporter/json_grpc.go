package exporter

import (
	"google.golang.org/grpc/codes"

	"tlsprobe/probe"
)

type grpcJSON struct {
	Code    string  `json:"code"`
	Serving string  `json:"serving,omitempty"`
	Check   seconds `json:"check_seconds"`
}

type otlpJSON struct {
	Signal   string `json:"signal"`
	Protocol string `json:"protocol"`
	Speaks   string `json:"speaks,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Mesh     string `json:"mesh,omitempty"`
}

func newGRPCJSON(g *probe.GRPC) *grpcJSON {
	if g == nil {
		return nil
	}
	return &grpcJSON{codes.Code(g.Code).String(), g.Serving, seconds(g.Check)}
}

func newOTLPJSON(o *probe.OTLP) *otlpJSON {
	if o == nil {
		return nil
	}
	return &otlpJSON{o.Signal, o.Protocol, o.Speaks, o.Answer, o.Mesh}
}
