package exporter_test

import (
	"strings"
	"testing"
	"time"

	"tlsprobe/exporter"
	"tlsprobe/probe"
)

func TestWriteText(t *testing.T) {
	now := start.Add(12 * time.Second)
	pending := exporter.View{Target: kong}
	published := scheduled(t, now, resultOK(), resultOK(), resultWrongName(), resultWrongName())
	published.Version, published.More = "0.1.0", "?format=json  ?format=metrics"
	differs := scheduled(t, now, resultWrongName())
	differs.Result, differs.Live, differs.Age = resultOK(), true, 0
	for _, test := range []struct {
		file string
		view exporter.View
	}{
		{"ok.txt", scheduled(t, now, resultWeak(), resultOK(), resultOK())},
		{"failing.txt", published},
		{"recovered.txt", scheduled(t, now, resultWrongName(), resultOK())},
		{"warning.txt", scheduled(t, now, resultWeak())},
		{"addresses.txt", exporter.View{Result: resultTwoAddresses(), Live: true}},
		{"repeated.txt", exporter.View{Result: resultWrongTwice(), Live: true}},
		{"routes.txt", exporter.View{Result: resultRoutes(), Live: true}},
		{"routes-many.txt", exporter.View{Result: resultManyRoutes(), Live: true}},
		{"routes-one.txt", exporter.View{Result: resultOneRoute(), Live: true}},
		{"undialled.txt", scheduled(t, now, resultUndialled())},
		{"redirects.txt", exporter.View{Result: resultRedirects(), Live: true, Color: true}},
		{"http3.txt", exporter.View{Result: resultHTTP3(), Live: true}},
		{"proxied.txt", exporter.View{Result: resultProxied(), Live: true}},
		{"dns.txt", exporter.View{Result: resultDNS(), Live: true}},
		{"dns-nxdomain.txt", exporter.View{Result: resultNoSuchName(), Live: true}},
		{"tcp.txt", exporter.View{Result: resultMail(), Live: true}},
		{"tcp-ok.txt", exporter.View{Result: resultMailGood(), Live: true}},
		{"differs.txt", differs},
		{"longname.txt", exporter.View{Result: resultLongName(), Live: true}},
		{"grpc.txt", exporter.View{Result: resultGRPC(), Live: true}},
		{"otlp.txt", exporter.View{Result: resultOTLP(), Live: true}},
		{"pending.txt", pending},
	} {
		t.Run(test.file, func(t *testing.T) {
			var b strings.Builder
			if err := exporter.WriteText(&b, test.view); err != nil {
				t.Fatal(err)
			}
			golden(t, test.file, b.String())
		})
	}
}

// checkText fails unless text is printable ASCII in lines of at most 100 columns.
func checkText(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if len(line) > 100 {
			t.Errorf("line %d has %d columns: %q", i+1, len(line), line)
		}
		for _, c := range []byte(line) {
			if c < ' ' || c > '~' {
				t.Errorf("line %d holds byte %#02x: %q", i+1, c, line)
				break
			}
		}
	}
	if lines := strings.Count(text, "\n"); lines > 300 {
		t.Errorf("%d lines", lines)
	}
}

// FuzzWriteText renders peers that put anything into what they control.
func FuzzWriteText(f *testing.F) {
	f.Add("CN=a\x1b[31m", "\r\n\x00", strings.Repeat("x", 5000), "https://a/\x9b", uint16(0), 3)
	f.Add("", "", "", "", uint16(0x0304), 0)
	f.Add("CN=\xff\xfe", strings.Repeat("a ", 900), "\u202eevil", "//", uint16(1), 2000)
	f.Fuzz(func(t *testing.T, subject, detail, name, url string, version uint16, count int) {
		r := resultRedirects()
		a := &r.Attempts[0]
		count = min(max(count, 0), 2000)
		leaf := &probe.Certificate{Subject: subject, Issuer: detail, SANs: count, URIs: []string{url}, Key: name, Signature: name}
		for range min(count, 100) {
			leaf.DNSNames = append(leaf.DNSNames, name)
			a.HTTP.Hops = append(a.HTTP.Hops, probe.Hop{Method: name, URL: url, Location: url, Proto: detail, Status: count})
			a.Problems[0].Notes = append(a.Problems[0].Notes[:min(5, len(a.Problems[0].Notes))], detail)
		}
		a.TLS.Version, a.TLS.ALPN, a.TLS.ServerName, a.TLS.Sent = version, name, name, count
		a.TLS.Chain = []*probe.Certificate{leaf, leaf}
		a.DNS = &probe.DNS{Name: url, Type: name, Answered: count > 0, RCode: detail, Answers: count, Records: []string{subject, detail}}
		a.Resolver = name
		a.Problems[0].Detail, a.Problems[0].Expected, a.Problems[0].Received = detail, subject, name
		var b strings.Builder
		if err := exporter.WriteText(&b, exporter.View{Result: r, LastFailure: r, Version: detail}); err != nil {
			t.Fatal(err)
		}
		checkText(t, b.String())
		if err := exporter.WriteJSON(&b, exporter.View{Result: r, LastFailure: r}); err != nil {
			t.Fatal(err)
		}
	})
}
