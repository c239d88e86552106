package probe

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// reply is an answer of SMTP or FTP: a code of three digits and lines of text.
type reply struct {
	code  int
	lines []string // without the code
}

func (r reply) String() string { return fmt.Sprint(r.code, " ", strings.Join(r.lines, " / ")) }

// offers reports whether one of the lines begins with these words.
func (r reply) offers(words string) bool {
	for _, line := range r.lines {
		line = strings.ToUpper(strings.TrimSpace(line))
		if line == words || strings.HasPrefix(line, words+" ") {
			return true
		}
	}
	return false
}

// reply reads an answer, which may have several lines: those of SMTP all bear
// the code (RFC 5321, Section 4.2.1), those of FTP the first and the last (RFC
// 959, Section 4.2).
func (t *talk) reply() (reply, *Problem) {
	line, p := t.line()
	if p != nil {
		return reply{}, p
	}
	r, more, ok := replyLine(line)
	if !ok {
		return reply{}, t.mismatch(line)
	}
	end := strconv.Itoa(r.code) + " "
	for more {
		if line, p = t.line(); p != nil {
			return reply{}, p
		}
		more = !strings.HasPrefix(line+" ", end)
		text := strings.TrimPrefix(strings.TrimPrefix(line, end), end[:3]+"-")
		r.lines = append(r.lines, text)
	}
	return r, nil
}

// replyLine reads the first line of an answer, and whether more follow.
func replyLine(line string) (r reply, more, ok bool) {
	if len(line) < 3 {
		return r, false, false
	}
	code, err := strconv.Atoi(line[:3])
	if err != nil || code < 100 || code > 599 || len(line) > 3 && line[3] != ' ' && line[3] != '-' {
		return r, false, false
	}
	if len(line) == 3 {
		return reply{code: code}, false, true
	}
	return reply{code, []string{line[4:]}}, line[3] == '-', true
}

// request sends a command and reads its answer.
func (t *talk) request(command, awaits string) (reply, *Problem) {
	if p := t.say(command); p != nil {
		return reply{}, p
	}
	t.awaits = awaits
	return t.reply()
}

// unknownCommand reports whether the code is one for a command that the server
// does not know or have (RFC 5321, Section 4.2.2; RFC 4217, Section 4).
func (r reply) unknownCommand() bool { return r.code >= 500 && r.code <= 504 }

// beginSMTP follows RFC 3207. It names itself by its address (RFC 5321, Section
// 4.1.3), as a pod has no name that a mail server could look up.
func beginSMTP(t *talk, _ string) *Problem {
	t.awaits = "the greeting of an SMTP server, 220"
	greeting, p := t.reply()
	switch {
	case p != nil:
		return p
	case greeting.code != 220:
		return t.refused(greeting.String())
	}
	features, p := t.request("EHLO "+addressLiteral(t.LocalAddr())+"\r\n", "250, with STARTTLS")
	switch {
	case p != nil:
		return p
	case features.unknownCommand(), features.code == 250 && !features.offers("STARTTLS"):
		return t.notOffered("STARTTLS among the answers to EHLO", features.String())
	case features.code != 250:
		return t.refused(features.String())
	}
	answer, p := t.request("STARTTLS\r\n", "220 to STARTTLS")
	if p == nil && answer.code != 220 {
		return t.refused(answer.String())
	}
	return p
}

func addressLiteral(a net.Addr) string {
	host, _, _ := net.SplitHostPort(a.String())
	if strings.Contains(host, ":") {
		return "[IPv6:" + host + "]"
	}
	return "[" + host + "]"
}

// beginFTP follows RFC 4217. Not every server lists its features (RFC 2389)
// before a login; those are asked for TLS outright.
func beginFTP(t *talk, _ string) *Problem {
	t.awaits = "the greeting of an FTP server, 220"
	greeting, p := t.reply()
	for p == nil && greeting.code == 120 { // ready in some minutes
		greeting, p = t.reply()
	}
	switch {
	case p != nil:
		return p
	case greeting.code != 220:
		return t.refused(greeting.String())
	}
	features, p := t.request("FEAT\r\n", "211, with AUTH TLS")
	switch {
	case p != nil:
		return p
	case features.code == 211 && !features.offers("AUTH TLS") && !features.offers("AUTH"):
		return t.notOffered("AUTH TLS among the answers to FEAT", features.String())
	}
	answer, p := t.request("AUTH TLS\r\n", "234 to AUTH TLS")
	switch {
	case p != nil:
		return p
	case answer.unknownCommand():
		return t.notOffered("234 to AUTH TLS", answer.String())
	case answer.code != 234:
		return t.refused(answer.String())
	}
	return nil
}
