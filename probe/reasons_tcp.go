package probe

// How a conversation fails whose words a module expects. Judged where it is held,
// so none of these matches evidence.

var reasonTCPExpectMismatch = register(Reason{
	ID:       "tcp_expect_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer says something else than expected",
	Meaning: "The connection works and the peer talks, but not as the module expects: no line matched, the " +
		"bytes are others, or it speaks another protocol. What it said stands under \"received\".",
	Breaks: "Clients of that protocol, if something else listens; nothing but this target, if the " +
		"expectation is wrong.",
	OtherSide: "A client that left after the greeting, if it logs that.",
	Causes: []string{
		"Another service listens on that port.",
		"The server refuses in words of its own: too many connections, maintenance, a blocked address.",
		"The server was updated and words its greeting otherwise.",
		"The expression misses the line's real form; it is matched line by line, case counts.",
	},
	Fixes: []string{
		"See what it says: nc -v HOST PORT; over TLS: openssl s_client -quiet -connect HOST:PORT",
		"Correct expect or expect_bytes in the module's query_response",
		"See what listens: kubectl -n NAMESPACE get svc SERVICE -o wide; kubectl -n NAMESPACE get pods -o wide",
	},
	Cite: "config.example.yaml, query_response",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\bmsg="?(?:Regexp|Bytes) did not match"?`,
			Sample:  `level=ERROR source=query_response.go:134 msg="Regexp did not match" module=ssh_banner target=10.0.9.4:22 regexp=^SSH-2.0- line=""`,
		},
	},
})

var reasonTCPExpectTimeout = register(Reason{
	ID:       "tcp_expect_timeout",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer did not say what was expected in time",
	Meaning: "The connection was made, by the peer's kernel at least, and then the peer said nothing before " +
		"the deadline.",
	Breaks:    "Clients of that service hang until they give up.",
	OtherSide: "Nothing, or a client that went away.",
	Causes: []string{
		"The server hangs or is overloaded: its kernel accepts connections, the program does not.",
		"It waits for something first: a request, TLS, or the lookup of our address (reverse DNS).",
		"Mail servers make clients wait before the greeting, as a defence.",
		"The module's timeout is too short.",
	},
	Fixes: []string{
		"Wait by hand: time nc -v HOST PORT",
		"Does it speak TLS at once? openssl s_client -connect HOST:PORT </dev/null",
		"Is the program busy? ss -ltn shows connections that wait in Recv-Q; kubectl -n NAMESPACE top pod",
	},
	Cite: "RFC 5321, Section 4.5.3.2",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `timed? ?out (?:while )?(?:waiting for|receiving) (?:the )?(?:initial )?(?:server )?greeting|wait_banner|banner exchange[^;]*timed? ?out`,
			Sample:  "Connection timed out during banner exchange: banner exchange: Connection to 10.0.9.4 port 22: timed out",
		},
	},
})

var reasonTCPExpectClosed = register(Reason{
	ID:       "tcp_expect_closed",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the peer closed the connection before it said what was expected",
	Meaning: "The connection was made, and the peer ended it, by FIN or RST, without a word of what was " +
		"expected.",
	Breaks:    "Clients of that service, from this node.",
	OtherSide: "Its reason, if it logs refused clients.",
	Causes: []string{
		"A load balancer or proxy accepts connections and has no backend.",
		"Access rules or limits of the server: hosts.deny, MaxStartups of sshd, connections per address.",
		"The server crashed on the connection, or is being stopped.",
		"It speaks TLS, and took what was sent for a broken handshake.",
	},
	Fixes: []string{
		"Try by hand, from here and from another node: nc -v HOST PORT",
		"Are there backends? kubectl -n NAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE",
		"Read the server's log of that time: kubectl -n NAMESPACE logs POD --since=10m",
	},
	Cite: "RFC 9293, Section 3.6",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `lost connection with \S+ while receiving the initial server greeting` +
				`|Lost connection to (?:MySQL )?server at 'reading initial communication packet'|at 'handshake: reading initial communication packet'`,
			Sample: "ERROR 2013 (HY000): Lost connection to MySQL server at 'reading initial communication packet', system error: 0",
		},
	},
})
