package probe

import "fmt"

// ldapStartTLS is an ExtendedRequest for 1.3.6.1.4.1.1466.20037, message 1 (RFC
// 4511, Sections 4.12 and 4.14).
const ldapStartTLS = "\x30\x1d\x02\x01\x01\x77\x18\x80\x16" + "1.3.6.1.4.1.1466.20037"

// ldapWhoAmI is an ExtendedRequest for 1.3.6.1.4.1.4203.1.11.3, message 2 (RFC
// 4532).
const ldapWhoAmI = "\x30\x1e\x02\x01\x02\x77\x19\x80\x17" + "1.3.6.1.4.1.4203.1.11.3"

// ldapUnbind is an UnbindRequest, message 3 (RFC 4511, Section 4.3).
const ldapUnbind = "\x30\x05\x02\x01\x03\x42\x00"

const (
	berSequence     = 0x30
	ldapExtResponse = 0x78 // [APPLICATION 24]

	ldapSuccess       = 0
	ldapProtocolError = 2 // also: an operation that is not known (RFC 4511, Section 4.12)
)

// beginLDAP follows RFC 4511, Section 4.14.
func beginLDAP(t *talk, _ string) *Problem {
	if p := t.say(ldapStartTLS); p != nil {
		return p
	}
	t.awaits = "an LDAP response to StartTLS"
	tag, message, p := t.element()
	if p != nil {
		return p
	}
	code, text, ok := ldapResult(message)
	got := fmt.Sprintf("result %d %s", code, text)
	switch {
	case tag != berSequence || !ok:
		return t.mismatch(string(append([]byte{tag}, message...)))
	case code == ldapProtocolError:
		return t.notOffered("result 0 to StartTLS", got)
	case code != ldapSuccess:
		return t.refused(got)
	}
	return nil
}

// leaveLDAP unbinds, which has no answer. A server that asked for a client
// certificate is first asked something that has one, whatever it says.
func leaveLDAP(c *conn) string {
	if c != nil && c.facts.ClientCertRequested {
		return ldapWhoAmI + ldapUnbind
	}
	return ldapUnbind
}

// element reads one element of BER: its tag and its content. Directory servers
// write the length in more octets than needed, which DER would forbid.
func (t *talk) element() (tag byte, content []byte, p *Problem) {
	head, p := t.next(2)
	if p != nil {
		return 0, nil, p
	}
	size := int(head[1])
	if size >= 0x80 {
		octets, p := t.next(min(size&0x7f, 4))
		if p != nil {
			return 0, nil, p
		}
		size = 0
		for _, b := range octets {
			size = size<<8 | int(b)
		}
	}
	content, p = t.next(size)
	return head[0], content, p
}

// ldapResult reads the result code and the diagnostic message of an
// ExtendedResponse within an LDAPMessage (RFC 4511, Sections 4.1.9 and 4.12).
func ldapResult(message []byte) (code int, text string, ok bool) {
	_, _, message, ok = berElement(message) // the message's number
	tag, response, _, ok2 := berElement(message)
	if !ok || !ok2 || tag != ldapExtResponse {
		return 0, "", false
	}
	_, value, response, ok := berElement(response)
	if !ok || len(value) != 1 {
		return 0, "", false
	}
	_, _, response, ok = berElement(response) // the matched name
	_, diagnostic, _, ok2 := berElement(response)
	return int(value[0]), string(diagnostic), ok && ok2
}

// berElement takes the first element off b.
func berElement(b []byte) (tag byte, content, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, nil, false
	}
	tag, size, b := b[0], int(b[1]), b[2:]
	if size >= 0x80 {
		octets := size & 0x7f
		if octets > 4 || octets > len(b) {
			return 0, nil, nil, false
		}
		size = 0
		for _, o := range b[:octets] {
			size = size<<8 | int(o)
		}
		b = b[octets:]
	}
	if size < 0 || size > len(b) {
		return 0, nil, nil, false
	}
	return tag, b[:size], b[size:], true
}
