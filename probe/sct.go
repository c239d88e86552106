package probe

import (
	"crypto/x509"
	"encoding/asn1"

	"golang.org/x/crypto/cryptobyte"
	cryptoasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// sctList is the extension that holds a certificate's signed certificate
// timestamps (RFC 6962, Section 3.3).
var sctList = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2}

// embeddedSCTs counts the timestamps in c, as far as their list can be read. They
// are not verified: which logs count is a browser's policy.
func embeddedSCTs(c *x509.Certificate) int {
	count := 0
	for _, extension := range c.Extensions {
		if !extension.Id.Equal(sctList) {
			continue
		}
		value := cryptobyte.String(extension.Value)
		var octets, list, sct cryptobyte.String
		if !value.ReadASN1(&octets, cryptoasn1.OCTET_STRING) || !octets.ReadUint16LengthPrefixed(&list) {
			continue
		}
		for list.ReadUint16LengthPrefixed(&sct) {
			count++
		}
	}
	return count
}
