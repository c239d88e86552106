package probe

import "syscall"

// How opening a TCP connection fails. A reset after the connection is up is
// connection_reset, never one of these.

var _ = register(Reason{
	ID:       "tcp_refused",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "nothing listens on this port",
	Meaning: "The connection was refused (RST, or ICMP port unreachable). The host is there; nothing " +
		"listens on that port. TLS was not reached.",
	Breaks:    "Everything on that address and port.",
	OtherSide: "Nothing: no program was there to log it.",
	Causes: []string{
		"Nothing listens on the targetPort: the process is starting, crashed or listens elsewhere.",
		"The Service has no ready endpoints: kube-proxy refuses such connections itself.",
		"The process listens on 127.0.0.1 only.",
		"The port number is wrong.",
	},
	Fixes: []string{
		"See endpoints and port: kubectl -n NAMESPACE get endpointslices -l " +
			"kubernetes.io/service-name=SERVICE",
		"See the pod's state: kubectl -n NAMESPACE get pods -o wide; kubectl -n NAMESPACE logs POD --previous",
		"See what listens: kubectl -n NAMESPACE debug POD -it --image=nicolaka/netshoot --target=CONTAINER -- " +
			"ss -ltn",
		"Dial the pod itself: curl -vk https://POD_IP:TARGET_PORT/",
	},
	Cite: "RFC 9293, Section 3.5.2",
	Logs: []LogPattern{
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `(?:dial tcp|connect(?:ing|ion)? to|connect\(\)|BIO_connect|curl|upstream)[^;]{0,200}connection refused` +
				`|["\d]: connect: connection refused|Errno 111\] Connection refused|connect:errno=111` +
				`|\bECONNREFUSED\b|ConnectionRefusedError|ConnectException: Connection refused` +
				`|Connection refused \(os error|\(111\)|actively refused|curl: \(7\)|cURL error 7:`,
			Sample: "Get \"https://svc.lab/x\": dial tcp 10.0.9.4:8443: connect: connection refused",
		},
		{
			Side: ClientSide,
			Pattern: `Failed to connect to \S+ port \d+.*(?:Couldn't connect to server|Connection refused|Could not connect)` +
				`|ERR_CONNECTION_REFUSED`,
			Sample: "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server",
		},
		{
			Side: ProxySide,
			Pattern: `delayed[ _]connect[ _]error:[ _](?:111|Connection[ _]refused)` +
				`|connect\(\) failed \(111: Connection refused\) while connecting to upstream` +
				`|Layer4 connection problem, info: "Connection refused`,
			Sample: "upstream connect error or disconnect/reset before headers. reset reason: connection failure, " +
				"transport failure reason: delayed connect error: 111",
		},
	},
	match: func(e *Evidence) bool { return e.Errno == syscall.ECONNREFUSED },
})

var _ = register(Reason{
	ID:       "tcp_unreachable",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "there is no route to the address",
	Meaning: "The network itself said that it cannot deliver: host or network unreachable. TLS was not " +
		"reached.",
	Breaks:    "Everything at that address, from this node.",
	OtherSide: "Nothing: no packet arrived.",
	Causes: []string{
		"The node is down: its address is not answered on the link (ARP).",
		"A firewall rejects with \"administratively prohibited\"; Linux shows that as \"no route to host\".",
		"IPv6 was tried on a node that has no IPv6 route.",
		"The pod network of that node is broken (CNI).",
	},
	Fixes: []string{
		"See the route, on the node: ip route get ADDRESS; ip neigh show ADDRESS",
		"See the node: kubectl get nodes -o wide",
		"Try from another node: kubectl debug node/NODE -it --image=nicolaka/netshoot -- nc -zv ADDRESS PORT",
		"Look for reject rules: iptables-save | grep -i reject; nft list ruleset | grep -i reject",
	},
	Cite: "RFC 792, Destination Unreachable",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `no route to host|network is unreachable|host is (?:down|unreachable)` +
				`|\bE(?:HOST|NET)UNREACH\b|NoRouteToHostException|NetworkUnreachable|HostUnreachable`,
			Sample: "dial tcp 192.0.2.1:443: connect: network is unreachable",
		},
		{
			Side: ProxySide,
			Pattern: `delayed[ _]connect[ _]error:[ _](?:113|101)\b` +
				`|\(113: (?:No route to host|Host is unreachable)\)|\(101: Network (?:is )?unreachable\)`,
			Sample: "upstream connect error or disconnect/reset before headers. reset reason: connection failure, " +
				"transport failure reason: delayed connect error: 113",
		},
	},
	match: func(e *Evidence) bool { return e.Errno == syscall.EHOSTUNREACH || e.Errno == syscall.ENETUNREACH },
})

