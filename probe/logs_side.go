package probe

import (
	"regexp"
	"sync"
)

// writtenBy tells who wrote a line: what the line itself shows goes before what
// its words are mostly found in. Envoy is a server to the alerts it receives,
// unless it speaks of an upstream, and a proxy in all else. A line that shows
// nothing is most often a client's, and unsure.
func writtenBy(text string, mostly Side) (side Side, unsure bool) {
	cues := sideCues()
	switch {
	case cues.proxy.MatchString(text):
		return ProxySide, false
	case cues.server.MatchString(text), cues.envoyAlert.MatchString(text):
		return ServerSide, false
	case cues.client.MatchString(text):
		return ClientSide, false
	case mostly != EitherSide:
		return mostly, false
	case cues.envoy.MatchString(text):
		return ProxySide, false
	}
	return ClientSide, true
}

// serversAlone are the reasons that servers alone send an alert for (RFC 8446,
// Section 6.2), so that a client wrote a line without a cue.
var serversAlone = []*Reason{reasonClientCertRequired, reasonUnrecognizedName, reasonNoApplicationProtocol}

type cues struct{ proxy, server, client, envoy, envoyAlert *regexp.Regexp }

var sideCues = sync.OnceValue(func() cues {
	return cues{
		proxy: regexp.MustCompile(`(?i)` +
			`(?:to|from|with|in) upstream\b|upstream (?:connect error|SSL certificate|timed out|sent|prematurely)` +
			`|upstream_reset|\bLayer[4-7] ` +
			// The API server's proxy answers with the error in single quotes.
			`|^Error: '`),
		server: regexp.MustCompile(`(?i)` +
			// Go: net/http, etcd, grpc-go, the API server
			`TLS handshake error from|rejected connection|http2: server:|tls server conn` +
			`|Server\.Serve|ServerHandshake\(|HandleStreams|Unable to authenticate the request` +
			// nginx, Apache, HAProxy
			`|client sent plain HTTP|while (?:SSL handshaking|reading client request|waiting for request|handling frames)` +
			`|while reading PROXY protocol|\[ssl:\w+\]|\bAH0\d{4}\b|\S+/\d+: (?:SSL|Connection|Timeout)[a-z ]* handshake` +
			// Node, Netty, Seastar, SwiftNIO, Rust and what calls accept(2)
			`|tlsClientError|DecoderException: javax\.net\.ssl\.SSLHandshakeException: Received fatal alert` +
			`|Failed to establish SSL handshake:|handshakeFailed\(|peer_addr=|\bSSL_accept|\baccept(?:ing|4?\()` +
			`|write server|read client|from client|could not accept`),
		// Node, OpenSSL's functions, curl and what is built on it
		client:     regexp.MustCompile(`(?i)write EPROTO|ssl_choose_client_version|process_server_|SSL_connect|\bcurl\b`),
		envoy:      regexp.MustCompile(`(?:TLS|SSL)[_ ]error:[_ |]*268`),
		envoyAlert: regexp.MustCompile(`TLS[_ ]error:[_ |]*26843(?:64[5-9]|6[5-9]|7)\d*:`),
	}
})
