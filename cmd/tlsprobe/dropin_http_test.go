package main

import (
	"net/url"
	"strings"
)

// httpModules are in blackbox_exporter's own grammar; CA, CERT and KEY are names of
// files.
const httpModules = `
  http_2xx: {prober: http, http: {tls_config: {ca_file: CA}}}
  http_post_2xx: {prober: http, http: {method: POST}}
  untrusting: {prober: http}
  stays: {prober: http, http: {follow_redirects: false}}
  not_found: {prober: http, http: {valid_status_codes: [404, 410]}}
  redirected: {prober: http, http: {valid_status_codes: [302], follow_redirects: false}}
  vhost: {prober: http, http: {headers: {Host: good.lab.test}, tls_config: {ca_file: CA}}}
  wrong_vhost: {prober: http, http: {headers: {Host: other.test}, tls_config: {ca_file: CA}}}
  named: {prober: http, http: {tls_config: {ca_file: CA, server_name: good.lab.test}}}
  misnamed: {prober: http, http: {tls_config: {ca_file: CA, server_name: other.test}}}
  skips: {prober: http, http: {tls_config: {insecure_skip_verify: true}}}
  tls12: {prober: http, http: {tls_config: {ca_file: CA, max_version: TLS12}}}
  tls13: {prober: http, http: {tls_config: {ca_file: CA, min_version: TLS13}}}
  client: {prober: http, http: {tls_config: {ca_file: CA, cert_file: CERT, key_file: KEY}}}
  ip4: {prober: http, http: {preferred_ip_protocol: ip4, ip_protocol_fallback: false}}
  ip6: {prober: http, http: {preferred_ip_protocol: ip6, ip_protocol_fallback: false}}
  hasty: {prober: http, timeout: 700ms}
  headers: {prober: http, http: {method: PUT, headers: {X-Probe: "1"}}}
  no_hello: {prober: http, http: {fail_if_body_matches_regexp: ["absent", "hello, (world|all)"]}}
  hello: {prober: http, http: {fail_if_body_not_matches_regexp: ["hello", "world"]}}
  no_cookies: {prober: http, http: {fail_if_header_matches: [{header: Set-Cookie, regexp: ".*", allow_missing: true}]}}
  no_cookies_strictly: {prober: http, http: {fail_if_header_matches: [{header: Set-Cookie, regexp: ".*"}]}}
  dated: {prober: http, http: {fail_if_header_not_matches: [{header: Date, regexp: "GMT$"}]}}
  signed: {prober: http, http: {fail_if_header_not_matches: [{header: X-Signed, regexp: "."}]}}
  green: {prober: http, http: {fail_if_body_json_not_matches_cel: "body.state == 'green' && body.nodes > 2"}}
  few: {prober: http, http: {fail_if_body_json_matches_cel: "body.nodes < 5"}}
  no_tls: {prober: http, http: {fail_if_ssl: true, tls_config: {ca_file: CA}}}
  only_tls: {prober: http, http: {fail_if_not_ssl: true, tls_config: {ca_file: CA}}}
  gzip: {prober: http, http: {compression: gzip, headers: {Accept-Encoding: gzip}}}
  deflate: {prober: http, http: {compression: deflate}}
  limited: {prober: http, http: {body_size_limit: 1KB}}
  http1: {prober: http, http: {enable_http2: false, valid_http_versions: ["HTTP/1.1"], tls_config: {ca_file: CA}}}
  wants_http1: {prober: http, http: {valid_http_versions: ["HTTP/1.0", "HTTP/1.1"], tls_config: {ca_file: CA}}}
  http2: {prober: http, http: {valid_http_versions: ["HTTP/2.0"], tls_config: {ca_file: CA}}}
  basic: {prober: http, http: {basic_auth: {username: ann, password: s3cret}}}
  bearer: {prober: http, http: {authorization: {credentials: s3cret}}}
  old_bearer: {prober: http, http: {bearer_token: s3cret}}
  posts: {prober: http, http: {method: POST, body: '{"a": 1}', headers: {Content-Type: application/json}}}
  file_headers: {prober: http, http: {http_headers: {X-Probe: {values: ["1"]}}}}
  proxied: {prober: http, http: {proxy_url: "PROXY", tls_config: {ca_file: CA}}}
  proxied_unresolved: {prober: http, http: {proxy_url: "PROXY", skip_resolve_phase_with_proxy: true, tls_config: {ca_file: CA}}}
  http3: {prober: http, http: {enable_http3: true, enable_http2: false, valid_http_versions: ["HTTP/3.0"], tls_config: {ca_file: CA, server_name: good.lab.test}}}
  http3_untrusting: {prober: http, http: {enable_http3: true, enable_http2: false, valid_http_versions: ["HTTP/3.0"]}}
  lab_http: {prober: http, http: {tls_config: {ca_file: CA, server_name: good.lab.test}}}
`

