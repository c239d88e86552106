package exporter_test

import (
	"crypto/tls"
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

var update = flag.Bool("update", false, "write the golden files and METRICS.md anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenFile(t, filepath.Join("testdata", name), got)
}

func goldenFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update accepts it):\n%s", path, diff)
	}
}

// start is when the samples were probed.
var start = time.Date(2026, 11, 21, 2, 4, 5, 0, time.UTC)

func module(kind string) *probe.Module { return probe.BuiltinModules()[kind] }

func target(name, address, kind string) *probe.Target {
	return &probe.Target{
		Name:     name,
		Address:  address,
		Module:   module(kind),
		Labels:   probe.LabelsOf(map[string]string{"team": "edge"}),
		Schedule: probe.Schedule{Interval: 30 * time.Second, Timeout: 10 * time.Second},
	}
}

// phases are the durations of resolve, connect, tls, verify and request.
func phases(ms ...float64) (p probe.Phases) {
	for i, d := range ms {
		p[i+1] = time.Duration(d * float64(time.Millisecond))
	}
	return p
}

func certificates() []*probe.Certificate {
	return []*probe.Certificate{
		{
			Subject: "CN=kong-validation.kong.svc", Issuer: "CN=kong-ca", Serial: "0a1b",
			DNSNames: []string{"kong-validation.kong.svc", "kong-validation.kong"}, SANs: 2,
			NotBefore: start.AddDate(0, -3, 0), NotAfter: start.AddDate(0, 9, 0),
			Key: "P-256", Signature: "ECDSA-SHA256", SHA256: [32]byte{1}, Raw: []byte("leaf"),
		},
		{
			Subject: "CN=kong-ca", Issuer: "CN=kong-ca", Serial: "01", IsCA: true, SelfSigned: true,
			NotBefore: start.AddDate(-1, 0, 0), NotAfter: start.AddDate(4, 0, 0),
			Key: "RSA-2048", Signature: "RSA-SHA256", SHA256: [32]byte{2}, Raw: []byte("root"),
		},
	}
}

func handshake() *probe.TLS {
	return &probe.TLS{
		Version: tls.VersionTLS13, Cipher: tls.TLS_AES_128_GCM_SHA256, Group: tls.X25519MLKEM768,
		ALPN: "h2", ServerName: "kong-validation.kong.svc", Chain: certificates(), Sent: 2,
	}
}

func attempt(peer string, problems ...probe.Problem) probe.Attempt {
	return probe.Attempt{
		Peer:     netip.MustParseAddrPort(peer),
		Local:    netip.MustParseAddrPort("10.244.3.9:53322"),
		Resolver: "10.96.0.10",
		Phases:   phases(3.1, 0.9, 18.2, 0.2),
		TLS:      handshake(),
		Problems: problems,
	}
}

func result(t *probe.Target, attempts ...probe.Attempt) *probe.Result {
	return &probe.Result{Target: t, Node: "node-a", Start: start, Duration: 41 * time.Millisecond, Attempts: attempts}
}

// reasons are entries as the catalogue has them, written out here so that the
// golden files show the form and not the catalogue's present words.
var reasons = []*probe.Reason{
	{
		ID: "hostname_mismatch", Phase: probe.PhaseVerify, Title: "the certificate is for other names",
		Meaning: "No subject alternative name matches.", Breaks: "every client that verifies names refuses this server",
		OtherSide: "http: TLS handshake error from 10.244.3.9:53322: remote error: tls: bad certificate",
		Causes:    []string{"the certificate was made for another Service"},
		Fixes: []string{
			"kubectl -n kong get certificate -o custom-columns=NAME:.metadata.name,NAMES:.spec.dnsNames,SECRET:.spec.secretName",
			"See it: openssl s_client -connect HOST:PORT -servername NAME </dev/null 2>/dev/null | openssl x509 -noout -ext 'subjectAltName, keyUsage'",
			"add the name to dnsNames of the Certificate in NAMESPACE",
		},
		Cite: "RFC 9525, Section 6",
	},
	{ID: "cert_expired", Phase: probe.PhaseVerify, Title: "a certificate has expired", Fixes: []string{"renew it"}},
	{ID: "weak_crypto", Phase: probe.PhaseVerify, Severity: probe.Warning, Title: "a certificate uses weak cryptography"},
	{ID: "tcp_refused", Phase: probe.PhaseConnect, Title: "nothing listens on this port", Fixes: []string{"ss -ltn"}},
	{ID: "redirect_loop", Phase: probe.PhaseRequest, Title: "the redirects lead back to where they began"},
}

