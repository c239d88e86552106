package lab

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"
)

// telemetryScenarios are the OTLP port of a collector, in and out of a mesh.
func telemetryScenarios() []Scenario {
	return []Scenario{
		{Name: "otlp-plaintext", Summary: "speaks gRPC without TLS where TLS is expected",
			Reasons: []string{"wrong_version_number"},
			start: func(i *Instance) error {
				i.labelCollector()
				return i.serveAt(greet(http2Settings))
			}},
		{Name: "otlp-strict-mtls", Summary: "is a sidecar in STRICT mode: a SPIFFE certificate, and one wanted of us",
			Reasons: []string{"client_cert_required", "hostname_mismatch"},
			start:   startSidecar},
	}
}

func (i *Instance) labelCollector() {
	i.Target.Labels = map[string]string{
		"kind": "otlp", "namespace": "monitoring", "service": "otel-collector", "port_name": "grpc-otlp",
	}
}

// startSidecar runs what Istio's sidecar is to a client outside the mesh.
func startSidecar(i *Instance) error {
	i.labelCollector()
	cert, err := i.lab.CA.Issue(func(c *x509.Certificate) {
		c.Subject = pkix.Name{}
		c.DNSNames, c.IPAddresses = nil, nil
		c.URIs = spiffe("monitoring", "otel-collector")
	})
	if err != nil {
		return err
	}
	cfg := withCertificate(cert)
	cfg.NextProtos = []string{"istio", "h2"}
	cfg.ClientAuth = tls.RequireAndVerifyClientCert
	cfg.ClientCAs = x509.NewCertPool()
	cfg.ClientCAs.AddCert(i.lab.CA.Cert)
	return i.serveTLS(cfg)
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
	i.Target.Labels = map[string]string{"kind": "kubelet", "probed_node": kubeletNode}
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
