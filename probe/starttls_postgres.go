package probe

// postgresSSLRequest is length 8 and code 1234.5679 (PostgreSQL documentation,
// Message Formats).
const postgresSSLRequest = "\x00\x00\x00\x08\x04\xd2\x16\x2f"

// beginPostgres follows the PostgreSQL documentation, SSL Session Encryption.
// Closing before the startup message is what its server expects of a client that
// does not like the certificate: it logs nothing.
func beginPostgres(t *talk, _ string) *Problem {
	if p := t.say(postgresSSLRequest); p != nil {
		return p
	}
	t.awaits = "S, for TLS"
	answer, p := t.next(1)
	if p != nil {
		return p
	}
	switch answer[0] {
	case 'S':
		return nil
	case 'N':
		return t.notOffered("S to SSLRequest", "N")
	case 'E': // an ErrorResponse: a server that is too old, or has no room
		return t.refused("E" + t.readAhead())
	}
	return t.mismatch(string(answer) + t.readAhead())
}
