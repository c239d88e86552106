package probe

import (
	"maps"
	"slices"
)

// A preamble is what a protocol says in plain text before TLS begins.
type preamble struct {
	// begin speaks until the peer waits for a ClientHello; otherwise it returns
	// the problem. name is the peer's, for protocols with virtual hosts.
	begin func(t *talk, name string) *Problem
	// bye is what ends the conversation, in plain text (nil) or within TLS, so
	// that the server has nothing to complain of in its log; "" where closing the
	// connection is enough.
	bye func(*conn) string
	// hangsUp says that the server closes upon bye, and that it answers before
	// where it may want a client certificate. It is waited for: slapd logs what
	// comes behind bye.
	hangsUp bool
}

// preambles are the protocols that starttls takes as one word.
var preambles = map[string]preamble{
	"smtp":     {beginSMTP, always("QUIT\r\n"), true},
	"imap":     {beginIMAP, always("a3 LOGOUT\r\n"), true},
	"pop3":     {beginPOP3, always("QUIT\r\n"), true},
	"ftp":      {beginFTP, always("QUIT\r\n"), true},
	"ldap":     {beginLDAP, leaveLDAP, true},
	"postgres": {beginPostgres, always(""), false},
	"mysql":    {beginMySQL, leaveMySQL, false},
	"xmpp":     {beginXMPP, always(""), false},
}

func always(bye string) func(*conn) string { return func(*conn) string { return bye } }

func startTLSProtocols() []string { return slices.Sorted(maps.Keys(preambles)) }

// notOffered is the problem of a peer that does not know STARTTLS; got is what
// shows it.
func (t *talk) notOffered(expected, got string) *Problem {
	return &Problem{
		Reason:   reasonStartTLSNotOffered,
		Detail:   "the peer does not offer to begin TLS",
		Expected: expected,
		Received: said(got),
	}
}

// refused is the problem of a peer that knows the protocol and says no.
func (t *talk) refused(got string) *Problem {
	return &Problem{
		Reason:   reasonStartTLSRefused,
		Detail:   "the peer refuses: " + cut(got),
		Expected: t.awaits,
		Received: said(got),
	}
}

// ask sends a request and reads a line, which should be what is awaited.
func (t *talk) ask(request, awaits string) (string, *Problem) {
	if p := t.say(request); p != nil {
		return "", p
	}
	t.awaits = awaits
	return t.line()
}
