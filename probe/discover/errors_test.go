package discover_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// wrong are configurations with mistakes, and all that must be said of them;
// {kinds} stands for the names of all probers.
var wrong = []struct{ name, yaml, want string }{
	{"empty", "",
		`c.yaml: is empty; write at least a target: targets: [{address: "example.com:443"}]`},
	{"only a comment", "# only a comment\n",
		`c.yaml: is empty; write at least a target: targets: [{address: "example.com:443"}]`},
	{"tab", "targets:\n\t- address: a:1\n",
		`c.yaml:2:1: a tab indents this line; YAML takes spaces only`},
	{"bracket left open", "targets: [\n",
		`c.yaml:1: did not find expected node content`},
	{"indentation", `interval: 30s
targets:
  - address: a:443
   module: tls
`,
		`c.yaml:4: did not find expected '-' indicator`},
	{"two colons", "a: b: c\n",
		`c.yaml:1: mapping values are not allowed in this context`},
	{"second document", `interval: 30s
---
interval: 10s
`,
		`c.yaml:2:1: a second document begins here; write all in one, without ---`},
	{"second document with a tab", "interval: 30s\n---\n\t bad\n",
		`c.yaml:3:1: a tab indents this line; YAML takes spaces only`},
	{"list at the top", "- 1\n",
		`c.yaml:1:1: is a list; write a mapping, key: value`},
	{"text at the top", "hello\n",
		`c.yaml:1:1: is one value ("hello"); write a mapping, key: value`},
	{"quote left open", "interval: \"30s\n",
		`c.yaml:1: found unexpected end of stream`},
	{"unknown key", "intervall: 30s\n",
		`c.yaml:1:1: intervall: unknown key; did you mean "interval"?`},
	{"duration without unit", "interval: 30\n",
		`c.yaml:1:11: interval: 30 has no unit; write 30s for seconds`},
	{"fraction without unit", "interval: 0.5\n",
		`c.yaml:1:11: interval: 0.5 has no unit; write 0.5s for seconds`},
	{"duration in words", "interval: soon\n",
		`c.yaml:1:11: interval: "soon" is no duration; write one such as 30s or 1m30s`},
	{"duration as a list", "interval: [30s]\n",
		`c.yaml:1:11: interval: is a list; write a duration such as 30s or 1m30s`},
	{"no value", "interval:\n",
		`c.yaml:1:10: interval: has no value; write a duration such as 30s or 1m30s, or remove the key`},
	{"zero interval", "interval: 0s\n",
		`c.yaml:1:11: interval: 0s is too short; write 10ms or more`},
	{"negative timeout", "timeout: -1s\n",
		`c.yaml:1:10: timeout: -1s is too short; write 10ms or more`},
	{"timeout of the default interval", "timeout: 30s\n",
		`c.yaml:1:10: timeout: 30s is not below the interval of 30s`},
	{"timeout of the written interval", `interval: 5s
timeout: 5s
`,
		`c.yaml:2:10: timeout: 5s is not below the interval of 5s (line 1)`},
	{"key written twice", `interval: 5s
interval: 6s
`,
		`c.yaml:2:1: interval: is written twice (line 1); keep one`},
	{"target's timeout", `interval: 20s
targets:
- address: a:1
  timeout: 20s
`,
		`c.yaml:4:12: targets[0].timeout: 20s is not below the interval of 20s`},
	{"target's interval", `timeout: 10s
targets:
- address: a:1
  interval: 5s
`,
		`c.yaml:4:13: targets[0].interval: 5s is not above the timeout of 10s (line 1); give the target a timeout of its own`},
	{"targets as a mapping", "targets: {address: a:1}\n",
		`c.yaml:1:10: targets: is a mapping; write a list`},
	{"target as text", `targets:
- a:1
-
- {}
`,
		`c.yaml:2:3: targets[0]: is one value ("a:1"); write a mapping, key: value
c.yaml:3:2: targets[1].address: is missing; write host:port, or a URL
c.yaml:4:3: targets[2].address: is missing; write host:port, or a URL`},
	{"addresses", `targets:
- {address: example.com}
- {address: 10.0.0.1}
- {address: "2001:db8::1"}
- {address: "2001:db8::1:443"}
- {address: "[2001:db8::1]"}
- {address: "a:0"}
- {address: "a:https"}
- {address: ":443"}
- {address: "https://"}
- {address: "ftp://x/"}
- {address: "https://u:p@x/", name: x1}
- {address: "https://x:99999/"}
- {address: "https://x y/", name: xx}
- {address: "https://x/%zz"}
- {address: "https://x/", module: tls}
- {address: "a b:443", name: ab}
- {address: "[::g]:443"}
- {address: "http://[::1"}
`,
		`c.yaml:2:13: targets[0].address: "example.com" has no port; write "example.com:443"
c.yaml:3:13: targets[1].address: "10.0.0.1" has no port; write 10.0.0.1:443
c.yaml:4:13: targets[2].address: "2001:db8::1" has no port; write [2001:db8::1]:443
c.yaml:5:13: targets[3].address: "2001:db8::1:443" has no port; write [2001:db8::1:443]:443
c.yaml:6:13: targets[4].address: "[2001:db8::1]" has no port; write [2001:db8::1]:443
c.yaml:7:13: targets[5].address: "a:0": "0" is no port; write one from 1 to 65535
c.yaml:8:13: targets[6].address: "a:https": "https" is no port; write one from 1 to 65535
c.yaml:9:13: targets[7].address: ":443" has no host; write one before the port
c.yaml:10:13: targets[8].address: "https://" has no host; write one before the port
c.yaml:11:13: targets[9].address: "ftp://x/" has the scheme "ftp"; write http://, https:// or host:port
c.yaml:12:13: targets[10].address: holds a user name or password, which would show in metrics; remove them
c.yaml:13:13: targets[11].address: "https://x:99999/": "99999" is no port; write one from 1 to 65535
c.yaml:14:13: targets[12].address: "https://x y/" is no URL: invalid character " " in host name
c.yaml:15:13: targets[13].address: "https://x/%zz" is no URL: invalid URL escape "%zz"
c.yaml:16:13: targets[14].address: "https://x/" is a URL, and module "tls" has the prober "tls"; write host:port, or a module with the prober http
c.yaml:17:13: targets[15].address: "a b:443" has the host "a b", which is no name
c.yaml:18:13: targets[16].address: "[::g]:443" has the host "::g", which is no IPv6 address
c.yaml:19:13: targets[17].address: "http://[::1" is no URL: missing ']' in host`},
	{"addresses of modules without a prober", `modules:
  none: {timeout: 5s}
  typo: {prober: htp}
targets:
- {address: "https://x/", module: none}
- {address: "https://y/", module: typo}
`,
		`c.yaml:2:9: modules.none.prober: is missing; write one of {kinds}
c.yaml:3:18: modules.typo.prober: unknown prober "htp"; did you mean "http"?`},
	{"names", `targets:
- {name: a, address: "a:1"}
- {name: a, address: "b:1"}
- {address: "c:1"}
- {address: "c:1"}
- {name: "a b", address: "c:1"}
`,
		`c.yaml:3:10: targets[1].name: "a" is the name of targets[0] already (line 2); give this target another name
c.yaml:5:13: targets[3].address: "c:1" is the name of targets[2] already (line 4); give this target another name
c.yaml:6:10: targets[4].name: "a b" holds a space or an unprintable character; a name is typed in URLs`},
	{"unknown modules", `targets:
- {address: "a:1", module: tsl}
`,
		`c.yaml:2:28: targets[0].module: unknown module "tsl"; did you mean "tls"?`},
	{"kubernetes", `sources:
- kubernetes:
    kubeconfig: [a]
    cluster_ca_file: ca.crt
    kinds: [webhok, ingress, pod, 7]
    namespaces: ["team-[", Shop, ""]
    exclude_namespaces: a
    selector: a in b
    neighbours: -1
    probes_per_second: -0.5
    neighbors: 3
- kubernetes: {kinds: [], probes_per_second: .inf, neighbours: 1.5, selector: [a]}
- {kubernetes: {}, http: {url: "http://a/"}}
- kubernetes: true
- kubernetis: {}
- {}
`,
		`c.yaml:3:17: sources[0].kubernetes.kubeconfig: is a list; write text
c.yaml:4:22: sources[0].kubernetes.cluster_ca_file: "ca.crt" is relative, and is read by agents on other machines; write an absolute path
c.yaml:5:13: sources[0].kubernetes.kinds[0]: unknown kind "webhok"; did you mean "webhook"?
c.yaml:5:30: sources[0].kubernetes.kinds[2]: unknown kind "pod"; write one of acme, apiserver, apiservice, conversion, gateway, ingress, kubelet, otlp, service, webhook
c.yaml:5:35: sources[0].kubernetes.kinds[3]: unknown kind "7"; write one of acme, apiserver, apiservice, conversion, gateway, ingress, kubelet, otlp, service, webhook
c.yaml:6:18: sources[0].kubernetes.namespaces[0]: "team-[" is no pattern; write a name, with * for any characters, ? for one and [a-c] for some
c.yaml:6:28: sources[0].kubernetes.namespaces[1]: "Shop" matches no namespace, whose names have lower case letters, digits and -; write one, or a pattern such as team-*
c.yaml:6:34: sources[0].kubernetes.namespaces[2]: "" matches no namespace, whose names have lower case letters, digits and -; write one, or a pattern such as team-*
c.yaml:7:25: sources[0].kubernetes.exclude_namespaces: is one value ("a"); write a list
c.yaml:8:15: sources[0].kubernetes.selector: "a in b" is no label selector: unable to parse requirement: found 'b' expected: '('; write one such as tier=edge,team!=x
c.yaml:9:17: sources[0].kubernetes.neighbours: -1 is below 0; write how many other nodes' kubelets each node probes
c.yaml:10:24: sources[0].kubernetes.probes_per_second: -0.5 is no rate; write a number such as 20, or 0 for no limit
c.yaml:11:5: sources[0].kubernetes.neighbors: unknown key; did you mean "neighbours"?
c.yaml:12:23: sources[1].kubernetes.kinds: names no kind, so that there would be no targets; write some, or remove the key for all of them
c.yaml:12:46: sources[1].kubernetes.probes_per_second: ".inf" is not a number
c.yaml:12:64: sources[1].kubernetes.neighbours: "1.5" is not a whole number
c.yaml:12:79: sources[1].kubernetes.selector: is a list; write text
c.yaml:13:3: sources[2]: names two kinds of source; write - http: and - kubernetes: as two entries
c.yaml:14:15: sources[3].kubernetes: is one value ("true"); write a mapping, key: value
c.yaml:15:3: sources[4].kubernetis: unknown key; did you mean "kubernetes"?
c.yaml:16:3: sources[5]: names no kind of source; write http: {url: ...}, or kubernetes: {}`},
	{"routes", `modules:
  proxied: {prober: http, http: {proxy_url: "http://proxy:3128"}}
targets:
- {name: a, address: "a:1", routes: {via: x}}
- name: b
  address: b:1
  routes:
  - {via: pod x}
  - 10.0.0.1:443
  - {address: 10.0.0.1, vai: pod y}
  - {address: "https://10.0.0.1/"}
  - {address: "10.0.0.1:0"}
  - {address: [a]}
- {name: c, address: "http://c/", module: proxied, routes: [{address: "10.0.0.1:80"}]}
`,
		`c.yaml:4:37: targets[0].routes: is a mapping; write a list
c.yaml:8:5: targets[1].routes[0].address: is missing; write host:port, the address to dial
c.yaml:9:5: targets[1].routes[1]: is one value ("10.0.0.1:443"); write a mapping, key: value
c.yaml:10:15: targets[1].routes[2].address: "10.0.0.1" has no port; write 10.0.0.1:443
c.yaml:10:25: targets[1].routes[2].vai: unknown key; did you mean "via"?
c.yaml:11:15: targets[1].routes[3].address: "https://10.0.0.1/" is a URL; write host:port, as a route changes nothing but where is dialled
c.yaml:12:15: targets[1].routes[4].address: "10.0.0.1:0": "0" is no port; write one from 1 to 65535
c.yaml:13:15: targets[1].routes[5].address: is a list; write text
c.yaml:14:60: targets[2].routes: go through no proxy, and module "proxied" has one; remove the routes, or name another module`},
	{"labels", `targets:
- address: a:1
  labels: {target: x, __a: b, "a-b": c, 1: d, ok: 5, l: [a]}
`,
		`c.yaml:3:20: targets[0].labels.target: is set by tlsprobe or Prometheus; write another name, such as "target_target"
c.yaml:3:28: targets[0].labels.__a: is reserved by Prometheus; write a name without __
c.yaml:3:38: targets[0].labels.a-b: is no label name; write letters, digits and _, not beginning with a digit
c.yaml:3:44: targets[0].labels.1: is no label name; write letters, digits and _, not beginning with a digit
c.yaml:3:57: targets[0].labels.l: is a list; write text`},
	{"inline CAs", `targets:
- address: a:1
  ca: nonsense
- address: b:1
  ca: x
  ca_file: y
`,
		`c.yaml:3:7: targets[0].ca: holds no certificate; write PEM (-----BEGIN CERTIFICATE-----), or use ca_file
c.yaml:5:7: targets[1].ca: excludes ca_file (line 6); write one of them`},
	{"unknown prober", `modules:
  m:
    prober: htp
`,
		`c.yaml:3:13: modules.m.prober: unknown prober "htp"; did you mean "http"?`},
	{"no prober", `modules:
  m:
    http: {}
`,
		`c.yaml:3:5: modules.m.prober: is missing; write one of {kinds}`},
	{"empty module", `modules:
  m:
`,
		`c.yaml:2:5: modules.m.prober: is missing; write one of {kinds}`},
	{"prober like no other", `modules:
  m: {prober: carrier_pigeon}
  n: {prober: [tls]}
`,
		`c.yaml:2:15: modules.m.prober: unknown prober "carrier_pigeon"; write one of {kinds}
c.yaml:3:15: modules.n.prober: is a list; write text`},
	{"module's keys", `modules:
  m:
    prober: tls
    timeout: 5
    tls:
      adresses: all
      addresses: some
      tls_config: {min_version: TLS14, ca_fil: x}
    http: {methud: GET}
`,
		`c.yaml:4:14: modules.m.timeout: 5 has no unit; write 5s for seconds
c.yaml:6:7: modules.m.tls.adresses: unknown key; did you mean "addresses"?
c.yaml:8:33: modules.m.tls.tls_config.min_version: unknown TLS version "TLS14": write TLS10, TLS11, TLS12 or TLS13
c.yaml:8:40: modules.m.tls.tls_config.ca_fil: unknown key; did you mean "ca_file"?
c.yaml:9:12: modules.m.http.methud: unknown key; did you mean "method"?`},
	{"module's setting", `modules:
  m:
    prober: tls
    tls:
      addresses: some
`,
		`c.yaml:5:18: modules.m.tls.addresses: "some" is neither first nor all`},
	{"settings that go together", `modules:
  m:
    prober: tls
    tls:
      tls_config:
        cert_file: x
`,
		`c.yaml:6:9: modules.m.tls.tls_config: cert_file and key_file go together: write both or neither`},
	{"settings in a module with a dotted name", `modules:
  m.n:
    prober: tls
    tls:
      tls_config:
        min_version: TLS13
        max_version: TLS12
`,
		`c.yaml:6:22: modules["m.n"].tls.tls_config.min_version: is above max_version: no version is left`},
	{"types of values", `modules:
  m:
    prober: http
    http:
      valid_status_codes: [two, "200", 1.5, 200]
      follow_redirects: maybe
      require_https: "true"
      ip_protocol_fallback: no
      method: {a: b}
      headers: [a]
      max_redirects: 99999999999999999999
`,
		`c.yaml:5:28: modules.m.http.valid_status_codes[0]: "two" is not a whole number
c.yaml:5:33: modules.m.http.valid_status_codes[1]: "200" is text; write 200 without quotes
c.yaml:5:40: modules.m.http.valid_status_codes[2]: "1.5" is not a whole number
c.yaml:6:25: modules.m.http.follow_redirects: "maybe" is neither true nor false
c.yaml:7:22: modules.m.http.require_https: "true" is text; write true without quotes
c.yaml:9:15: modules.m.http.method: is a mapping; write text
c.yaml:10:16: modules.m.http.headers: is a list; write a mapping, key: value
c.yaml:11:22: modules.m.http.max_redirects: 99999999999999999999 is out of range`},
	{"module's timeout", `modules:
  m: {prober: tls, timeout: -3s}
targets:
- {address: "a:1", module: m}
`,
		`c.yaml:2:29: modules.m.timeout: -3s is too short; write 10ms or more`},
	{"sources", `sources:
- {}
- http:
- http: {}
- http: {url: "ftp://x"}
- http: {url: "http://u:p@x/"}
- http: {url: "http://x/", bearer_token_file: t, refresh: 0s}
- consul: {}
- http: {url: ":x"}
- http: {uri: "http://x"}
`,
		`c.yaml:2:3: sources[0]: names no kind of source; write http: {url: ...}, or kubernetes: {}
c.yaml:3:3: sources[1]: names no kind of source; write http: {url: ...}, or kubernetes: {}
c.yaml:4:9: sources[2].http.url: is missing; write where a list of targets is, such as http://tlsprobe-hub:9790/targets
c.yaml:5:15: sources[3].http.url: "ftp://x" is no URL of http or https; write one such as http://tlsprobe-hub:9790/targets
c.yaml:6:15: sources[4].http.url: holds a password, which would show in logs; use bearer_token_file
c.yaml:7:47: sources[5].http.bearer_token_file: would be sent in the clear (line 7); use https
c.yaml:7:59: sources[5].http.refresh: 0s is too short; write 10ms or more
c.yaml:8:3: sources[6].consul: unknown key; write one of http, kubernetes
c.yaml:9:15: sources[7].http.url: ":x" is no URL: missing protocol scheme
c.yaml:10:10: sources[8].http.uri: unknown key; did you mean "url"?`},
	{"allow by another word", "probe_endpoint: {allow: all}\n",
		`c.yaml:1:25: probe_endpoint.allow: is one value ("all"); write any, or a list of {network, ports}`},
	{"allow with bare networks", "probe_endpoint: {allow: [10.0.0.0/8]}\n",
		`c.yaml:1:26: probe_endpoint.allow[0]: is one value ("10.0.0.0/8"); write a mapping, key: value`},
	{"allow rules", `probe_endpoint:
  allow:
  - {network: 10.0.0.1/8}
  - {network: any}
  - {ports: [443]}
  - {network: "::ffff:10.0.0.0/104"}
  - {network: 10.0.0.1, ports: [0, 9-8, https]}
  - {network: 10.0.0.1, ports: 443}
`,
		`c.yaml:3:15: probe_endpoint.allow[0].network: "10.0.0.1/8" is an address within a network; write 10.0.0.0/8
c.yaml:4:15: probe_endpoint.allow[1].network: "any" is no network; write one such as 10.0.0.0/8, or one address
c.yaml:5:5: probe_endpoint.allow[2].network: is missing; write a network such as 10.0.0.0/8, or one address
c.yaml:6:15: probe_endpoint.allow[3].network: "::ffff:10.0.0.0/104" is IPv4 mapped into IPv6; write it as IPv4
c.yaml:7:33: probe_endpoint.allow[4].ports[0]: "0" is no port: write one from 1 to 65535, or a range such as 8000-8100
c.yaml:7:36: probe_endpoint.allow[4].ports[1]: "9-8" ends before it begins: write 8-9
c.yaml:7:41: probe_endpoint.allow[4].ports[2]: "https" is no port: write one from 1 to 65535, or a range such as 8000-8100
c.yaml:8:32: probe_endpoint.allow[5].ports: is one value ("443"); write a list`},
	{"probe_endpoint", "probe_endpoint: {alow: any}\n",
		`c.yaml:1:18: probe_endpoint.alow: unknown key; did you mean "allow"?`},
	{"unknown key at the top", "a: &a [x]\n",
		`c.yaml:1:1: a: unknown key; write one of interval, modules, probe_endpoint, sources, targets, timeout`},
	{"list within itself", `targets: &a
- *a
`,
		`c.yaml:2:3: the alias "*a" stands within what it stands for`},
	{"merge within itself", `targets:
- &t
  <<: *t
  address: a:1
`,
		`c.yaml:3:7: the alias "*t" stands within what it stands for`},
	{"unknown anchor", `targets:
- *nope
`,
		`c.yaml:2: unknown anchor 'nope' referenced`},
	{"list as a key", `? [a]
: b
`,
		`c.yaml:1:3: a key is a list; write text`},
	{"mistake in an anchor", `targets:
- &d {interval: 5x}
- {<<: *d, address: "b:1"}
`,
		`c.yaml:2:3: targets[0].address: is missing; write host:port, or a URL
c.yaml:2:17: targets[0].interval: "5x" is no duration; write one such as 30s or 1m30s
c.yaml:2:17: targets[1].interval: "5x" is no duration; write one such as 30s or 1m30s`},
	{"merge of a number", `targets:
- <<: 5
  address: a:1
`,
		`c.yaml:2:7: targets[0]["<<"]: is one value ("5"); write an alias of a mapping, such as *defaults`},
	{"control character", "a: \x00\n",
		`c.yaml:1: control characters are not allowed`},
}

func TestErrors(t *testing.T) {
	for _, test := range wrong {
		t.Run(test.name, func(t *testing.T) {
			c, err := discover.Parse("c.yaml", []byte(test.yaml))
			if err == nil {
				t.Fatalf("no error, but the configuration %+v", c)
			}
			want := strings.ReplaceAll(test.want, "{kinds}", strings.Join(probe.Kinds(), ", "))
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}
