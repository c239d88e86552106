package probe

import (
	"encoding/xml"
	"strings"
)

const (
	xmppTLS     = "urn:ietf:params:xml:ns:xmpp-tls"
	xmppStreams = "http://etherx.jabber.org/streams"
)

// beginXMPP follows RFC 6120, Section 5.4, as a client does (port 5222).
func beginXMPP(t *talk, name string) *Problem {
	var to strings.Builder
	xml.EscapeText(&to, []byte(name)) // to memory: no error
	p := t.say("<?xml version='1.0'?><stream:stream to='" + to.String() +
		"' version='1.0' xmlns='jabber:client' xmlns:stream='" + xmppStreams + "'>")
	if p != nil {
		return p
	}
	t.awaits = "the stream of an XMPP server, with its features"
	x := newStanzas(t)
	if p := x.open(); p != nil {
		return p
	}
	features, p := x.next()
	switch {
	case p != nil:
		return p
	case features.name == "error":
		return t.refused(features.says())
	case features.name != "features":
		return t.mismatch("<" + features.name + "> " + features.says())
	case !features.startTLS:
		return t.notOffered("starttls among the features", features.says())
	}
	if p := t.say("<starttls xmlns='" + xmppTLS + "'/>"); p != nil {
		return p
	}
	t.awaits = "proceed, to starttls"
	answer, p := x.next()
	if p == nil && answer.name != "proceed" {
		return t.refused("<" + answer.name + "> " + answer.says())
	}
	return p
}

// stanza is an element right below the stream.
type stanza struct {
	name     string
	startTLS bool     // it holds the feature
	inside   []string // names and texts in it
}

func (s stanza) says() string { return strings.Join(s.inside, " ") }

// stanzas reads a stream's elements, and not a byte beyond: a decoder takes
// single bytes from a reader that has them.
type stanzas struct {
	*xml.Decoder
	from *byteReader
}

func newStanzas(t *talk) stanzas {
	from := &byteReader{talk: t}
	return stanzas{xml.NewDecoder(from), from}
}

// byteReader reads a talk byte by byte, up to its bound. It keeps the error that
// ended reading, which a decoder replaces by its own.
type byteReader struct {
	*talk
	end error
}

func (r *byteReader) ReadByte() (b byte, err error) {
	if r.left--; r.left < 0 {
		err = errTalksTooMuch
	} else {
		b, err = r.in.ReadByte()
	}
	r.end = err
	return b, err
}

// open reads the beginning of the stream.
func (x stanzas) open() *Problem {
	for {
		token, err := x.Token()
		if err != nil {
			return x.ended(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Space != xmppStreams {
				return x.from.mismatch("<" + start.Name.Local + ">")
			}
			return nil
		}
	}
}

// next reads the next element with all that is in it.
func (x stanzas) next() (s stanza, p *Problem) {
	for depth := 0; ; {
		token, err := x.Token()
		if err != nil {
			return s, x.ended(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				s.name = token.Name.Local
				continue
			}
			s.startTLS = s.startTLS || token.Name == xml.Name{Space: xmppTLS, Local: "starttls"}
			s.inside = append(s.inside, token.Name.Local)
		case xml.CharData:
			s.inside = append(s.inside, strings.Fields(string(token))...)
		case xml.EndElement:
			if depth--; depth <= 0 {
				return s, nil
			}
		}
	}
}

// ended is the problem of a stream that err ended. What is no XML is no XMPP.
func (x stanzas) ended(err error) *Problem {
	if x.from.end != nil {
		return x.from.ended(x.from.end, "")
	}
	return x.from.mismatch(string(x.from.rec.first()))
}
