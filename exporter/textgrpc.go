package exporter

import (
	"fmt"

	"google.golang.org/grpc/codes"

	"tlsprobe/probe"
)

func grpcDetail(g *probe.GRPC) string {
	return fmt.Sprintf("health check: %s (%s)", g.Serving, codes.Code(g.Code))
}

func otlpDetail(o *probe.OTLP) string {
	said := fmt.Sprintf("speaks %s", o.Speaks)
	if o.Answer != "" {
		said = fmt.Sprintf("%s over %s: %s; %s", o.Signal, o.Protocol, cut(printable(o.Answer), 30), said)
	}
	if o.Mesh != "" {
		said += "; " + printable(o.Mesh)
	}
	return said
}
