package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// maxOTLPAnswer bounds an answer, which is a few bytes (OTLP/HTTP Response).
const maxOTLPAnswer = 64 << 10

// post exports over HTTP/1.1 and parts.
func (e *export) post(ctx context.Context, l *leg, line duplex, over *conn) {
	defer line.part(ctx)
	hop := Hop{Method: http.MethodPost, Peer: l.Peer, TLS: l.TLS}
	x := httpExchange{conn: line, rec: recorderOf(line), hop: &hop, limit: maxOTLPAnswer}
	resp, problem := x.do(e.request(over != nil))
	l.Phases[PhaseRequest] += hop.Processing + hop.Transfer
	if resp == nil && over == nil && peerProtocol(x.rec.first(), nil) == "h2" {
		p := reasonOTLPProtocolMismatch.problem("HTTP/1.1 was answered by HTTP/2 frames: the port speaks gRPC")
		p.Expected, p.Received = "an answer of HTTP/1.1", fmt.Sprintf("%q", cutBytes(x.rec.first()))
		l.answer, problem = "HTTP/2", &p
	}
	if resp != nil && problem == nil {
		problem = l.judge(resp)
	}
	if problem != nil {
		l.Problems = append(l.Problems, *problem)
	}
}

// judge says what is wrong with an answer, nil if nothing is.
func (l *leg) judge(resp *response) *Problem {
	var p Problem
	switch {
	case resp.says != nil: // the page is TLS' answer, not the receiver's
		p = resp.says.problem("the peer answers %s: %s", resp.Status, cut(resp.excerpt))
		return &p
	case resp.StatusCode != http.StatusOK:
		p = reasonHTTPStatus.problem("the export is answered by %s", resp.Status)
		p.Expected, p.Received = "status 200", resp.Status
	}
	l.answer = resp.Status
	if p.Reason == nil {
		return nil
	}
	return &p
}

func recorderOf(line duplex) *recorder {
	if over, ok := line.(*conn); ok {
		return over.rec
	}
	return &line.(*plainConn).recorder
}

// request is an export without a body, which is an empty protobuf message.
func (e *export) request(overTLS bool) *http.Request {
	u := url.URL{Scheme: "http", Host: e.authority(&e.prober.TLSConfig, e.to.host, e.to.port), Path: e.to.path}
	if overTLS {
		u.Scheme = "https"
	}
	return &http.Request{Method: http.MethodPost, URL: &u, Host: u.Host, Close: true, Header: http.Header{
		"User-Agent":   {"tlsprobe"},
		"Content-Type": {"application/x-protobuf"},
	}}
}