func problem(id, detail string) probe.Problem {
	i := slices.IndexFunc(reasons, func(r *probe.Reason) bool { return r.ID == id })
	return probe.Problem{Reason: reasons[i], Detail: detail, Err: errors.New(detail)}
}

var kong = target("kong-validation", "kong-validation.kong.svc:443", "tls")

func resultOK() *probe.Result { return result(kong, attempt("10.96.44.10:443")) }

func resultWrongName() *probe.Result {
	wrong := problem("hostname_mismatch", `x509: certificate is valid for a.example, not kong-validation.kong.svc`)
	wrong.Expected = "kong-validation.kong.svc"
	wrong.Received = "a.example, b.example"
	wrong.Notes = []string{"the same address without a server name shows the same certificate"}
	return result(kong, attempt("10.96.44.10:443", wrong, problem("cert_expired", "expired 2026-11-20")))
}

func resultTwoAddresses() *probe.Result {
	refused := attempt("10.96.44.11:443", problem("tcp_refused", "dial tcp 10.96.44.11:443: connect: connection refused"))
	refused.TLS, refused.Phases = nil, phases(3.1, 0.4)
	refused.Local = netip.AddrPort{}
	return result(kong, attempt("10.96.44.10:443"), refused)
}

func resultWrongTwice() *probe.Result {
	wrong := resultWrongName().Attempts[0]
	again := wrong
	again.Peer = netip.MustParseAddrPort("[fd00::11]:443")
	return result(kong, wrong, again)
}

// hook is a target with three ways, and what is wrong with it whatever way is
// taken.
func hook() *probe.Target {
	t := target("webhook/hook/v.hook.example", "hook.shop.svc:443", "tls")
	t.Labels = probe.LabelsOf(map[string]string{"namespace": "shop", "service": "hook", "configuration": "hook-config",
		"failure_policy": "Fail", "intercepts": "CREATE,UPDATE ingresses.networking.k8s.io; CREATE deployments.apps,statefulsets.apps"})
	t.Routes = []probe.Route{
		{Via: "ClusterIP of shop/hook", Address: "10.96.3.4:443"},
		{Via: "pod hook-7d4 on node-b", Address: "10.244.1.7:8080"},
		{Via: "pod hook-9fk on node-c", Address: "10.244.2.3:8080"},
	}
	t.Faults = []probe.Problem{{Reason: &probe.Reason{
		ID: "ca_bundle_missing", Phase: probe.PhaseConfig, Severity: probe.Warning, Title: "a webhook has no caBundle",
		Fixes: []string{"kubectl get validatingwebhookconfiguration WEBHOOK -o yaml"},
	}, Detail: "ValidatingWebhookConfiguration hook-config: webhooks[0].clientConfig.caBundle is empty"}}
	return t
}

func via(way string, a probe.Attempt) probe.Attempt {
	a.Via, a.Resolver, a.Phases[probe.PhaseResolve] = way, "", 0
	return a
}

// resultRoutes is of a target of which one way fails.
func resultRoutes() *probe.Result {
	t := hook()
	refused := via(t.Routes[1].Via, attempt(t.Routes[1].Address, problem("tcp_refused", "connection refused")))
	refused.TLS, refused.Phases, refused.Local = nil, phases(0, 0.4), netip.AddrPort{}
	first := attempt(t.Routes[0].Address, t.Faults[0])
	return result(t, via(t.Routes[0].Via, first), refused, via(t.Routes[2].Via, attempt(t.Routes[2].Address)))
}

// resultManyRoutes is of so many ways that those that are well are told briefly.
func resultManyRoutes() *probe.Result {
	r := resultRoutes()
	t := *r.Target
	t.Routes = append(t.Routes[:2:2], probe.Route{Via: "10.0.0.9:443", Address: "10.0.0.9:443"}, probe.Route{Via: "pod hook-x2v on node-d", Address: "hook-x2v:8080"})
	r.Target = &t
	r.Attempts[2] = via(t.Routes[2].Via, attempt(t.Routes[2].Address))
	unknown := probe.Attempt{Via: t.Routes[3].Via, Resolver: "10.96.0.10", Phases: phases(2),
		Problems: []probe.Problem{{Reason: &probe.Reason{ID: "dns_nxdomain", Phase: probe.PhaseResolve, Title: "the name does not exist"}}}}
	r.Attempts = append(r.Attempts, unknown)
	return r
}

