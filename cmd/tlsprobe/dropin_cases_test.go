package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// config is a blackbox.yml for both programs.
func (p *dropInPeers) config(t *testing.T) []byte {
	t.Helper()
	ca := filepath.Join(p.dir, "ca.pem")
	if err := os.WriteFile(ca, []byte(p.lab.CA.PEM()), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := p.lab.CA.IssueClient("tlsprobe")
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := lab.WriteKeyPair(p.dir, "client", client)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer("CA}", ca+"}", "CA,", ca+",", "CERT", cert, "KEY", key, "PROXY", p.proxy.URL)
	return []byte(names.Replace("modules:" + httpModules + tcpModules + dnsModules + grpcModules))
}

// cases are all requests that are compared.
func (p *dropInPeers) cases() []scrapeCase {
	return slices.Concat(p.requestCases(), p.httpCases(), p.tcpCases(), p.dnsCases(), p.grpcCases(), p.labCases())
}

// labCases probe what goes wrong in the lab. The incidents are told by the other
// scenarios as well, under one name that all their certificates are for.
func (p *dropInPeers) labCases() []scrapeCase {
	var cases []scrapeCase
	for _, name := range slices.Sorted(maps.Keys(p.instances)) {
		target := p.instances[name].Target
		timeout := ""
		if target.Timeout.Seconds() <= 1 {
			timeout = "1.5"
		}
		grpc, isGRPC := target.Module.Prober.(*probe.GRPCProber)
		switch {
		case target.ServerName != lab.Host:
		case isGRPC:
			cases = append(cases, scrapeCase{name: "lab: " + name, module: labModule(grpc), target: target.Address, timeout: timeout})
		case target.Module.Kind == "http":
			cases = append(cases, scrapeCase{name: "lab: " + name, module: "lab_http", target: target.Address, timeout: timeout})
		case target.Module.Kind == "tls" && isLiteral(target.Address):
			cases = append(cases,
				scrapeCase{name: "lab: " + name + " (https)", module: "lab_http", target: "https://" + target.Address, timeout: timeout},
				scrapeCase{name: "lab: " + name + " (tcp)", module: "lab_tls", target: target.Address, timeout: timeout})
		}
	}
	return cases
}
