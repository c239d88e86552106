package probe

import "syscall"

// How QUIC connections fail beside the TLS reasons: inside QUIC a CRYPTO_ERROR 0x1NN is
// the TLS alert NN.

var reasonQUICTimeout = register(Reason{
	ID:       "quic_timeout",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "nothing answered over QUIC",
	Meaning: "No QUIC packet came back in time. A closed port, a firewall and a server of another protocol " +
		"all look like this: UDP has no refusal that QUIC libraries show.",
	Breaks:    "HTTP/3 and other QUIC clients. Browsers fall back to HTTP/2, so nobody may notice.",
	OtherSide: "Nothing: no packet arrived, or no program took it.",
	Causes: []string{
		"UDP 443 is blocked by a firewall or security group.",
		"The Service or load balancer maps TCP only.",
		"The server does not listen on UDP.",
		"The path drops packets of 1,200 bytes and more.",
	},
	Fixes: []string{
		"Try it: curl --http3-only -v https://HOST/",
		"See the ports: kubectl -n NAMESPACE get svc SERVICE -o jsonpath='{.spec.ports}'",
		"Does the server listen? kubectl -n NAMESPACE debug POD -it --image=nicolaka/netshoot -- ss -lun",
	},
	Cite: "RFC 9000, Section 10.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `no recent network activity|timeout: handshake did not complete in time` +
				`|QUIC_NETWORK_IDLE_TIMEOUT|QUIC_HANDSHAKE_TIMEOUT|ERR_QUIC_HANDSHAKE_FAILED` +
				`|quic[^;]{0,60}(?:timed out|idle timeout)|QUIC_STATUS_CONNECTION_(?:TIMEOUT|IDLE)` +
				`|ERR_QUIC_PROTOCOL_ERROR\.QUIC_NETWORK_IDLE`,
			Sample: "timeout: no recent network activity",
		},
	},
	match: func(e *Evidence) bool { return e.QUIC != nil && e.End == EndTimeout && !e.QUIC.Retry },
})

var _ = register(Reason{
	ID:        "quic_refused",
	Phase:     PhaseTLS,
	Severity:  Error,
	Title:     "the UDP port is closed",
	Meaning:   "The host answered with ICMP port unreachable: nothing listens on that UDP port.",
	Breaks:    "HTTP/3 and other QUIC clients of that address.",
	OtherSide: "Nothing: no program was there.",
	Causes: []string{
		"The server does not have QUIC switched on.",
		"The port is mapped for TCP only.",
	},
	Fixes: []string{
		"Does the server listen? kubectl -n NAMESPACE debug POD -it --image=nicolaka/netshoot -- ss -lun",
		"Add the UDP port to the Service: kubectl -n NAMESPACE edit svc SERVICE (protocol: UDP, port 443)",
		"nginx: listen 443 quic reuseport; Caddy and Envoy: enable HTTP/3 on the listener",
	},
	Cite: "RFC 1122, Section 4.1.3.3",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `(?:read|write)\w* udp [^;]*connection refused` +
				`|QUIC_STATUS_(?:UNREACHABLE|CONNECTION_REFUSED)|QUIC_PACKET_WRITE_ERROR` +
				`|quic[^;]{0,80}connection refused`,
			Sample: "quic dial 10.0.9.4:443: read udp 10.0.3.17:51000->10.0.9.4:443: read: connection refused",
		},
	},
	match: func(e *Evidence) bool { return e.QUIC != nil && e.Errno == syscall.ECONNREFUSED },
})