// httpCases ask the site for all that it can answer.
func (p *dropInPeers) httpCases() []scrapeCase {
	plain, secure, h3 := p.plain.URL, p.secure.URL, p.instances["quic-good-http3"].Target.Address
	get := func(name, module, target string) scrapeCase {
		return scrapeCase{name: "http: " + name, module: module, target: target}
	}
	to := func(from, url_ string) string { return from + "/to?url=" + url.QueryEscape(url_) }
	return []scrapeCase{
		get("plain", "http_2xx", plain),
		get("without a scheme", "http_2xx", strings.TrimPrefix(plain, "http://")),
		get("by the default module", "", plain),
		get("https", "http_2xx", secure),
		get("https by localhost", "http_2xx", strings.Replace(secure, "127.0.0.1", "localhost", 1)),
		get("localhost, IPv4 only", "ip4", strings.Replace(plain, "127.0.0.1", "localhost", 1)),
		get("a name with a mistake", "http_2xx", "http://a..b/"),
		get("IPv4, IPv6 only", "ip6", plain),
		get("post", "http_post_2xx", plain+"/need?method=POST"),
		get("headers", "headers", plain+"/need?method=PUT&x-probe=1"),
		get("a header is missing", "http_2xx", plain+"/need?x-probe=1"),
		get("404", "http_2xx", plain+"/nowhere"),
		get("404 is right", "not_found", plain+"/nowhere"),
		get("200 is wrong", "not_found", plain+"/"),
		get("503", "http_2xx", secure+"/status?code=503"),
		get("204", "http_2xx", secure+"/status?code=204"),
		get("last modified", "http_2xx", plain+"/modified"),
		get("length unknown", "http_2xx", plain+"/chunked"),
		get("compressed on its own", "http_2xx", plain+"/gzip"),
		get("redirect", "http_2xx", plain+"/down?n=1"),
		get("three redirects", "http_2xx", secure+"/down?n=3"),
		get("ten redirects", "http_2xx", plain+"/down?n=10"),
		get("redirect to https", "http_2xx", to(plain, secure)),
		get("redirect to http", "http_2xx", to(secure, plain)),
		get("redirect to nobody", "http_2xx", to(plain, "http://"+p.closed)),
		get("redirect to the untrusted", "untrusting", to(plain, secure)),
		get("redirect is not followed", "stays", plain+"/down?n=1"),
		get("redirect is right", "redirected", to(plain, plain)),
		get("redirect loop", "http_2xx", plain+"/loop"),
		get("redirects without end", "http_2xx", secure+"/endless"),
		get("redirect with a cookie", "http_2xx", plain+"/cookie"),
		get("cut before the answer", "http_2xx", plain+"/cut"),
		get("cut in the header", "http_2xx", plain+"/cut?after="+url.QueryEscape("HTTP/1.1 200 OK\r\nContent-")),
		get("cut in the body", "http_2xx", plain+"/cut?after="+url.QueryEscape("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")),
		get("not HTTP", "http_2xx", plain+"/cut?after="+url.QueryEscape("220 mail ESMTP\r\n")),
		get("reset stream", "http_2xx", secure+"/cut"),
		get("refused", "http_2xx", "http://"+p.closed),
		get("https refused", "http_2xx", "https://"+p.closed),
		get("https to a plain port", "http_2xx", strings.Replace(plain, "http:", "https:", 1)),
		get("http to a TLS port", "http_2xx", strings.Replace(secure, "https:", "http:", 1)),
		get("untrusted", "untrusting", secure),
		get("not verified", "skips", secure),
		get("vhost", "vhost", secure+"/need?host=good.lab.test"),
		get("vhost that is not certified", "wrong_vhost", secure),
		get("server_name", "named", secure),
		get("server_name that is not certified", "misnamed", secure),
		get("TLS 1.2", "tls12", secure),
		get("TLS 1.3", "tls13", secure),
		get("client certificate", "client", p.mutual),
		get("no client certificate", "http_2xx", p.mutual),
		get("no client certificate, TLS 1.2", "tls12", p.mutual),
		get("not a URL", "http_2xx", "http://[::1/"),
		get("body matches", "no_hello", plain),
		get("body matches as it should", "hello", plain),
		get("body does not match", "hello", plain+"/json"),
		get("no header that matches", "no_cookies", plain),
		get("no header at all", "no_cookies_strictly", plain),
		get("header matches", "dated", plain),
		get("header is missing", "signed", plain),
		get("JSON is right", "green", plain+"/json"),
		get("JSON is wrong", "few", plain+"/json"),
		get("not JSON", "green", plain),
		get("TLS where there should be none", "no_tls", secure),
		get("no TLS where there should be none", "no_tls", plain),
		get("no TLS", "only_tls", plain),
		get("TLS as it should be", "only_tls", secure),
		get("gzip", "gzip", plain+"/gzip"),
		get("not gzip", "gzip", plain),
		get("not deflate", "deflate", plain+"/gzip"),
		get("within the limit", "limited", plain),
		get("beyond the limit", "limited", plain+"/big"),
		get("HTTP/1.1", "http1", secure),
		get("HTTP/2 where HTTP/1 is wanted", "wants_http1", secure),
		get("HTTP/2", "http2", secure),
		get("basic auth", "basic", plain+"/need?basic=ann:s3cret"),
		get("bearer", "bearer", plain+"/need?authorization=Bearer+s3cret"),
		get("bearer_token", "old_bearer", plain+"/need?authorization=Bearer+s3cret"),
		get("post with a body", "posts", plain+"/need?method=POST&body="+url.QueryEscape(`{"a": 1}`)),
		get("http_headers", "file_headers", plain+"/need?x-probe=1"),
		get("proxy", "proxied", plain),
		get("proxy, TLS", "proxied", secure),
		get("proxy, a name that it resolves", "proxied_unresolved", "http://site.test/"),
		get("proxy, refused", "proxied", "http://"+p.closed),
		get("HTTP/3", "http3", h3),
		get("HTTP/3, untrusted", "http3_untrusting", h3),
		get("HTTP/3, expired", "http3", "https://"+p.instances["quic-expired"].Target.Address),
		{name: "http: HTTP/3, refused", module: "http3", target: "https://" + p.closed, timeout: "1.5"},
		{name: "http: HTTP/3, no answer", module: "http3", target: "https://" + p.instances["quic-silent"].Target.Address, timeout: "1.5"},
		{name: "http: hangs", module: "http_2xx", target: plain + "/slow", timeout: "1.2"},
		{name: "http: hangs, by the module's timeout", module: "hasty", target: plain + "/slow"},
	}
}

