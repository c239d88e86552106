package probe

import (
	"crypto/tls"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// alertReason returns the reason that alert n means in a probe, so that a log
// line means the same. An alert that the writer sent itself says little about
// the cause; only two of them have a reason of their own.
func alertReason(n int, from Sender) *Reason {
	e := &Evidence{Phase: PhaseTLS, Alert: n, AlertFrom: from, RCode: -1}
	if n == alertCloseNotify {
		e.End = EndCloseNotify
	}
	r := e.reason()
	if from == Us && n != alertBadRecordMAC && n != alertNoRenegotiation {
		return nil
	}
	return r
}

// alertForms are the ways in which programs write an alert. The group "n" is its
// number, "hex" the number in hexadecimal, "name" begins with its name. The
// group "us" is there if the writer sent it.
var alertForms = sync.OnceValue(func() []*regexp.Regexp {
	var forms []*regexp.Regexp
	for _, form := range []string{
		`SSL alert number (?P<n>\d{1,3})\b`,
		`Received alert \[(?P<n>\d{1,3})\]`,                                // GnuTLS
		`tls: alert\((?P<n>\d{1,3})\)`,                                     // Go
		`\breason\(1(?P<n>\d{3})\)`,                                        // OpenSSL, BoringSSL
		`TLS alert:? '(?P<n>\d{1,3})'`,                                     // .NET
		`(?:fatal alert code is|handshake failed: error) (?P<n>\d{1,3})\b`, // Schannel, quinn
		`CRYPTO_ERROR \(?0x1(?P<hex>[0-9a-f]{2})\b\)?(?P<us> \(local\))?`,
		`remote error: (?:tls: )?(?P<name>[a-z ]+)`,
		`(?P<us>local error): (?:tls: )?(?P<name>[a-z ]+)`,
		`(?:^|[^a-z0-9])(?:sslv3|tlsv1|tlsv13|ssl/tls)[ _](?:alert[ _])?(?P<name>[a-z_ ]+)`, // OpenSSL, BoringSSL
		`receiv(?:ed|ing) fatal alert:? '?(?P<name>[a-z_]+)`,                                // JSSE, rustls
		`AlertReceived\((?P<name>[a-z]+)`,                                                   // rustls
		`TLS alert:? '?(?P<name>[a-z]+)`,                                                    // .NET
		`\(IN\), TLS alert, (?P<name>[a-z ]+)`,                                              // curl -v
		`ALERT: Fatal - (?P<name>[a-z ]+)`,                                                  // Erlang
		`tls_alert, ?\{?"?(?P<name>[a-z_ ]+)`,
		`alert (?:read|received)[: ]+fatal[: ]+(?P<name>[a-z ]+)`, // OpenSSL callbacks
	} {
		forms = append(forms, regexp.MustCompile("(?i)"+form))
	}
	return forms
})

// decodeAlert finds an alert, by number or by any library's name for it.
func decodeAlert(text string) (*Reason, Side) {
	for _, form := range alertForms() {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		n, from := noAlert, Peer
		for i, group := range form.SubexpNames() {
			switch {
			case m[i] == "":
			case group == "us":
				from = Us
			case group == "n":
				n = alertByNumber(m[i], 10)
			case group == "hex":
				n = alertByNumber(m[i], 16)
			case group == "name":
				n = alertByName(m[i])
			}
		}
		if n != noAlert {
			return alertReason(n, from), EitherSide
		}
	}
	return nil, EitherSide
}

func alertByNumber(digits string, base int) int {
	n, err := strconv.ParseUint(digits, base, 8)
	if err != nil {
		return noAlert
	}
	return int(n)
}

// alertByName returns the alert whose name s begins with, in whatever way it is
// spelt. close_notify is left out: at the end of a connection it is no failure.
func alertByName(s string) int {
	s = letters(s)
	alert, longest := noAlert, 0
	for name, n := range alertNames() {
		if len(name) > longest && strings.HasPrefix(s, name) {
			alert, longest = n, len(name)
		}
	}
	return alert
}

// letters returns the letters of s in lower case, so that CertificateUnknown,
// certificate_unknown and "certificate unknown" are one.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// alertNames maps names to alerts: IANA's, which OpenSSL, BoringSSL, JSSE, .NET
// and rustls use in their own spelling, and Go's.
var alertNames = sync.OnceValue(func() map[string]int {
	names := map[string]int{
		"unexpectedmessage": 10, "badrecordmac": 20, "decryptionfailed": 21, "recordoverflow": 22,
		"decompressionfailure": 30, "handshakefailure": 40, "nocertificate": 41, "badcertificate": 42,
		"unsupportedcertificate": 43, "certificaterevoked": 44, "certificateexpired": 45,
		"certificateunknown": 46, "illegalparameter": 47, "unknownca": 48, "accessdenied": 49,
		"decodeerror": 50, "decrypterror": 51, "exportrestriction": 60, "protocolversion": 70,
		"insufficientsecurity": 71, "internalerror": 80, "inappropriatefallback": 86,
		"usercanceled": 90, "usercancelled": 90, "norenegotiation": 100, "missingextension": 109,
		"unsupportedextension": 110, "certificateunobtainable": 111, "unrecognizedname": 112,
		"unrecognisedname": 112, "badcertificatestatusresponse": 113, "badcertificatehashvalue": 114,
		"unknownpskidentity": 115, "certificaterequired": 116, "noapplicationprotocol": 120,
		"echrequired": 121, "encryptedclienthellorequired": 121,
	}
	for n := alertCloseNotify + 1; n < 256; n++ {
		text := strings.TrimPrefix(tls.AlertError(n).Error(), "tls: ")
		if !strings.HasPrefix(text, "alert(") {
			names[letters(text)] = n
		}
	}
	return names
})

var (
	nettyRecord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)not an SSL/TLS record: ([0-9a-f]{2,64})`)
	})
	quotedAlert = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\\x15\\x03\\x0[0-4]|hex dump for [a-z0-9 ]+: 15 ?03`)
	})
	quotedHandshake = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\\x16\\x03\\x0[0-4]|hex dump for [a-z0-9 ]+: 16 ?03`)
	})
)

// decodeBytes reads what a program shows of bytes it did not expect: the first
// record as Netty prints it, or a TLS record that reached a parser of HTTP.
func decodeBytes(text string) (*Reason, Side) {
	if m := nettyRecord().FindStringSubmatch(text); m != nil {
		return nettyReason(m[1])
	}
	switch {
	case quotedAlert().MatchString(text):
		return reasonPlaintextOnTLSPort, ClientSide
	case quotedHandshake().MatchString(text):
		return reasonWrongVersionNumber, ServerSide
	}
	return nil, EitherSide
}

// nettyReason judges the bytes, in hexadecimal, that came in place of a record: a
// request reached a server, an answer a client.
func nettyReason(digits string) (*Reason, Side) {
	b, _ := hex.DecodeString(digits[:len(digits)&^1])
	first := string(b)
	for _, method := range []string{"GET ", "POST", "PUT ", "HEAD", "PRI ", "OPTI", "DELE", "PATC", "CONN"} {
		if strings.HasPrefix(first, method) {
			return reasonPlaintextOnTLSPort, ServerSide
		}
	}
	if strings.HasPrefix(first, "PROXY ") || strings.HasPrefix(first, "\r\n\r\n\x00\r\nQUIT") {
		return reasonProxyProtocolMismatch, ServerSide
	}
	return reasonWrongVersionNumber, ClientSide
}
