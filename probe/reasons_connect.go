package probe

import "syscall"

var reasonTCPRefused = register(Reason{
	ID:       "tcp_refused",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "nothing listens on this port",
	match:    func(e *Evidence) bool { return e.Errno == syscall.ECONNREFUSED },
})

var reasonTCPUnreachable = register(Reason{
	ID:       "tcp_unreachable",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "there is no route to the address",
	match:    func(e *Evidence) bool { return e.Errno == syscall.EHOSTUNREACH || e.Errno == syscall.ENETUNREACH },
})

var reasonTCPTimeout = register(Reason{
	ID:       "tcp_timeout",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "the connection attempt got no answer",
	match:    func(e *Evidence) bool { return e.End == EndTimeout || e.Errno == syscall.ETIMEDOUT },
})

var reasonTCPLocalError = register(Reason{
	ID:       "tcp_local_error",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "this machine could not open the connection",
	match:    func(e *Evidence) bool { return true },
})