// resultOneRoute is of a target with one way.
func resultOneRoute() *probe.Result {
	r := resultRoutes()
	t := *r.Target
	t.Routes, t.Faults = t.Routes[1:2], nil
	return result(&t, r.Attempts[1])
}

// resultUndialled is of a target that leaves nothing to dial.
func resultUndialled() *probe.Result {
	t := hook()
	t.Routes, t.Undialled = nil, true
	t.Faults = []probe.Problem{{Reason: &probe.Reason{
		ID: "no_endpoints", Phase: probe.PhaseConfig, Title: "the service has no ready endpoint",
		Breaks: "Everything behind this Service is down.",
		Fixes:  []string{"kubectl -n NAMESPACE get endpointslices -l kubernetes.io/service-name=SERVICE"},
	}, Detail: "ValidatingWebhookConfiguration hook-config: webhooks[0].clientConfig.service shop/hook has no ready endpoint"}}
	r := result(t, probe.Attempt{Problems: t.Faults})
	r.Duration = 2 * time.Microsecond
	return r
}

func resultLongName() *probe.Result {
	collector := target("otlp", "otel-collector.monitoring.svc.cluster.local.example:4317", "tls")
	return result(collector, attempt("10.96.44.10:4317"))
}

func resultRedirects() *probe.Result {
	a := attempt("10.96.44.10:443", problem("redirect_loop", "https://shop.example/ leads back to itself"))
	a.Phases = phases(3.1, 0.9, 18.2, 0.2, 55)
	hop := probe.Hop{Method: "GET", Proto: "HTTP/1.1", Status: 308, TLS: a.TLS, Processing: 2 * time.Millisecond}
	first, second := hop, hop
	first.URL, first.Location = "http://shop.example/", "https://shop.example/"
	second.URL, second.Location = "https://shop.example/", "https://shop.example/?a=1\x1b[31m"
	a.HTTP = &probe.HTTP{Hops: []probe.Hop{first, second}, Body: 12}
	return result(target("shop", "http://shop.example/", "http"), a)
}

func resultHTTP3() *probe.Result {
	a := attempt("10.96.44.10:443")
	a.Phases = phases(3.1, 0, 18.2, 0.2, 5)
	a.QUIC = &probe.QUIC{Version: 1, Retry: true, Received: 7}
	a.HTTP = &probe.HTTP{
		Hops:          []probe.Hop{{Method: "GET", URL: "https://shop.example/", Peer: a.Peer, Proto: "HTTP/3.0", Status: 200, TLS: a.TLS}},
		Body:          12,
		ContentLength: -1,
		LastModified:  start,
		AltSvc:        `h3=":443"`,
	}
	return result(target("shop", "https://shop.example/", "http"), a)
}

func resultProxied() *probe.Result {
	r := resultHTTP3()
	r.Attempts[0].QUIC = nil
	r.Attempts[0].HTTP.Hops[0].Proto, r.Attempts[0].HTTP.Hops[0].Proxy = "HTTP/2.0", "http://proxy.example:3128"
	return r
}

func resultGRPC() *probe.Result {
	a := attempt("10.96.44.10:443")
	a.Phases = phases(3.1, 0.9, 18.2, 0.2, 1.5)
	a.GRPC = &probe.GRPC{Serving: "SERVING", TLS: true, Check: 21 * time.Millisecond}
	return result(target("shop", "shop.example:443", "grpc"), a)
}

func resultOTLP() *probe.Result {
	a := attempt("10.96.44.10:4317")
	a.Phases = phases(3.1, 0.9, 18.2, 0.2, 1.5)
	a.OTLP = &probe.OTLP{Signal: "traces", Protocol: "grpc", Speaks: "permissive", Answer: "OK",
		Mesh: "spiffe://cluster.local/ns/monitoring/sa/otel\x1b[31m"}
	return result(target("collector", "otel-collector.monitoring.svc:4317", "otlp"), a)
}

func resultWeak() *probe.Result {
	a := attempt("10.96.44.10:443", problem("weak_crypto", "position 1 is signed with SHA-1"))
	return result(kong, a)
}

