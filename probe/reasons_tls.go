package probe

var reasonWrongVersionNumber = register(Reason{
	ID:       "wrong_version_number",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer does not speak TLS on this port",
	match:    func(e *Evidence) bool { return e.PeerProtocol != "" && e.PeerProtocol != "echo" },
})

var reasonPlaintextOnTLSPort = register(Reason{
	ID:       "plaintext_on_tls_port",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "plain HTTP was sent to a port that speaks TLS",
})

var reasonProxyProtocolMismatch = register(Reason{
	ID:       "proxy_protocol_mismatch",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants a PROXY protocol header first",
})

var reasonLargeClientHello = register(Reason{
	ID:       "large_client_hello",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "something on the way cannot take a large ClientHello",
})

var reasonPathMTU = register(Reason{
	ID:       "path_mtu",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "large packets are lost on the way",
})

var reasonUnrecognizedName = register(Reason{
	ID:       "unrecognized_name",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer has no certificate for this server name",
	match:    func(e *Evidence) bool { return e.receivedAlert(alertUnrecognizedName) },
})

var reasonClientCertRequired = register(Reason{
	ID:       "client_cert_required",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants a client certificate",
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertCertificateRequired) || e.ClientCertRequested && !e.ClientCertSent &&
			e.receivedAlert(alertHandshakeFailure, alertNoCertificate, alertBadCertificate, alertCertificateUnknown)
	},
})

var reasonBadCertificate = register(Reason{
	ID:       "bad_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer rejects the client certificate",
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertNoCertificate, alertBadCertificate, alertUnsupportedCertificate,
			alertCertificateRevoked, alertCertificateUnknown)
	},
})

var reasonAlertCertificateExpired = register(Reason{
	ID:       "alert_certificate_expired",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer says the client certificate is out of date",
	match:    func(e *Evidence) bool { return e.receivedAlert(alertCertificateExpired) },
})

var reasonAlertUnknownCA = register(Reason{
	ID:       "alert_unknown_ca",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer does not know the CA of the client certificate",
	match:    func(e *Evidence) bool { return e.receivedAlert(alertUnknownCA) },
})

var reasonProtocolVersion = register(Reason{
	ID:       "protocol_version",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no TLS version in common",
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertProtocolVersion, alertInappropriateFallback) ||
			e.says("selected unsupported protocol version", "downgrade attempt detected")
	},
})

var reasonHandshakeFailure = register(Reason{
	ID:       "handshake_failure",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no cipher suite, group or signature algorithm in common",
	match: func(e *Evidence) bool {
		return e.receivedAlert(alertHandshakeFailure, alertInsufficientSecurity, alertExportRestriction)
	},
})

var reasonNoApplicationProtocol = register(Reason{
	ID:       "no_application_protocol",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "no ALPN protocol in common",
	match:    func(e *Evidence) bool { return e.receivedAlert(alertNoApplicationProtocol) },
})

var reasonALPNMismatch = register(Reason{
	ID:       "alpn_mismatch",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer did not agree on a wanted ALPN protocol",
})

var reasonNoRenegotiation = register(Reason{
	ID:       "no_renegotiation",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer wants to renegotiate",
	match:    func(e *Evidence) bool { return e.Alert == alertNoRenegotiation },
})

var reasonBadRecordMAC = register(Reason{
	ID:       "bad_record_mac",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "a TLS record could not be decrypted",
	match:    func(e *Evidence) bool { return e.Alert == alertBadRecordMAC },
})

var reasonAlertInternalError = register(Reason{
	ID:       "alert_internal_error",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer could not produce a handshake",
	match:    func(e *Evidence) bool { return e.receivedAlert(alertInternalError) },
})

var reasonNoServerCertificate = register(Reason{
	ID:       "no_server_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server has no certificate to serve",
	LogOnly:  true,
})

var reasonLegacyRenegotiation = register(Reason{
	ID:       "legacy_renegotiation",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server lacks secure renegotiation",
	LogOnly:  true,
})

var reasonMalformedCertificate = register(Reason{
	ID:       "malformed_certificate",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer's certificate cannot be parsed",
	match:    func(e *Evidence) bool { return e.says("failed to parse certificate from server") },
})

var reasonConnectionReset = register(Reason{
	ID:       "connection_reset",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer reset the connection during the handshake",
	match:    func(e *Evidence) bool { return e.End == EndReset },
})

var reasonEOF = register(Reason{
	ID:       "eof",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer closed the connection during the handshake",
	match:    func(e *Evidence) bool { return e.End == EndFIN || e.End == EndCloseNotify },
})

var reasonTLSTimeout = register(Reason{
	ID:       "tls_timeout",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the handshake did not end in time",
	match:    func(e *Evidence) bool { return e.End == EndTimeout },
})

var reasonAlertOther = register(Reason{
	ID:       "alert_other",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer ended the handshake with an alert",
	match: func(e *Evidence) bool {
		return e.AlertFrom == Peer && !e.protocolAlert()
	},
})

var reasonTLSProtocolError = register(Reason{
	ID:       "tls_protocol_error",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the peer broke the TLS protocol",
	match:    func(e *Evidence) bool { return true },
})

var reasonTLSUnspecified = register(Reason{
	ID:       "tls_unspecified",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "TLS failed, and the log line does not say how",
	LogOnly:  true,
})
