package main

import "tlsprobe/probe"

const grpcModules = `
  grpc: {prober: grpc, grpc: {tls: true, tls_config: {ca_file: CA, server_name: good.lab.test}}}
  grpc_plain: {prober: grpc, grpc: {tls: false}}
  grpc_bare: {prober: grpc}
  grpc_service: {prober: grpc, grpc: {service: lab.Service, metadata: {x-probe: ["1", "2"]}}}
  grpc_no_service: {prober: grpc, grpc: {service: absent.Service}}
  grpc_untrusting: {prober: grpc, grpc: {tls: true}}
  grpc_skips: {prober: grpc, grpc: {tls: true, tls_config: {insecure_skip_verify: true}}}
`

func (p *dropInPeers) grpcCases() []scrapeCase {
	plain, secure := p.instances["good-grpc-plain"].Target.Address, p.instances["good-grpc"].Target.Address
	call := func(name, module, target string) scrapeCase {
		return scrapeCase{name: "grpc: " + name, module: module, target: target}
	}
	cases := []scrapeCase{
		call("plain", "grpc_plain", plain),
		call("without a section", "grpc_bare", plain),
		call("plain, by a URL", "grpc_plain", "http://"+plain),
		call("TLS, by a URL", "grpc", "https://"+secure),
		call("unknown service", "grpc_no_service", plain),
		call("a service with metadata", "grpc_service", plain),
		call("TLS to a plain port", "grpc", plain),
		call("untrusted", "grpc_untrusting", secure),
		call("not verified", "grpc_skips", secure),
		call("refused", "grpc_plain", p.closed),
		call("TLS refused", "grpc", p.closed),
		call("a name with a mistake", "grpc_plain", "a..b:1"),
	}
	return cases
}

// labModule is the module by which both probe a scenario of the lab's for gRPC.
func labModule(p *probe.GRPCProber) string {
	if p.TLS {
		return "grpc"
	}
	return "grpc_plain"
}
