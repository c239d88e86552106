package probe

var reasonRedirectLoop = register(Reason{
	ID:       "redirect_loop",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the redirects lead back to where they began",
})

var reasonRedirectLimit = register(Reason{
	ID:       "redirect_limit",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "too many redirects",
})

var reasonRedirectDowngrade = register(Reason{
	ID:       "redirect_downgrade",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "https redirects to http",
})

var reasonMissingHTTPSRedirect = register(Reason{
	ID:       "missing_https_redirect",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "plain http is served without a redirect to https",
})

var reasonEOFAfterHandshake = register(Reason{
	ID:       "eof_after_handshake",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer closed the connection before it answered",
	match:    func(e *Evidence) bool { return e.End == EndFIN || e.End == EndCloseNotify },
})

var reasonResetAfterHandshake = register(Reason{
	ID:       "reset_after_handshake",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer reset the connection before it answered",
	match:    func(e *Evidence) bool { return e.End == EndReset },
})

var reasonHTTPTimeout = register(Reason{
	ID:       "http_timeout",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer did not come in time",
	match:    func(e *Evidence) bool { return e.End == EndTimeout },
})

var reasonHTTPStatus = register(Reason{
	ID:       "http_status",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer has an unexpected status",
})

var reasonHTTPBodyTooLarge = register(Reason{
	ID:       "http_body_too_large",
	Phase:    PhaseRequest,
	Severity: Warning,
	Title:    "the body does not end within the limit",
})

var reasonHTTPMalformed = register(Reason{
	ID:       "http_malformed",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer is not HTTP",
	match:    func(e *Evidence) bool { return true },
})
