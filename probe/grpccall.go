package probe

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// grpcRequest is one unary call.
type grpcRequest struct {
	authority string // whom it asks
	method    string // "/package.Service/Method"
	metadata  map[string][]string
	in        proto.Message
}

// grpcAnswer is how a call ended.
type grpcAnswer struct {
	code    codes.Code
	took    time.Duration
	problem *Problem // nil: OK
}

const (
	maxGRPCMessage = 64 << 10 // bytes of an answer
	maxGRPCHeaders = 64 << 10 // bytes of a header list
)

// call makes one call on l and parts with it. grpc-go neither resolves, dials,
// shakes hands nor tries again: the one connection there is has been opened and
// judged.
func (l *grpcLine) call(ctx context.Context, r *grpcRequest, out proto.Message) *grpcAnswer {
	start := time.Now()
	err := l.invoke(ctx, r, out)
	a := &grpcAnswer{code: status.Code(err), took: time.Since(start)}
	l.used.retire(ctx)
	l.part(ctx)
	if err != nil {
		p := l.failed(ctx, status.Convert(err))
		a.problem = &p
	}
	return a
}

// invoke leaves l.used closed, or about to be.
func (l *grpcLine) invoke(ctx context.Context, r *grpcRequest, out proto.Message) error {
	dialled := false
	channel, err := grpc.NewClient("passthrough:///"+r.authority,
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if dialled {
				return nil, net.ErrClosed
			}
			dialled = true
			return l.used, nil
		}),
		grpc.WithTransportCredentials(openCredentials{l.tls != nil}),
		grpc.WithAuthority(r.authority),
		grpc.WithUserAgent("tlsprobe"),
		grpc.WithMaxHeaderListSize(maxGRPCHeaders),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxGRPCMessage)),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithDisableHealthCheck(),
		grpc.WithIdleTimeout(0),
	)
	if err != nil {
		return err
	}
	defer channel.Close()
	return channel.Invoke(metadata.NewOutgoingContext(ctx, lowerKeys(r.metadata)), r.method, r.in, out)
}

// lowerKeys makes metadata of what a person wrote.
func lowerKeys(written map[string][]string) metadata.MD {
	md := metadata.MD{}
	for _, key := range slices.Sorted(maps.Keys(written)) {
		md.Append(key, written[key]...)
	}
	return md
}

// failed says why a call failed. What ended the connection counts before what
// grpc-go makes of it.
func (l *grpcLine) failed(ctx context.Context, st *status.Status) Problem {
	first := l.used.first()
	switch speaks := peerProtocol(first, l.used.sent()); {
	case l.tls == nil && len(first) >= 2 && isTLSRecord(first):
		return reasonPlaintextOnTLSPort.problem("the peer answers plain HTTP/2 with a TLS record")
	case speaks != "" && speaks != "h2":
		p := reasonGRPCNotHTTP2.problem("the peer speaks %s", protocolNames[speaks])
		p.Expected, p.Received = "HTTP/2 frames", fmt.Sprintf("%q", cutBytes(first))
		return p
	}
	end := l.used.end
	if end == nil {
		end = ctx.Err()
	}
	if end != nil {
		return l.broken(end)
	}
	p := reasonGRPCStatus.problem("%s: %s", st.Code(), statusWords(st))
	p.Expected, p.Received = codes.OK.String(), st.Code().String()
	if notGRPC(st.Message()) {
		p.Notes = append(p.Notes, "the answer is HTTP/2 and not gRPC: of a proxy, or of another server than was meant")
	}
	return p
}

// broken is the problem of a connection that ended before an answer.
func (l *grpcLine) broken(end error) Problem {
	e := newEvidence(PhaseRequest, end, &l.used.recorder)
	if l.tls != nil {
		if verdict := l.tls.evidence(PhaseTLS, end); verdict.isVerdict() {
			return classify(verdict)
		}
		e.TLS = l.tls.facts
	}
	p := classify(e)
	if e.End == EndFIN || e.End == EndReset {
		p.Detail = lastWords(end) + ", " + e.after()
	}
	return p
}

// statusWords is the message of a status, in one line of bounded length.
func statusWords(st *status.Status) string {
	const most = 300
	words := strings.Join(strings.Fields(st.Message()), " ")
	switch {
	case words == "":
		return "without a word"
	case len(words) > most:
		return strings.ToValidUTF8(words[:most], "") + "..."
	}
	return words
}

// openCredentials are those of a connection on which all has been done already.
type openCredentials struct{ overTLS bool }

// openInfo is what there is to say of such a connection.
type openInfo struct{ credentials.CommonAuthInfo }

func (openInfo) AuthType() string { return "tlsprobe" }

func (c openCredentials) ClientHandshake(_ context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	level := credentials.NoSecurity
	if c.overTLS {
		level = credentials.PrivacyAndIntegrity
	}
	return conn, openInfo{credentials.CommonAuthInfo{SecurityLevel: level}}, nil
}

func (openCredentials) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, net.ErrClosed
}

// Info makes grpc-go write the scheme of its requests.
func (c openCredentials) Info() credentials.ProtocolInfo {
	if c.overTLS {
		return credentials.ProtocolInfo{SecurityProtocol: "tls"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
}

func (c openCredentials) Clone() credentials.TransportCredentials { return c }
func (openCredentials) OverrideServerName(string) error           { return nil }