var _ = register(Reason{
	ID:        "quic_version_negotiation",
	Phase:     PhaseTLS,
	Severity:  Error,
	Title:     "no QUIC version in common",
	Meaning:   "The server answered with a list of QUIC versions, and ours is not in it.",
	Breaks:    "This client over QUIC.",
	OtherSide: "Nothing as a rule.",
	Causes: []string{
		"The server speaks drafts or versions of its own only.",
		"The client is restricted to QUIC v2.",
	},
	Fixes: []string{
		"See which it offers: curl --http3-only -v https://HOST/",
		"Update the older side to QUIC v1 (RFC 9000)",
	},
	Cite: "RFC 9000, Section 6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `no compatible QUIC version|QUIC_INVALID_VERSION|QUIC_STATUS_VER_NEG_ERROR` +
				`|VersionNegotiationError|(?:quic|QUIC)[^;]{0,40}version (?:negotiation|mismatch)` +
				`|ERR_QUIC_VERSION`,
			Sample: "no compatible QUIC version found (we support [v1], server offered [0x5a4a8aaa v2])",
		},
	},
	match: func(e *Evidence) bool { return e.QUIC != nil && e.QUIC.Offered != nil && e.Code == versionNegotiation },
})

var _ = register(Reason{
	ID:       "quic_retry",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server asks for proof of our address and does not take it",
	Meaning: "The server answered with a Retry packet, as servers under attack do, and the handshake went no " +
		"further although its token was sent back.",
	Breaks:    "HTTP/3 and other QUIC clients of that address; browsers fall back to HTTP/2.",
	OtherSide: "Nothing, or an invalid token.",
	Causes: []string{
		"The packets of one client reach different servers, which do not share the key of their tokens.",
		"NAT on the way gives each packet another source address or port.",
		"The server's tokens expire at once: its clock jumps, or it restarts.",
	},
	Fixes: []string{
		"Keep a client on one server: sessionAffinity: ClientIP on the Service",
		"Give all servers the same key: nginx: quic_host_key FILE",
		"Switch it off where there is no attack: nginx: quic_retry off",
	},
	Cite: "RFC 9000, Section 8.1.2",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\bINVALID_TOKEN\b|quic[^;]{0,60}invalid (?:retry|address validation) token`,
			Sample:  "INVALID_TOKEN (remote): invalid token",
		},
	},
	match: func(e *Evidence) bool {
		return e.QUIC != nil && e.QUIC.Retry && (e.End == EndTimeout || e.Code == invalidToken)
	},
})

var _ = register(Reason{
	ID:       "quic_transport_error",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the QUIC connection was closed with an error",
	Meaning: "One side closed the QUIC connection with a transport or application error that is not a TLS " +
		"alert.",
	Breaks:    "This client over QUIC; browsers fall back to HTTP/2.",
	OtherSide: "The same error code, on the side that sent it.",
	Causes: []string{
		"The server refuses connections (CONNECTION_REFUSED) under load.",
		"Packets for one connection reach different servers: UDP is not balanced by connection id.",
		"A fault of one implementation.",
	},
	Fixes: []string{
		"Read the server's log at that time: kubectl -n NAMESPACE logs POD --since=10m | grep -i quic",
		"Keep a client on one server: sessionAffinity: ClientIP on the Service",
		"Try another client: curl --http3-only -v https://HOST/",
	},
	Cite: "RFC 9000, Section 20.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\b(?:PROTOCOL_VIOLATION|TRANSPORT_PARAMETER_ERROR|FLOW_CONTROL_ERROR|STREAM_LIMIT_ERROR|CONNECTION_ID_LIMIT_ERROR|FRAME_ENCODING_ERROR|FINAL_SIZE_ERROR|AEAD_LIMIT_REACHED|NO_VIABLE_PATH|STREAM_STATE_ERROR)\b.*\((?:local|remote|frame)` +
				`|received a stateless reset` +
				`|Application error 0x(?:[2-9a-f]|10[1-9a-f]|1[1-9a-f])\w* \((?:local|remote)\)` +
				`|INTERNAL_ERROR \((?:local|remote)\)|CONNECTION_REFUSED \((?:local|remote)\)`,
			Sample: "PROTOCOL_VIOLATION (remote): unexpected frame",
		},
	},
	match: func(e *Evidence) bool { return e.QUIC != nil && e.AlertFrom == Nobody },
})
