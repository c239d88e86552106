package discover_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe/discover"
)

// writePair writes a certificate and its key.
func writePair(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert},
		keyFile:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckFiles(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	writePair(t, at("a.crt"), at("a.key"))
	writePair(t, at("b.crt"), at("b.key"))
	for _, test := range []struct{ name, yaml, want string }{
		{"all is well", `modules: {m: {prober: tls, tls: {tls_config: {ca_file: a.crt, cert_file: b.crt, key_file: b.key}}}}`, ""},
		{"no files", `targets: [{address: "a:1"}]`, ""},
		{"missing", `targets: [{address: "a:1", ca_file: none.crt}]`,
			`c.yaml:1:37: targets[0].ca_file: open none.crt: no such file or directory`},
		{"no certificate", `targets: [{address: "a:1", ca_file: a.key}]`,
			`c.yaml:1:37: targets[0].ca_file: a.key holds no certificate in PEM`},
		{"key of another certificate", `modules: {m: {prober: tls, tls: {tls_config: {cert_file: a.crt, key_file: b.key}}}}`,
			`c.yaml:1:58: modules.m.tls.tls_config.cert_file: tls: private key does not match public key`},
		{"missing key", `modules: {m: {prober: tls, tls: {tls_config: {cert_file: a.crt, key_file: none.key}}}}`,
			`c.yaml:1:75: modules.m.tls.tls_config.key_file: open none.key: no such file or directory`},
		{"a source's files", "sources:\n- http: {url: \"https://x/\", bearer_token_file: token, ca_file: ca}",
			"c.yaml:2:48: sources[0].http.bearer_token_file: open token: no such file or directory\n" +
				"c.yaml:2:64: sources[0].http.ca_file: open ca: no such file or directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := discover.Parse(at("c.yaml"), []byte(test.yaml))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(c.CheckFiles().Error(), folder+string(filepath.Separator), "")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}