// resultDNS is of a server that answers over TCP, as the answer is long, with an
// old address.
func resultDNS() *probe.Result {
	wrong := probe.Problem{Reason: &probe.Reason{
		ID: "dns_validation_failed", Phase: probe.PhaseRequest, Title: "the answer is not the one that is wanted",
		Fixes: []string{"dig @ADDRESS NAME TYPE"},
	}, Detail: `fail_if_not_matches_regexp: the record "x" does not match "y"`}
	a := probe.Attempt{
		Peer: netip.MustParseAddrPort("10.96.0.10:53"), Local: netip.MustParseAddrPort("10.244.3.9:53322"),
		Phases: phases(0, 0.5, 0, 0, 2.5), Problems: []probe.Problem{wrong},
		DNS: &probe.DNS{
			Name: "example.com.", Type: "SOA", Class: "IN", Transport: "udp", Retried: true,
			Answered: true, RCode: "NOERROR", RecursionAvailable: true, Answers: 20, Authority: 1, Additional: 2, Serial: 2026112101,
			Records: slices.Repeat([]string{"example.com.\t5\tIN\tSOA\tns.example.com. hostmaster.example.com. 2026112101 3600 600 86400 5"}, 16),
		},
	}
	return result(dnsTarget(), a)
}

// resultNoSuchName is of a server that knows no such name.
func resultNoSuchName() *probe.Result {
	r := resultDNS()
	a := &r.Attempts[0]
	a.DNS = &probe.DNS{Name: "gone.example.com.", Type: "A", Class: "IN", Transport: "udp", Answered: true, RCode: "NXDOMAIN", Authority: 1}
	a.Phases = phases(0, 0, 0, 0, 2.5)
	a.Problems = []probe.Problem{{
		Reason:   &probe.Reason{ID: "dns_nxdomain", Phase: probe.PhaseResolve, Title: "the name does not exist"},
		Detail:   `looking up "gone.example.com": 10.96.0.10:53: NXDOMAIN: no such name`,
		Expected: "NOERROR", Received: "NXDOMAIN",
	}}
	return r
}

// resultMail is of an SMTP server that says less than is expected, behind
// STARTTLS.
func resultMail() *probe.Result {
	wrong := probe.Problem{Reason: &probe.Reason{
		ID: "tcp_expect_mismatch", Phase: probe.PhaseRequest, Title: "the peer says something else than expected",
	}, Detail: `a line that matches "^250-AUTH" did not come, and then: i/o timeout`, Received: `"250 OK"`}
	first := attempt("10.96.44.10:25", wrong)
	first.Phases = phases(3.1, 0.9, 18.2, 0.2, 1000)
	first.TCP = &probe.TCP{StartTLS: "smtp", Upgraded: true, Steps: 1, Labels: []probe.ExpectLabel{{Name: "size", Value: "10240\x1b[2J"}}}
	second := first
	second.Peer, second.Problems = netip.MustParseAddrPort("10.96.44.11:25"), nil
	knocked := attempt("10.96.44.12:25")
	knocked.Phases, knocked.TLS, knocked.TCP = phases(3.1, 0.4), nil, &probe.TCP{Knocked: true}
	return result(target("mail", "mail.example:25", "tcp"), first, second, knocked)
}

// resultMailGood is of the addresses of resultMail that are well.
func resultMailGood() *probe.Result {
	r := resultMail()
	r.Attempts = r.Attempts[1:]
	return r
}

func dnsTarget() *probe.Target {
	t := target("cluster-dns", "10.96.0.10", "tls")
	t.Module = &probe.Module{Name: "dns_example", Kind: "dns", Prober: probe.NewProber("dns")}
	return t
}

// scheduled is what a store says of r after the given earlier results.
func scheduled(t *testing.T, now time.Time, results ...*probe.Result) exporter.View {
	t.Helper()
	last := results[len(results)-1]
	store := exporter.NewStore(func() time.Time { return now })
	store.SetTargets([]*probe.Target{last.Target})
	for i, r := range results {
		earlier := *r
		earlier.Start = start.Add(time.Duration(i-len(results)+1) * 30 * time.Second)
		store.Record(&earlier)
	}
	v, ok := store.View(last.Target.Name)
	if !ok {
		t.Fatal("the store does not know its target")
	}
	return v
}
