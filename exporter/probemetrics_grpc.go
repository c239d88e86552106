package exporter

import "tlsprobe/probe"

func isGRPC(r *probe.Result) bool { return r.Target.Module.Kind == "grpc" }

// fillGRPCDuration gives the phase resolve always, and check once there is an
// address.
func fillGRPCDuration(f *family, r *probe.Result) {
	if !isGRPC(r) {
		return
	}
	a := deciding(r)
	if a.GRPC != nil {
		f.add(a.GRPC.Check.Seconds(), "check")
	}
	f.add(a.Phases[probe.PhaseResolve].Seconds(), "resolve")
}

func fillGRPCHealth(f *family, r *probe.Result) {
	a := deciding(r)
	if !isGRPC(r) || a.GRPC == nil {
		return
	}
	for _, status := range []string{"NOT_SERVING", "SERVICE_UNKNOWN", "SERVING", "UNKNOWN"} {
		f.add(boolean(a.GRPC.Serving == status), status)
	}
}

func fillGRPCTLS(f *family, r *probe.Result) {
	if isGRPC(r) {
		a := deciding(r)
		f.add(boolean(a.GRPC != nil && a.GRPC.TLS))
	}
}

func fillGRPCStatus(f *family, r *probe.Result) {
	switch a := deciding(r); {
	case !isGRPC(r):
	case a.GRPC == nil:
		f.add(0)
	default:
		f.add(float64(a.GRPC.Code))
	}
}
