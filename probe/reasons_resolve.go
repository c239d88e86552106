package probe

// How looking up a name fails. A line that holds "lookup NAME on" is about the
// resolver, even if it says "connection refused".

var _ = register(Reason{
	ID:       "dns_nxdomain",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name does not exist",
	Meaning:  "The DNS server says that there is no such name. Nothing was dialled.",
	Breaks: "Every client that uses this name. Inside a cluster the Service is missing or its name is " +
		"misspelt.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"A typing error, or the namespace is missing in the name.",
		"The Service was deleted or never created.",
		"A headless Service without ready pods has no name either.",
		"A hostNetwork pod without dnsPolicy ClusterFirstWithHostNet asks the node's resolver, which knows no " +
			"cluster names.",
		"A node name that only the control plane's DNS would know.",
	},
	Fixes: []string{
		"Find the Service: kubectl get svc -A | grep NAME",
		"Ask as a pod would: kubectl run dns-test --rm -it --restart=Never --image=busybox -- nslookup " +
			"NAME.NAMESPACE.svc.cluster.local.",
		"For a hostNetwork pod: set dnsPolicy: ClusterFirstWithHostNet",
		"For node names: kube-apiserver --kubelet-preferred-address-types=InternalIP,Hostname",
	},
	Cite: "RFC 2308, Section 2.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\bno such host\b|NXDOMAIN|Could not resolve host|Name or service not known` +
				`|nodename nor servname provided|\bENOTFOUND\b|UnknownHostException|Name does not resolve` +
				`|getaddrinfo: Name|host not found in upstream|DNS name does not exist` +
				`|No such host is known|\bNo address associated with host`,
			Sample: "dial tcp: lookup hook.ns.svc on 10.96.0.10:53: no such host",
		},
		{
			Side: ClientSide,
			Pattern: `Failed to resolve '[^']+'|ERR_NAME_NOT_RESOLVED|unable to resolve host address` +
				`|Name resolution failed for target dns:|DNS resolution failed.*(?:NXDOMAIN|not found)`,
			Sample: "wget: unable to resolve host address 'svc.lab'",
		},
	},
	match: func(e *Evidence) bool { return e.RCode == 3 },
})

var _ = register(Reason{
	ID:       "dns_nodata",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name exists but has no address",
	Meaning: "The DNS server knows the name, but has no A or AAAA record for it. Go's resolver prints this " +
		"as \"no such host\".",
	Breaks:    "Every client that uses this name, or only those that want the missing address family.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"The name is IPv4 only and IPv6 was asked for, or the reverse.",
		"An ExternalName Service points to a name without addresses.",
		"A headless Service has no ready pod.",
	},
	Fixes: []string{
		"Compare both families: dig +short A NAME; dig +short AAAA NAME",
		"See the Service: kubectl -n NAMESPACE get svc SERVICE -o wide",
		"See its endpoints: kubectl -n NAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE",
	},
	Cite: "RFC 2308, Section 2.2",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `NODATA (?:response|answer|for)|: NODATA\b|No address associated with (?:name|hostname)` +
				`|\bENODATA\b|DNS server returned answer with no data|valid name, no data record` +
				`|The requested name is valid, but no data|Host or domain name not found\.`,
			Sample: "Error: queryA ENODATA svc.lab",
		},
	},
	match: func(e *Evidence) bool { return e.RCode == 0 },
})

var _ = register(Reason{
	ID:        "dns_servfail",
	Phase:     PhaseResolve,
	Severity:  Error,
	Title:     "the DNS server failed",
	Meaning:   "The DNS server answered SERVFAIL: it tried and could not. Go prints \"server misbehaving\".",
	Breaks:    "Every name that this resolver cannot look up; often all outside names at once.",
	OtherSide: "CoreDNS logs \"[ERROR] plugin/errors: 2 NAME. A: ...\" with what failed upstream.",
	Causes: []string{
		"CoreDNS cannot reach its upstream resolver.",
		"CoreDNS forwards to itself (the loop plugin stops it).",
		"A node resolver on 127.0.0.53 is handed to pods.",
		"The zone's DNSSEC signatures are broken.",
	},
	Fixes: []string{
		"Read CoreDNS's log: kubectl -n kube-system logs -l k8s-app=kube-dns --tail=50",
		"See its upstream: kubectl -n kube-system get configmap coredns -o yaml",
		"Ask the upstream directly: dig @UPSTREAM NAME",
		"Restart it: kubectl -n kube-system rollout restart deployment/coredns",
	},
	Cite: "RFC 1035, Section 4.1.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `lookup \S+(?: on \S+)?: server misbehaving|\bSERVFAIL\b|\bEAI_AGAIN\b` +
				`|Temporary failure in name resolution|\bESERVFAIL\b|status: SERVFAIL` +
				`|Try again \(os error|A temporary error occurred on an authoritative name server`,
			Sample: "dial tcp: lookup svc.lab on 10.96.0.10:53: server misbehaving",
		},
	},
	match: func(e *Evidence) bool { return e.RCode == 2 },
})

