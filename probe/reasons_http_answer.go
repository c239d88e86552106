package probe

// What an answer must be besides its status, as the module demands.

var reasonHTTPVersionMismatch = register(Reason{
	ID:       "http_version_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer came in another version of HTTP",
	Meaning: "The server answered, but in a version of HTTP that the module does not list in " +
		"valid_http_versions. Over TLS the two agree on it by ALPN.",
	Breaks:    "What needs the version that was expected: gRPC needs HTTP/2, old clients HTTP/1.1.",
	OtherSide: "The request, with its version, in the access log.",
	Causes: []string{
		"HTTP/2 is not switched on at the server, or a proxy before it offers HTTP/1.1 only.",
		"The module does not offer it: enable_http2 is false, or a plain http URL was asked, which knows HTTP/1.1 only.",
		"The list is out of date.",
	},
	Fixes: []string{
		"See what is agreed on: curl -skI -o /dev/null -w '%{http_version}\\n' https://HOST:PORT/",
		"Offer it: enable_http2: true in the module; nginx: http2 on; Envoy: codec_type: AUTO",
		"Expect it, if it is right: valid_http_versions: [\"HTTP/1.1\", \"HTTP/2.0\"]",
	},
	Cite: "RFC 9110, Section 2.5",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `Invalid HTTP version number|\breason=http_version_mismatch\b`,
			Sample:  `level=error msg="Invalid HTTP version number" version=HTTP/1.1`,
		},
	},
})

var reasonHTTPTLSMismatch = register(Reason{
	ID:       "http_tls_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the answer came over TLS and must not, or without TLS and must",
	Meaning: "After all redirects the last answer came over TLS although the module says fail_if_ssl, or " +
		"without TLS although it says fail_if_not_ssl.",
	Breaks:    "Nothing by itself: the answer is not protected as the module demands.",
	OtherSide: "The request in the access log.",
	Causes: []string{
		"No redirect leads from http to https, or one leads back.",
		"A redirect to https was added after the module was written.",
	},
	Fixes: []string{
		"See where it ends: curl -sIL https://HOST/ | grep -iE '^(HTTP|location)'",
		"Demand less: remove fail_if_ssl or fail_if_not_ssl from the module",
	},
	Cite: "RFC 9110, Section 4.2",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `Final request was (?:not )?over SSL|\breason=http_tls_mismatch\b`,
			Sample:  `level=error msg="Final request was not over SSL"`,
		},
	},
})

var reasonHTTPHeaderMismatch = register(Reason{
	ID:       "http_header_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "a header of the answer is not as expected",
	Meaning: "The status is right, but a header lacks, lacks what fail_if_header_not_matches demands, or has " +
		"what fail_if_header_matches forbids.",
	Breaks:    "What relies on the header: caches, browsers (CORS, HSTS), sessions.",
	OtherSide: "The request with a good status in its access log.",
	Causes: []string{
		"A proxy on the way adds or removes the header.",
		"Another backend answers than the one meant.",
		"The header is not sent on this path, and allow_missing is false.",
	},
	Fixes: []string{
		"See them: curl -ksS -D- -o /dev/null https://HOST:PORT/PATH",
		"Try the expression on the value: grep -E 'REGEXP' (its syntax is RE2, and it is not anchored)",
		"Let it lack: allow_missing: true in the condition",
	},
	Cite: "RFC 9110, Section 6.3",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `Header (?:matched|did not match) regular expression|Missing required header` +
				`|\breason=http_header_mismatch\b`,
			Sample: `level=error msg="Header did not match regular expression" header=Server regexp=nginx value_count=1`,
		},
	},
})

var reasonHTTPBodyMismatch = register(Reason{
	ID:       "http_body_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the body of the answer is not as expected",
	Meaning: "The status is right, but the body lacks what fail_if_body_not_matches_regexp demands, or has " +
		"what fail_if_body_matches_regexp forbids.",
	Breaks:    "What the words stand for: a page that says 200 and \"database unavailable\" serves nobody.",
	OtherSide: "The request with a good status in its access log.",
	Causes: []string{
		"The application answers an error page with status 200.",
		"Another backend, a login page or a default page answers.",
		"The body is compressed, and the module does not say compression.",
	},
	Fixes: []string{
		"Read it: curl -ksS https://HOST:PORT/PATH | head -c 500",
		"Try the expression: curl -ksS https://HOST:PORT/PATH | grep -E 'REGEXP' (its syntax is RE2, and it is not anchored)",
	},
	Cite: "RFC 9110, Section 6.4",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `Body (?:matched|did not match) regular expression|\breason=http_body_mismatch\b`,
			Sample:  `level=error msg="Body did not match regular expression" regexp="Download the latest version here"`,
		},
	},
})

var reasonHTTPCELMismatch = register(Reason{
	ID:       "http_cel_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the JSON of the answer is not as expected",
	Meaning: "The status is right, but the body is no JSON, or a CEL expression about it gives the wrong " +
		"answer: fail_if_body_json_matches_cel, fail_if_body_json_not_matches_cel.",
	Breaks:    "What the field stands for, such as a health check's verdict.",
	OtherSide: "The request with a good status in its access log.",
	Causes: []string{
		"The application reports a fault in its JSON, with status 200.",
		"The expression names a field that this version does not have.",
		"The path answers HTML.",
	},
	Fixes: []string{
		"Read it: curl -ksS https://HOST:PORT/PATH | jq .",
		"A field that may lack: has(body.FIELD) && body.FIELD == 'ok'",
	},
	Cite: "github.com/google/cel-spec, doc/langdef.md",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `Body (?:matched|did not match) CEL expression|Error evaluating CEL expression` +
				`|Error unmarshalling HTTP body to JSON|\breason=http_cel_mismatch\b`,
			Sample: `level=error msg="Body did not match CEL expression" expression="body.status == 'ok'"`,
		},
	},
})

var reasonHTTPCompressionMismatch = register(Reason{
	ID:       "http_compression_mismatch",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the body is not compressed as expected",
	Meaning: "The module says by what the body must be compressed, and it does not decompress by that: it is " +
		"plain, compressed otherwise, or broken.",
	Breaks:    "Clients that demand the coding; others get more bytes than need be.",
	OtherSide: "The request with a good status in its access log.",
	Causes: []string{
		"The request does not ask for it: a module with compression needs the header Accept-Encoding, too.",
		"The server does not compress this type or so small a body.",
		"A proxy on the way undoes or repeats the compression.",
	},
	Fixes: []string{
		"See the coding: curl -ksS -D- -o /dev/null -H 'Accept-Encoding: gzip, br' https://HOST:PORT/PATH | grep -i encoding",
		"Ask for it: headers: {Accept-Encoding: gzip} beside compression: gzip",
	},
	Cite: "RFC 9110, Section 8.4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `Failed to get decompressor|gzip: invalid header|brotli: |flate: corrupt input` +
				`|incorrect header check|ERR_CONTENT_DECODING_FAILED|Error while processing content unencoding` +
				`|\breason=http_compression_mismatch\b`,
			Sample: `level=error msg="Failed to get decompressor for HTTP response body" err="gzip: invalid header"`,
		},
	},
})
