package lab

import (
	"cmp"
	"net/http"

	"tlsprobe/probe"
)

const otlpTraces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// otlpScenarios are OTLP receivers. Those in a mesh stand in incidentScenarios.
func otlpScenarios() []Scenario {
	return []Scenario{
		{Name: "good-otlp-grpc", Summary: "a receiver of OTLP over gRPC, without TLS",
			start: func(i *Instance) error { return i.receiveAt(h2c(), "grpc", "") }},
		{Name: "good-otlp-http", Summary: "a receiver of OTLP over HTTP, without TLS",
			start: func(i *Instance) error { return i.receiveAt(http1(), "http", "plaintext") }},
		{Name: "good-otlp-tls", Summary: "a receiver of OTLP over gRPC and TLS",
			start: func(i *Instance) error { return i.receiveTLS("grpc", "tls") }},
		{Name: "otlp-http-on-grpc-port", Summary: "a receiver of OTLP over gRPC, sent an export over HTTP",
			Reasons: []string{"otlp_protocol_mismatch"},
			start:   func(i *Instance) error { return i.receiveAt(h2c(), "http", "plaintext") }},
		{Name: "otlp-grpc-on-http-port", Summary: "a receiver of OTLP over HTTP, sent an export over gRPC",
			Reasons: []string{"otlp_protocol_mismatch"},
			start:   func(i *Instance) error { return i.receiveAt(http1(), "grpc", "plaintext") }},
		{Name: "otlp-not-mutual", Summary: "a receiver over TLS that asks for no client certificate, where one is to be demanded",
			Reasons: []string{"otlp_expectation"},
			start:   func(i *Instance) error { return i.receiveTLS("grpc", "mtls") }},
	}
}

// otlpModule returns a module of the otlp prober.
func otlpModule(protocol, expect string) *probe.Module {
	p := probe.NewProber("otlp").(*probe.OTLPProber)
	p.Protocol, p.Expect = protocol, expect
	return &probe.Module{Name: "otlp", Kind: "otlp", Prober: p}
}

// receiveAt runs a receiver without TLS that speaks these protocols.
func (i *Instance) receiveAt(speaks *http.Protocols, protocol, expect string) error {
	i.Target.Module = otlpModule(protocol, expect)
	return i.plainAt(speaks, receiver())
}

// receiveTLS runs a receiver over good TLS.
func (i *Instance) receiveTLS(protocol, expect string) error {
	err := i.requestAt(receiver())
	i.Target.Address = hostPort(i.Target.Address)
	i.Target.Module = otlpModule(protocol, expect)
	return err
}

// http1 is HTTP/1 alone.
func http1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// receiver answers empty exports of traces, over gRPC and over HTTP.
func receiver() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST "+otlpTraces, answerGRPC(otlpTraces, nil))
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", cmp.Or(r.Header.Get("Content-Type"), "text/plain"))
	})
	return mux
}