var _ = register(Reason{
	ID:       "dns_refused",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the DNS server refused to answer",
	Meaning: "The DNS server answered REFUSED: it does not serve this name to us. Go prints the same " +
		"\"server misbehaving\" as for SERVFAIL.",
	Breaks:    "Every name of that zone, from here.",
	OtherSide: "The DNS server may log the refused query.",
	Causes: []string{
		"An access list of the server leaves out this network.",
		"The server does not serve the zone and does not recurse.",
		"NodeLocal DNSCache or a stub domain points to the wrong server.",
	},
	Fixes: []string{
		"Ask it directly: dig @RESOLVER NAME",
		"See the stub domains: kubectl -n kube-system get configmap coredns node-local-dns -o yaml",
		"See what the pod uses: kubectl -n NAMESPACE exec POD -- cat /etc/resolv.conf",
	},
	Cite: "RFC 1035, Section 4.1.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `\bEREFUSED\b|status: REFUSED|rcode[ =:]+"?REFUSED|\(5\) *REFUSED|query refused` +
				`|DNS query (?:was )?refused`,
			Sample: "Error: queryA EREFUSED svc.lab",
		},
	},
	match: func(e *Evidence) bool { return e.RCode == 5 },
})

var reasonDNSTimeout = register(Reason{
	ID:        "dns_timeout",
	Phase:     PhaseResolve,
	Severity:  Error,
	Title:     "no DNS server answered in time",
	Meaning:   "The query went out and no answer came back. The target itself was never tried.",
	Breaks:    "All lookups of this node or pod; what shows first is timeouts of 5 or 10 seconds everywhere.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"CoreDNS is overloaded, not running, or not reachable from this node.",
		"A NetworkPolicy forbids egress to port 53.",
		"The conntrack race of parallel A and AAAA queries (delays in steps of 5 s).",
	},
	Fixes: []string{
		"See CoreDNS: kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide",
		"Ask each resolver over UDP and TCP: dig @RESOLVER NAME; dig +tcp @RESOLVER NAME",
		"Allow DNS in the policy: egress to namespace kube-system, ports 53/UDP and 53/TCP",
		"Against the race: run NodeLocal DNSCache",
	},
	Cite: "RFC 1035, Section 4.2.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `lookup [^:]+(?::\d+)?: (?:read|write) udp .*i/o timeout|lookup .*:53: .*i/o timeout` +
				`|lookup \S+(?: on \S+)?: (?:i/o timeout|context deadline exceeded)|Resolving timed out` +
				`|\bETIMEOUT\b|;; (?:connection timed out|communications error)[^;]*(?:servers|timed out)` +
				`|DNS (?:lookup|query|resolution) timed? ?out|dns.{0,20}DnsNameResolverTimeoutException`,
			Sample: "dial tcp: lookup svc.lab on 10.96.0.10:53: read udp 10.0.3.17:47849->10.96.0.10:53: i/o timeout",
		},
	},
	match: func(e *Evidence) bool { return e.End == EndTimeout },
})

var _ = register(Reason{
	ID:       "dns_error",
	Phase:    PhaseResolve,
	Severity: Error,
	Title:    "the name could not be looked up",
	Meaning: "The lookup failed in another way. The line may say \"connection refused\" or \"no route to " +
		"host\": that is about the DNS server, not about the target.",
	Breaks:    "Every name that this resolver is asked for.",
	OtherSide: "Nothing: no connection was made.",
	Causes: []string{
		"The answer was too long for UDP and the resolver does not listen on TCP 53.",
		"The resolver's address is not reachable.",
		"A broken resolver or middlebox sent garbage.",
	},
	Fixes: []string{
		"Ask over TCP: dig +tcp @RESOLVER NAME",
		"See the resolver in use: kubectl -n NAMESPACE exec POD -- cat /etc/resolv.conf",
		"Open 53/TCP beside 53/UDP in firewalls and NetworkPolicies",
	},
	Cite: "RFC 7766, Section 5",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `lookup \S+ on \S+: (?:dial|read|write|lame referral|cannot unmarshal|server response|connect|no answer)` +
				`|lame referral|cannot unmarshal DNS message`,
			Sample: "lookup svc.lab. on 10.96.0.10:53: dial tcp 10.96.0.10:53: connect: connection refused",
		},
		{
			Side:  ClientSide,
			Vague: true,
			Pattern: `lookup \S+ on \S+:|dns error: failed to lookup|getaddrinfo failed|resolver error` +
				`|could not be resolved \(`,
			Sample: "dns error: failed to lookup address information",
		},
	},
	match: func(e *Evidence) bool { return true },
})

var reasonDNSValidationFailed = register(Reason{
	ID:       "dns_validation_failed",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the DNS server's answer is not the one that is wanted",
	Meaning: "The DNS server answered, and its answer breaks a rule of the module: valid_rcodes, or one of the " +
		"fail_if_* expressions on its records.",
	Breaks:    "Whatever depends on these records: clients go to an old address, mail to another host.",
	OtherSide: "Nothing: to the server it was a question like any other.",
	Causes: []string{
		"The records were changed, and this server still has the old ones: a cache, or a secondary that lags behind.",
		"Another view or zone answers here: split DNS, a stub domain, a rewrite rule.",
		"The expression does not fit the form of a record: NAME.<tab>TTL<tab>IN<tab>TYPE<tab>DATA, and the TTL " +
			"of a cached record counts down.",
	},
	Fixes: []string{
		"See what it answers: dig @ADDRESS NAME TYPE",
		"Ask an authoritative server of the zone: dig +trace NAME TYPE",
		"Compare the serials of the zone's servers: dig +nssearch ZONE",
		"See every record as the expressions do: tlsprobe probe --format=json TARGET",
	},
	Cite: "RFC 1035, Section 5.1",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `(?:Answer|Authority|Additional) RRs validation failed|Rcode is not one of the valid rcodes` +
				`|At least one RR (?:matched|did not match) regexp|RRs did matched any regexp|Not all RRs matched regexp`,
			Sample: "level=error module=dns_udp target=10.96.0.10 msg=\"Answer RRs validation failed\"",
		},
	},
})
