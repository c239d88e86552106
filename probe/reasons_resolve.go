package probe

var reasonDNSNXDomain = register(Reason{
	ID:       "dns_nxdomain",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name does not exist",
	match:    func(e *Evidence) bool { return e.RCode == 3 },
})

var reasonDNSNodata = register(Reason{
	ID:       "dns_nodata",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name exists but has no address",
	match:    func(e *Evidence) bool { return e.RCode == 0 },
})

var reasonDNSServfail = register(Reason{
	ID:       "dns_servfail",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the DNS server failed",
	match:    func(e *Evidence) bool { return e.RCode == 2 },
})

var reasonDNSRefused = register(Reason{
	ID:       "dns_refused",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the DNS server refused to answer",
	match:    func(e *Evidence) bool { return e.RCode == 5 },
})

var reasonDNSTimeout = register(Reason{
	ID:       "dns_timeout",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "no DNS server answered in time",
	match:    func(e *Evidence) bool { return e.End == EndTimeout },
})

var reasonDNSError = register(Reason{
	ID:       "dns_error",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name could not be looked up",
	match:    func(e *Evidence) bool { return true },
})
