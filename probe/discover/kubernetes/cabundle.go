package kubernetes

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"tlsprobe/probe"
)

// A bundle is a caBundle as the API server reads it.
type bundle struct {
	pem  string            // its certificates, without what the API server passes over
	last *x509.Certificate // which expires last
	err  error             // why none can be used
}

// bundle reads a caBundle that is not empty. Most webhooks of one program have the
// same.
func (b *builder) bundle(data []byte) *bundle {
	if known := b.bundles[string(data)]; known != nil {
		return known
	}
	read := readBundle(data)
	b.bundles[string(data)] = read
	return read
}

// readBundle passes over what [x509.CertPool.AppendCertsFromPEM] does: other
// blocks, and certificates that do not parse, as long as one does.
func readBundle(data []byte) *bundle {
	var certificates bytes.Buffer
	read := &bundle{err: errors.New("holds no PEM block; it should begin, once decoded from base64, with -----BEGIN CERTIFICATE-----")}
	if once, err := base64.StdEncoding.AppendDecode(nil, data); err == nil && bytes.Contains(once, []byte("-----BEGIN ")) {
		read.err = errors.New("is base64 of base64: encode the PEM once")
	}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if len(block.Headers) > 0 {
			read.err = errors.New("holds a PEM block with headers")
			continue
		}
		if block.Type != "CERTIFICATE" {
			read.err = fmt.Errorf("holds a PEM block of type %q and no CERTIFICATE", block.Type)
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			read.err = fmt.Errorf("holds a certificate that does not parse: %w", err)
			continue
		}
		if read.last == nil || c.NotAfter.After(read.last.NotAfter) {
			read.last = c
		}
		pem.Encode(&certificates, block)
	}
	if read.last != nil {
		read.err = nil
	}
	read.pem = certificates.String()
	return read
}

// trust has the target judged by the caBundle at the place, as the API server
// judges it, and adds what is wrong with that.
func (b *builder) trust(t *probe.Target, at place, caBundle []byte) {
	read := b.bundle(caBundle)
	if read.err != nil {
		t.Module = b.unverified // there is nothing to judge by
		t.Faults = append(t.Faults, at.fault("ca_bundle_invalid", "%v", read.err))
		return
	}
	t.Trust = probe.Trust{PEM: read.pem}
	if end := read.last.NotAfter; !b.before(end.Add(1)) { // RFC 5280, Section 4.1.2.5: that moment included
		t.Faults = append(t.Faults, at.fault("ca_bundle_expired", "has expired: %s ended at %s",
			read.last.Subject, end.UTC().Format(time.RFC3339)))
	}
}
