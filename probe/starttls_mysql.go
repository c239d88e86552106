package probe

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The bits of the capability flags (MySQL documentation, Capability Flags).
const (
	mysqlProtocol41       = 1 << 9
	mysqlSSL              = 1 << 11
	mysqlSecureConnection = 1 << 15
	mysqlPluginAuth       = 1 << 19

	mysqlMaxPacket = 1 << 24
	mysqlUTF8      = 45 // utf8mb4_general_ci
)

// beginMySQL follows the MySQL documentation, Connection Phase.
func beginMySQL(t *talk, _ string) *Problem {
	t.awaits = "a MySQL greeting, of protocol version 10"
	head, p := t.next(4)
	if p != nil {
		return p
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size == 0 || size > maxLine || head[3] != 0 {
		return t.mismatch(string(head) + t.readAhead())
	}
	packet, p := t.next(size)
	switch {
	case p != nil:
		return p
	case packet[0] == 0xff && size > 3:
		return t.refused(fmt.Sprintf("error %d %s", binary.LittleEndian.Uint16(packet[1:]), packet[3:]))
	case packet[0] != 10:
		return t.mismatch(string(head) + string(packet))
	}
	version, rest, _ := strings.Cut(string(packet[1:]), "\x00")
	const flags = 4 + 8 + 1 // behind the thread's number, a part of the challenge, and a filler
	if len(rest) < flags+2 {
		return t.mismatch(string(head) + string(packet))
	}
	if (int(rest[flags])|int(rest[flags+1])<<8)&mysqlSSL == 0 {
		return t.notOffered("the capability SSL in the greeting", "version "+version+", without it")
	}
	return t.say(string(mysqlPacket(1, mysqlHello(mysqlSSL))))
}

// mysqlPacket puts a payload of less than 256 bytes behind its header.
func mysqlPacket(sequence byte, payload []byte) []byte {
	return append([]byte{byte(len(payload)), 0, 0, sequence}, payload...)
}

// mysqlHello is the fixed part of a HandshakeResponse; an SSLRequest is no more.
func mysqlHello(capabilities uint32) []byte {
	hello := make([]byte, 32)
	binary.LittleEndian.PutUint32(hello, capabilities|mysqlProtocol41|mysqlSecureConnection|mysqlPluginAuth)
	binary.LittleEndian.PutUint32(hello[4:], mysqlMaxPacket)
	hello[8] = mysqlUTF8
	return hello
}

// leaveMySQL names a user and a way to log in that no server knows, so that the
// server proposes another and waits. Closing then is silent. Without a user
// MariaDB logs "Aborted connection"; a login that goes on is denied, which is
// logged too.
func leaveMySQL(c *conn) string {
	sequence, capabilities := byte(1), uint32(0)
	if c != nil {
		sequence, capabilities = 2, mysqlSSL
	}
	const user, password, method = "tlsprobe\x00", "\x00", "tlsprobe_leaves\x00"
	return string(mysqlPacket(sequence, append(mysqlHello(capabilities), user+password+method...)))
}
