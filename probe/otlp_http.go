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
	x := exchange{line: &http1{stream: line}, hop: &hop, settings: &AnswerSettings{BodySizeLimit: maxOTLPAnswer}}
	resp, problems := x.do(e.request(over != nil))
	l.Phases[PhaseRequest] += hop.Processing + hop.Transfer
	first := recorderOf(line).first()
	if resp == nil && over == nil && peerProtocol(first, nil) == "h2" {
		p := reasonOTLPProtocolMismatch.problem("HTTP/1.1 was answered by HTTP/2 frames: the port speaks gRPC")
		p.Expected, p.Received = "an answer of HTTP/1.1", fmt.Sprintf("%q", cutBytes(first))
		l.answer, problems = "HTTP/2", []Problem{p}
	}
	if resp != nil && len(problems) == 0 {
		problems = l.judge(resp)
	}
	l.Problems = append(l.Problems, problems...)
}

// judge says what is wrong with an answer.
func (l *leg) judge(resp *response) []Problem {
	if resp.says != nil { // the page is TLS' answer, not the receiver's
		return []Problem{resp.says.problem("the peer answers %s: %s", resp.Status, cut(resp.excerpt))}
	}
	l.answer = resp.Status
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	p := reasonHTTPStatus.problem("the export is answered by %s", resp.Status)
	p.Expected, p.Received = "status 200", resp.Status
	return []Problem{p}
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
	return &http.Request{Method: http.MethodPost, URL: &u, Host: u.Host, Header: http.Header{
		"User-Agent":   {userAgent},
		"Content-Type": {"application/x-protobuf"},
	}}
}
