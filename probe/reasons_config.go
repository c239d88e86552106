package probe

var reasonTargetMisconfigured = register(Reason{
	ID:       "target_misconfigured",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the target's configuration cannot be probed",
})

var reasonCABundleInvalid = register(Reason{
	ID:       "ca_bundle_invalid",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the trusted CA bundle holds no usable certificate",
})

var reasonBadKeypair = register(Reason{
	ID:       "bad_keypair",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "our client certificate and key cannot be loaded",
})

var reasonClientCertExpired = register(Reason{
	ID:       "client_cert_expired",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "our own client certificate is out of date",
})

var reasonAddressRefused = register(Reason{
	ID:       "address_refused",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the address may not be probed",
	match:    func(e *Evidence) bool { return e.Refused },
})

var reasonProberPanic = register(Reason{
	ID:       "prober_panic",
	Phase:    PhaseConfig,
	Severity: Error,
	Title:    "the prober itself failed",
})