// requestCases are about the request, not about what it probes.
func (p *dropInPeers) requestCases() []scrapeCase {
	plain, secure := p.plain.URL, p.secure.URL
	return []scrapeCase{
		{name: "request: no target", module: "http_2xx"},
		{name: "request: no target and no module"},
		{name: "request: unknown module", module: "htp_2xx", target: plain},
		{name: "request: unknown module goes first", module: "htp_2xx", timeout: "soon"},
		{name: "request: bad timeout", module: "http_2xx", target: plain, timeout: "soon"},
		{name: "request: timeout of 0", module: "http_2xx", target: plain, timeout: "0"},
		{name: "request: POST", module: "http_2xx", target: plain, any: "POST"},
		{name: "request: HEAD", module: "http_2xx", target: plain, any: "HEAD"},
		{name: "request: unknown parameters", module: "http_2xx", target: plain, query: "&foo=bar&foo=baz"},
		{name: "request: two modules", module: "http_2xx", target: plain, query: "&module=untrusting"},
		{name: "request: debug", module: "http_2xx", target: plain, query: "&debug=true"},
		{name: "request: debug of a failure", module: "http_2xx", target: "http://" + p.closed, query: "&debug=true"},
		{name: "request: debug=1", module: "http_2xx", target: plain, query: "&debug=1"},
		{name: "request: hostname", module: "http_2xx", target: plain + "/need?host=shop.test", query: "&hostname=shop.test"},
		{name: "request: hostname over TLS", module: "http_2xx", target: secure, query: "&hostname=good.lab.test"},
		{name: "request: hostname that is not certified", module: "http_2xx", target: secure, query: "&hostname=shop.test"},
		{name: "request: hostname and another Host", module: "vhost", target: plain, query: "&hostname=shop.test"},
		{name: "request: hostname and the same Host", module: "vhost", target: secure, query: "&hostname=good.lab.test"},
		{name: "request: accepts anything", module: "http_2xx", target: plain, accept: "*/*"},
		{name: "request: accepts OpenMetrics", module: "http_2xx", target: plain, accept: "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3"},
		{name: "request: accepts protobuf", module: "http_2xx", target: plain, accept: "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"},
		{name: "request: from Prometheus 3", module: "http_2xx", target: secure, accept: "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5," +
			"application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"},
	}
}
