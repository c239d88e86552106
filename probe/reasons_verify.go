package probe

var reasonDefaultCert = register(Reason{
	ID:       "default_cert",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a default certificate is served instead of the host's own",
})

var reasonCertExpired = register(Reason{
	ID:       "cert_expired",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a certificate has expired",
})

var reasonCertNotYetValid = register(Reason{
	ID:       "cert_not_yet_valid",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a certificate is not valid yet",
})

var reasonMissingIPSAN = register(Reason{
	ID:       "missing_ip_san",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate names no IP address",
})

var reasonHostnameMismatch = register(Reason{
	ID:       "hostname_mismatch",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is for other names",
})

var reasonLegacyCommonName = register(Reason{
	ID:       "legacy_common_name",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate has the name in its common name only",
})

var reasonSelfSigned = register(Reason{
	ID:       "self_signed",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is self-signed and not trusted",
})

var reasonStaleCA = register(Reason{
	ID:       "stale_ca",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the trusted CA has the right name but another key",
})

var reasonUnknownAuthority = register(Reason{
	ID:       "unknown_authority",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate's issuer is not trusted",
})

var reasonWrongKeyUsage = register(Reason{
	ID:       "wrong_key_usage",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate is not for servers",
})

var reasonNameConstraint = register(Reason{
	ID:       "name_constraint",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "a CA in the chain may not sign for this name",
})

var reasonChainInvalid = register(Reason{
	ID:       "chain_invalid",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the chain breaks the rules for CAs",
})

var reasonCertRevoked = register(Reason{
	ID:       "cert_revoked",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate has been revoked",
})

var reasonWeakCrypto = register(Reason{
	ID:       "weak_crypto",
	Phase:    PhaseVerify,
	Severity: Warning,
	Title:    "a certificate uses weak cryptography",
})

var reasonCertVerifyFailed = register(Reason{
	ID:       "cert_verify_failed",
	Phase:    PhaseVerify,
	Severity: Error,
	Title:    "the certificate was rejected, and the log line does not say why",
	LogOnly:  true,
})
