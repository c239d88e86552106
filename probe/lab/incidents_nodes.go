package lab

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"

	"tlsprobe/probe"
)

// telemetryScenarios are the OTLP port of a collector, in and out of a mesh.
func telemetryScenarios() []Scenario {
	sidecar := func(name, summary string, permissive bool, protocol, expect string, reasons ...string) Scenario {
		return Scenario{Name: name, Summary: summary, Reasons: reasons, start: func(i *Instance) error {
			i.labelCollector()
			return startSidecar(i, permissive, protocol, expect)
		}}
	}
	return []Scenario{
		{Name: "otlp-plaintext", Summary: "speaks gRPC without TLS where TLS is expected",
			Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error {
				i.labelCollector()
				i.Target.Module = otlpModule("grpc", "tls")
				return i.serveAt(greet(http2Settings))
			}},
		sidecar("otlp-strict-plaintext", "imitates Istio's sidecar in STRICT mode, to an agent that speaks plaintext",
			false, "grpc", "plaintext", "client_cert_required"),
		sidecar("otlp-strict-plaintext-http", "imitates Istio's sidecar in STRICT mode, to an agent that speaks plain HTTP",
			false, "http", "plaintext", "client_cert_required"),
		sidecar("otlp-strict-mtls", "imitates Istio's sidecar in STRICT mode, to an agent that speaks TLS without a certificate",
			false, "grpc", "tls", "client_cert_required", "hostname_mismatch"),
		sidecar("otlp-strict-permissive", "imitates Istio's sidecar in STRICT mode, where PERMISSIVE is expected",
			false, "grpc", "permissive", "otlp_expectation"),
		sidecar("otlp-strict-expected", "imitates Istio's sidecar in STRICT mode, as is expected",
			false, "grpc", "mtls"),
		sidecar("otlp-permissive", "imitates Istio's sidecar in PERMISSIVE mode, as is expected",
			true, "grpc", "permissive"),
		sidecar("otlp-permissive-http", "imitates Istio's sidecar in PERMISSIVE mode, as is expected of the port of HTTP",
			true, "http", "permissive"),
		{Name: "otlp-no-sidecar", Summary: "is a collector without a sidecar, where PERMISSIVE is expected",
			Reasons: []string{"otlp_expectation"},
			start: func(i *Instance) error {
				i.labelCollector()
				return i.receiveAt(h2c(), "grpc", "permissive")
			}},
	}
}

func (i *Instance) labelCollector() {
	i.Target.Labels = probe.LabelsOf(map[string]string{
		"kind": "otlp", "namespace": "monitoring", "service": "otel-collector", "port_name": "grpc-otlp",
	})
}

// kubeletScenarios are a kubelet, dialled by IP and judged by the cluster's CA.
func kubeletScenarios() []Scenario {
	return []Scenario{
		{Name: "kubelet-no-ip-san", Summary: "is a kubelet that made its own certificate, for its host name only",
			Reasons: []string{"missing_ip_san", "self_signed"},
			start:   startKubelet},
		{Name: "kubelet-csr-pending", Summary: "is a kubelet that waits for its serving CSR to be approved",
			Reasons: []string{"alert_internal_error"},
			start: func(i *Instance) error {
				i.labelKubelet()
				return i.serveNoCertificate("no serving certificate available for the kubelet")
			}},
	}
}

const kubeletNode = "node5"

func (i *Instance) labelKubelet() {
	i.Target.Labels = probe.LabelsOf(map[string]string{"kind": "kubelet", "probed_node": kubeletNode})
}

// startKubelet serves what client-go's GenerateSelfSignedCertKey makes: a CA for
// this start only, and a certificate of it for the node's name.
func startKubelet(i *Instance) error {
	i.labelKubelet()
	made := time.Now().Unix()
	ca, err := NewCA("", func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: fmt.Sprintf("%s-ca@%d", kubeletNode, made)}
	})
	if err != nil {
		return err
	}
	cert, err := ca.Issue(func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: fmt.Sprintf("%s@%d", kubeletNode, made)}
		c.DNSNames, c.IPAddresses = []string{kubeletNode}, nil
	})
	if err != nil {
		return err
	}
	cert.Certificate = append(cert.Certificate, ca.Cert.Raw)
	return i.serveCertificate(cert)
}