var reasonTCPTimeout = register(Reason{
	ID:        "tcp_timeout",
	Phase:     PhaseConnect,
	Severity:  Error,
	Title:     "the connection attempt got no answer",
	Meaning:   "SYN packets went out and nothing came back: something drops them. TLS was not reached.",
	Breaks:    "Everything on that address and port, from here. From other nodes it may work.",
	OtherSide: "Nothing: no connection arrived.",
	Causes: []string{
		"A NetworkPolicy or firewall drops the packets. A private GKE control plane reaches nodes on 443 and " +
			"10250 only.",
		"The pod is on a node that is down or cut off.",
		"A cloud security group lacks the port.",
		"Replies take another way back (asymmetric routing).",
	},
	Fixes: []string{
		"Try from another node: kubectl debug node/NODE -it --image=nicolaka/netshoot -- nc -zvw3 ADDRESS " +
			"PORT",
		"See the policies: kubectl -n NAMESPACE get networkpolicy -o yaml",
		"Find where it is lost: tracepath -p PORT ADDRESS",
		"Open the webhook's pod port from the control plane (GKE): gcloud compute firewall-rules create NAME " +
			"--allow tcp:TARGET_PORT --source-ranges CONTROL_PLANE_CIDR",
	},
	Cite: "RFC 9293, Section 3.8.3",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `dial tcp [^ ]+: (?:connect: connection timed out|i/o timeout|operation was canceled|connect: operation timed out|context deadline exceeded)` +
				`|connect: connection timed out|waiting for connection \(Client\.Timeout` +
				`|connect ETIMEDOUT`,
			Sample: "dial tcp 140.82.114.4:443: i/o timeout",
		},
		{
			Side:    ClientSide,
			Vague:   true,
			Pattern: `^(?:dial tcp: )?i/o timeout$`,
			Sample:  "i/o timeout",
		},
		{
			Side: ClientSide,
			Pattern: `ConnectTimeout(?:Error|Exception)?\b|connect timed out|HttpConnectTimeoutException` +
				`|ERR_CONNECTION_TIMED_OUT|TimedOut, message: "connection timed out"` +
				`|Failed to connect to \S+ port \d+.*(?:timed out|Timeout)` +
				`|Errno 110\] Connection timed out|ConnectException: (?:Operation|Connection) timed out` +
				`|connection attempt failed because the connected party did not properly respond` +
				`|UND_ERR_CONNECT_TIMEOUT|Net::OpenTimeout`,
			Sample: "java.net.http.HttpConnectTimeoutException: HTTP connect timed out",
		},
		{
			Side: ProxySide,
			Pattern: `(?:upstream )?timed out \(110: (?:Connection|Operation) timed out\) while connecting to upstream` +
				`|connection timeout, transport failure reason|reset reason: connection timeout` +
				`|reset reason: connection failure, transport failure reason: delayed connect error: 110` +
				`|upstream_reset_before_response_started\{connection_timeout|Layer4 timeout`,
			Sample: "upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndTimeout || e.Errno == syscall.ETIMEDOUT },
})

var _ = register(Reason{
	ID:       "tcp_local_error",
	Phase:    PhaseConnect,
	Severity: Error,
	Title:    "this machine could not open the connection",
	Meaning: "The system here refused to open the connection: no permission, no free port, no free file " +
		"descriptor. It says nothing about the target.",
	Breaks:    "Connections from this machine or pod; others may be fine.",
	OtherSide: "Nothing: no packet left.",
	Causes: []string{
		"A policy on this node forbids it (eBPF, OUTPUT chain, seccomp, a prohibit route).",
		"Ephemeral ports are used up by many connections to one address.",
		"The limit of open files is reached.",
	},
	Fixes: []string{
		"Count sockets, on the node: ss -s",
		"See the limits: kubectl -n NAMESPACE exec POD -- sh -c 'ulimit -n; ls /proc/1/fd | wc -l'",
		"Look for a local rule: ip route get ADDRESS; iptables-save | grep OUTPUT",
	},
	Cite: "connect(2)",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `(?:dial tcp|connect)[^;]*: (?:operation not permitted|cannot assign requested address|too many open files)` +
				`|dial tcp [^;]*: (?:connect: permission denied|connect: invalid argument|bind: )` +
				`|\bEADDRNOTAVAIL\b|connect EPERM|connect EACCES \d` +
				`|accept4?\(?\)?[^;]*too many open files` +
				`|\(99: (?:Cannot assign requested address|Address not available)\)`,
			Sample: "dial tcp 10.0.9.4:8443: connect: cannot assign requested address",
		},
	},
	match: func(e *Evidence) bool { return true },
})
