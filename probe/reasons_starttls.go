package probe

// How a protocol that begins in plain text fails to get to TLS. Its talk is
// judged where it is held, so none of these matches evidence.

var reasonStartTLSNotOffered = register(Reason{
	ID:       "starttls_not_offered",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server does not offer to begin TLS",
	Meaning: "The server speaks the protocol and does not list STARTTLS, or its equivalent, among what it " +
		"can do. A client that goes on sends its password and data in plain text.",
	Breaks: "Clients that demand TLS refuse to go on: mail stays in the queue, sslmode=require fails, " +
		"directory logins fail. The others go on without protection.",
	OtherSide: "Nothing, or an unknown command in its protocol log.",
	Causes: []string{
		"TLS is not configured in that server: no certificate, or it could not be loaded at start.",
		"TLS is configured for another port (465, 636, 993, 995) and not for this one.",
		"A proxy or firewall in between takes the offer out of what the server says.",
		"Something else answers: a relay, a load balancer's own service, an old pod.",
	},
	Fixes: []string{
		"See what it offers: openssl s_client -connect HOST:PORT -starttls PROTOCOL -brief </dev/null",
		"Postfix: postconf -e smtpd_tls_security_level=may smtpd_tls_chain_files=KEY_FILE,CERT_FILE",
		"Dovecot: ssl = yes, ssl_cert = <CERT_FILE, ssl_key = <KEY_FILE, then doveadm reload",
		"PostgreSQL: ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf(); the log tells why a certificate was " +
			"not taken",
		"MySQL and MariaDB: SHOW VARIABLES LIKE '%ssl%'; set ssl_cert and ssl_key",
		"Compare from inside the pod, past what is in between: kubectl -n NAMESPACE debug POD -it " +
			"--image=nicolaka/netshoot -- openssl s_client -connect 127.0.0.1:PORT -starttls PROTOCOL",
	},
	Cite: "RFC 3207, Section 4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `does not (?:advertise the|support) STARTTLS|STARTTLS extension not supported` +
				`|TLS is required, but was not offered|STARTTLS (?:is )?not (?:supported|available|offered)` +
				`|didn't find STARTTLS in server response|server does(?: not|n't) support SSL, but SSL was required` +
				`|The server does not support SSL\.|TLS requested but server does not support TLS` +
				`|SSL is required,? but the server does(?:n't| not) support it|server refused TLS connection`,
			Sample: `level=error component=dispatcher msg="Notify for alerts failed" err="email: 'require_tls' is true ` +
				`(default) but \"mail.lab:25\" does not advertise the STARTTLS extension"`,
		},
		{
			Side:    ClientSide,
			Pattern: `ldap_start_tls(?:_s)?: Protocol error|LDAP Result Code 2 "Protocol Error"[^;]*(?:StartTLS|extended operation)`,
			Sample:  "ldap_start_tls: Protocol error (2) additional info: unsupported extended operation",
		},
	},
})

var reasonStartTLSRefused = register(Reason{
	ID:       "starttls_refused",
	Phase:    PhaseTLS,
	Severity: Error,
	Title:    "the server refuses to begin TLS",
	Meaning: "The server speaks the protocol and answered with a refusal: to begin TLS, or to serve us at " +
		"all. TLS was not reached. What it said stands under \"received\".",
	Breaks: "Clients that demand TLS; where the greeting is a refusal, every client.",
	OtherSide: "Its own reason: a certificate that cannot be loaded, too many connections, a client that is " +
		"not allowed.",
	Causes: []string{
		"The server has TLS and no usable certificate or key: wrong path, wrong rights, expired Secret mount.",
		"It has too many connections, or this client made too many mistakes (MySQL max_connect_errors).",
		"Access rules do not admit this client's address.",
		"The name asked for is not one of the server's (XMPP).",
	},
	Fixes: []string{
		"Read the server's log of that time: kubectl -n NAMESPACE logs POD --since=10m",
		"See the exchange: openssl s_client -connect HOST:PORT -starttls PROTOCOL -msg </dev/null",
		"Is the certificate there for the server's user? kubectl -n NAMESPACE exec POD -- ls -lL CERT_FILE KEY_FILE",
		"MySQL and MariaDB, a blocked host: mysqladmin flush-hosts, and raise max_connect_errors",
		"XMPP: set server_name to the domain that the server serves",
	},
	Cite: "RFC 3207, Section 4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\b454 (?:[0-9.]+ )?TLS (?:is )?(?:currently |not )(?:un)?available|STARTTLS denied` +
				`|refused to start TLS|starttls: TLS negotiation (?:denied|refused)|Requested SSL level failed`,
			Sample: "TLS is required, but host mail.lab[192.0.2.25] refused to start TLS: 454 4.7.0 TLS not available due " +
				"to local problem",
		},
		{
			Side:    ClientSide,
			Pattern: `Host '[^']*' is blocked because of many connection errors`,
			Sample: "ERROR 1129 (HY000): Host '10.0.3.17' is blocked because of many connection errors; unblock with " +
				"'mariadb-admin flush-hosts'",
		},
	},
})
