package probe

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
)

var (
	hexCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\berror:([0-9a-f]{8})\b`)
	})
	decimalCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^0-9])(2684[0-9]{5})(?:[^0-9]|$)`)
	})
	verifyError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)verify (?:error|result|return code)(?:: ?num=|[^0-9a-z]{1,4})(\d{1,2})\b`)
	})
)

// decodeCode reads the error code of a TLS library: OpenSSL's and LibreSSL's in
// hexadecimal, BoringSSL's also in decimal, as Envoy prints it. The same reason
// number means different things in OpenSSL and BoringSSL, so the library's own
// number in the upper bits is looked at first.
func decodeCode(text string) (*Reason, Side) {
	if m := hexCode().FindStringSubmatch(text); m != nil {
		code, _ := strconv.ParseUint(m[1], 16, 32)
		return codeReason(uint32(code)), EitherSide
	}
	if m := decimalCode().FindStringSubmatch(text); m != nil {
		code, _ := strconv.ParseUint(m[1], 10, 32)
		return codeReason(uint32(code)), EitherSide
	}
	return nil, EitherSide
}

func codeReason(code uint32) *Reason {
	switch code >> 24 {
	case 0x0a: // OpenSSL 3: library 20 in bits 23 to 30
		return reasonOfCode(openSSLCodes, int(code&0x7fffff))
	case 0x14: // OpenSSL 1.x and LibreSSL: a function's number in the middle
		return reasonOfCode(openSSLCodes, int(code&0xfff))
	case 0x10: // BoringSSL: library 16
		return reasonOfCode(boringSSLCodes, int(code&0xfff))
	}
	return nil
}

// reasonOfCode looks up a reason number; from 1000 on it is a received alert.
func reasonOfCode(codes map[string][]int, n int) *Reason {
	const alerts = 1000
	if n >= alerts {
		if n >= alerts+256 {
			return nil
		}
		return alertReason(n-alerts, Peer)
	}
	for id, numbers := range codes {
		if slices.Contains(numbers, n) {
			return Lookup(id)
		}
	}
	return nil
}

// decodeVerifyError reads OpenSSL's number of a verification error
// (X509_V_ERR_*), as s_client, nginx and Ruby print it.
func decodeVerifyError(text string) (*Reason, Side) {
	m := verifyError().FindStringSubmatch(text)
	if m == nil {
		return nil, EitherSide
	}
	n, _ := strconv.Atoi(m[1])
	for id, numbers := range verifyErrors {
		if slices.Contains(numbers, n) {
			return Lookup(id), EitherSide
		}
	}
	return nil, EitherSide
}

// openSSLCodes are the reason numbers of OpenSSL (include/openssl/sslerr.h) that
// mean more than a broken protocol.
var openSSLCodes = map[string][]int{
	"alpn_mismatch":           {222},
	"bad_keypair":             {288},
	"bad_record_mac":          {147, 281},
	"cert_verify_failed":      {134},
	"client_cert_required":    {176, 199, 331},
	"eof":                     {207, 294, 407},
	"handshake_failure":       {101, 112, 118, 181, 183, 185, 193, 241, 248, 261, 295, 304, 315, 318, 333, 360, 370, 376, 378, 410},
	"legacy_renegotiation":    {338},
	"malformed_certificate":   {238, 247, 268},
	"no_application_protocol": {235},
	"no_renegotiation":        {335, 336, 337, 339, 345},
	"no_server_certificate":   {165, 168, 169, 170, 177, 179, 190, 221, 381},
	"plaintext_on_tls_port":   {155, 156},
	"protocol_version":        {166, 191, 254, 258, 259, 373, 396},
	"tls_timeout":             {312},
	"unrecognized_name":       {226, 234, 301, 319, 320, 377},
	"weak_crypto":             {394, 397, 398, 399},
	"wrong_version_number":    {198, 252, 266, 267, 292},
}

// boringSSLCodes are those of BoringSSL (include/openssl/ssl.h).
var boringSSLCodes = map[string][]int{
	"alert_other":             {319},
	"alpn_mismatch":           {170, 259, 277, 308, 315},
	"bad_keypair":             {274, 310},
	"bad_record_mac":          {138, 139},
	"cert_verify_failed":      {125},
	"client_cert_required":    {172, 192},
	"eof":                     {194, 250, 291},
	"handshake_failure":       {107, 144, 154, 175, 176, 177, 184, 229, 239, 242, 243, 245, 253, 262, 266},
	"legacy_renegotiation":    {236},
	"malformed_certificate":   {228, 248, 272, 329},
	"no_application_protocol": {307},
	"no_renegotiation":        {182, 201, 202, 206, 263},
	"no_server_certificate":   {165, 173, 174, 181},
	"plaintext_on_tls_port":   {155, 156},
	"protocol_version":        {157, 234, 240, 254, 280, 297},
	"tls_timeout":             {198},
	"unrecognized_name":       {126, 132, 213},
	"weak_crypto":             {105, 141},
	"wrong_key_usage":         {302},
	"wrong_version_number":    {233, 246, 247},
}

// verifyErrors are OpenSSL's verification errors (include/openssl/x509_vfy.h).
var verifyErrors = map[string][]int{
	"cert_expired":       {10},
	"cert_not_yet_valid": {9},
	"cert_revoked":       {23},
	"chain_invalid":      {7, 22, 24, 25, 32, 34, 79},
	"hostname_mismatch":  {62, 64},
	"name_constraint":    {47, 48},
	"self_signed":        {18, 19},
	"unknown_authority":  {2, 20, 21, 27},
	"weak_crypto":        {66, 67, 68},
	"wrong_key_usage":    {26},
}
