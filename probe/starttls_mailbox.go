package probe

import "strings"

// beginPOP3 follows RFC 2595, Section 4. A server without CAPA (RFC 2449) is
// asked for TLS outright.
func beginPOP3(t *talk, _ string) *Problem {
	t.awaits = "the greeting of a POP3 server, +OK"
	greeting, p := t.line()
	switch {
	case p != nil:
		return p
	case strings.HasPrefix(greeting, "-ERR"):
		return t.refused(greeting)
	case !strings.HasPrefix(greeting, "+OK"):
		return t.mismatch(greeting)
	}
	capable, p := t.ask("CAPA\r\n", "+OK and a list with STLS")
	if p != nil {
		return p
	}
	if strings.HasPrefix(capable, "+OK") {
		var list []string
		for line := ""; line != "."; list = append(list, line) {
			if line, p = t.line(); p != nil {
				return p
			}
		}
		if r := (reply{lines: list}); !r.offers("STLS") {
			return t.notOffered("STLS among the answers to CAPA", strings.Join(list, " / "))
		}
	}
	answer, p := t.ask("STLS\r\n", "+OK to STLS")
	if p == nil && !strings.HasPrefix(answer, "+OK") {
		return t.refused(answer)
	}
	return p
}

// beginIMAP follows RFC 9051, Section 6.2.1.
func beginIMAP(t *talk, _ string) *Problem {
	t.awaits = "the greeting of an IMAP server, * OK"
	greeting, p := t.line()
	switch {
	case p != nil:
		return p
	case strings.HasPrefix(greeting, "* BYE"), strings.HasPrefix(greeting, "* PREAUTH"):
		return t.refused(greeting)
	case !strings.HasPrefix(greeting, "* OK"):
		return t.mismatch(greeting)
	}
	capabilities, answer, p := t.tagged("a1", "CAPABILITY", "a capability list with STARTTLS")
	switch {
	case p != nil:
		return p
	case !strings.Contains(strings.ToUpper(capabilities), " STARTTLS"):
		return t.notOffered("STARTTLS among the answers to CAPABILITY", capabilities+answer)
	}
	_, answer, p = t.tagged("a2", "STARTTLS", "OK to STARTTLS")
	if p == nil && !strings.HasPrefix(strings.ToUpper(answer), "A2 OK") {
		return t.refused(answer)
	}
	return p
}

// tagged sends a command of IMAP and returns its untagged answers, and the tagged
// one.
func (t *talk) tagged(tag, command, awaits string) (untagged, answer string, p *Problem) {
	var before strings.Builder
	line, p := t.ask(tag+" "+command+"\r\n", awaits)
	for p == nil && !strings.HasPrefix(line, tag+" ") {
		before.WriteString(line + " / ")
		line, p = t.line()
	}
	return before.String(), line, p
}
