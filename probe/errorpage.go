package probe

import "bytes"

// errorPages are the words by which servers say in HTTP what is wrong with TLS:
// Go's, nginx's and Apache's answers to plain HTTP on a TLS port, and nginx's
// about client certificates, which it judges after the handshake.
var errorPages = []struct {
	words  string
	tls    bool // over TLS
	reason *Reason
}{
	{"Client sent an HTTP request to an HTTPS server", false, reasonPlaintextOnTLSPort},
	{"The plain HTTP request was sent to HTTPS port", false, reasonPlaintextOnTLSPort},
	{"speaking plain HTTP to an SSL-enabled server port", false, reasonPlaintextOnTLSPort},
	{"No required SSL certificate was sent", true, reasonClientCertRequired},
	{"The SSL certificate error", true, reasonBadCertificate},
}

func errorPage(body []byte, overTLS bool) *Reason {
	for _, page := range errorPages {
		if page.tls == overTLS && bytes.Contains(body, []byte(page.words)) {
			return page.reason
		}
	}
	return nil
}
