package probe_test

import (
	"crypto/tls"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tlsprobe/probe"
)

// Every alert reads alike in Go's words, which come from the toolchain, and as
// the number that OpenSSL prints.
func TestMatchLogGoAlerts(t *testing.T) {
	for n := 1; n < 256; n++ {
		byNumber := probe.MatchLog(fmt.Sprintf("SSL alert number %d", n))
		byWords := probe.MatchLog("remote error: " + tls.AlertError(n).Error())
		if len(byNumber) == 0 || len(byWords) == 0 || byNumber[0] != byWords[0] {
			t.Errorf("alert %d reads as [%s] by number and [%s] as %q",
				n, describe(byNumber), describe(byWords), tls.AlertError(n).Error())
		}
	}
}

// crypto/tls gives most of its errors no type, so that their words are all there
// is to go by. This fails when a new toolchain words one of them otherwise.
func TestMatchLogGoErrors(t *testing.T) {
	literals := tlsLiterals(t)
	for _, tt := range []struct{ words, reason string }{
		{"first record does not look like", "wrong_version_number"},
		{"unsupported SSLv2 handshake", "wrong_version_number"},
		{"server selected unsupported protocol version", "protocol_version"},
		{"downgrade attempt detected", "protocol_version"},
		{"client offered only unsupported versions", "protocol_version"},
		{"failed to parse certificate from server", "malformed_certificate"},
		{"didn't provide a certificate", "client_cert_required"},
		{"no certificates configured", "no_server_certificate"},
		{"no cipher suite supported by both", "handshake_failure"},
		{"no key exchanges supported by both", "handshake_failure"},
		{"unsupported application protocols", "no_application_protocol"},
		{"server did not select an ALPN protocol", "alpn_mismatch"},
		{"oversized record received", "tls_protocol_error"},
		{"private key does not match public key", "bad_keypair"},
	} {
		found := false
		for _, literal := range literals {
			if !strings.Contains(literal, tt.words) {
				continue
			}
			found = true
			if m := probe.MatchLog("tls handshake: " + literal); len(m) == 0 || m[0].Reason.ID != tt.reason {
				t.Errorf("%q reads as [%s], want %s", literal, describe(m), tt.reason)
			}
		}
		if !found {
			t.Errorf("this toolchain's crypto/tls has no text with %q", tt.words)
		}
	}
}

// tlsLiterals returns the string literals in the toolchain's source of crypto/tls.
func tlsLiterals(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "crypto", "tls", "*.go"))
	if err != nil || len(files) == 0 {
		t.Skipf("no source of crypto/tls in %q", build.Default.GOROOT)
	}
	var all []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					all = append(all, s)
				}
			}
			return true
		})
	}
	return all
}
