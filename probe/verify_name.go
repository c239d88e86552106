package probe

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// checkName compares the name with the leaf's (RFC 6125, Section 6), by Go's
// rules. It does so by hand: VerifyHostname and its error have twice been
// quadratic in the number of names, which is the peer's choice.
func (j *judgement) checkName() {
	if fitsName(j.leaf(), j.name) {
		return
	}
	p := j.nameProblem()
	p.Received = namesText(j.leaf())
	if sanCount(j.leaf()) <= maxSANs {
		p.Err = textError(x509.HostnameError{Certificate: j.leaf(), Host: j.name})
	}
	p.Notes = append(p.Notes, j.nameNotes()...)
	j.add(p)
}

func (j *judgement) nameProblem() Problem {
	leaf := j.leaf()
	if ip, ok := parseIP(j.name); ok {
		expected := fmt.Sprintf("a subject alternative name IP:%s", ip)
		if len(leaf.IPAddresses) == 0 {
			p := reasonMissingIPSAN.problem("the certificate holds no IP address, and %s was dialled", ip)
			p.Expected = expected
			return p
		}
		p := reasonHostnameMismatch.problem("the certificate is for other addresses than %s", ip)
		p.Expected = expected
		return p
	}
	reason, detail := reasonHostnameMismatch, "the certificate is not for %q"
	if !hasSANs(leaf) && matchesHost(leaf.Subject.CommonName, hostLabels(j.name)) {
		reason, detail = reasonLegacyCommonName, "only the common name is %q, which Go and browsers ignore"
	}
	p := reason.problem(detail, cut(j.name))
	p.Expected = "a subject alternative name DNS:" + cut(j.name)
	return p
}

// nameNotes explains what the certificate's names come close to.
func (j *judgement) nameNotes() (notes []string) {
	leaf := j.leaf()
	if mesh := slices.IndexFunc(leaf.URIs, isSPIFFE); mesh >= 0 && len(leaf.DNSNames) == 0 {
		notes = append(notes, "it holds the identity "+cut(leaf.URIs[mesh].String())+
			" and no DNS name: a service mesh answers, and expects its own clients")
	}
	if slices.Contains(firstNames(leaf.DNSNames), j.name) {
		notes = append(notes, "the address stands among the DNS names, where no client looks for it")
	}
	if leaf.Subject.CommonName == j.name {
		notes = append(notes, "its common name is the name asked for; curl, openssl and Python accept that, Go does not")
	}
	if near := j.nearName(); near != "" {
		notes = append(notes, near)
	}
	return notes
}

// nearName notes a name that a person would have expected to fit.
func (j *judgement) nearName() string {
	name := strings.ToLower(strings.TrimSuffix(j.name, "."))
	first, rest, _ := strings.Cut(name, ".")
	for _, san := range firstNames(j.leaf().DNSNames) {
		lower := strings.ToLower(san)
		suffix, isWildcard := strings.CutPrefix(lower, "*")
		switch {
		case isWildcard && strings.HasSuffix(name, suffix):
			return fmt.Sprintf("the wildcard %s stands for exactly one label", cut(san))
		case isWildcard && "."+name == suffix:
			return fmt.Sprintf("the wildcard %s does not cover the domain itself", cut(san))
		case rest != "" && (strings.HasPrefix(lower, name+".") || strings.HasPrefix(name, lower+".")),
			rest == "" && strings.HasPrefix(lower, first+"."):
			return fmt.Sprintf("it does hold %s: the same name, shortened or extended", cut(san))
		}
	}
	return ""
}

// fitsName reports whether a client that asked for name would accept c's names.
// Its cost is linear in their length.
func fitsName(c *x509.Certificate, name string) bool {
	if ip, ok := parseIP(name); ok {
		return slices.ContainsFunc(c.IPAddresses, net.IP(ip.AsSlice()).Equal)
	}
	labels := hostLabels(name)
	return slices.ContainsFunc(c.DNSNames, func(san string) bool { return matchesHost(san, labels) })
}

// parseIP reads an IP literal, in brackets or not.
func parseIP(name string) (netip.Addr, bool) {
	if len(name) >= 3 && name[0] == '[' && name[len(name)-1] == ']' {
		name = name[1 : len(name)-1]
	}
	ip, err := netip.ParseAddr(name)
	return ip.Unmap().WithZone(""), err == nil
}

// host is a name to match against: lower case, without the dot of the root.
type host struct {
	name   string
	labels []string // nil if it is no valid host name: then only equality counts
}

func hostLabels(name string) host {
	h := host{name: lowerASCII(name)}
	trimmed := strings.TrimSuffix(h.name, ".")
	if labels := strings.Split(trimmed, "."); validLabels(labels, false) {
		h.labels = labels
	}
	return h
}

// matchesHost reports whether pattern, a name in a certificate, covers h. A
// wildcard is a whole first label (RFC 6125, Section 6.4.3).
func matchesHost(pattern string, h host) bool {
	pattern = lowerASCII(pattern)
	labels := strings.Split(pattern, ".")
	if h.labels == nil || !validLabels(labels, true) {
		return pattern == h.name && pattern != "" && pattern != "."
	}
	if len(labels) != len(h.labels) {
		return false
	}
	if labels[0] == "*" {
		return slices.Equal(labels[1:], h.labels[1:])
	}
	return slices.Equal(labels, h.labels)
}

// validLabels reports whether labels make a host name, with a little leniency
// for what is in use: underscores.
func validLabels(labels []string, wildcard bool) bool {
	if len(labels) == 1 && labels[0] == "*" {
		return false
	}
	for i, label := range labels {
		if label == "" {
			return false
		}
		if wildcard && i == 0 && label == "*" {
			continue
		}
		for k := range len(label) {
			c := label[k]
			letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
			if !letter && (c != '-' || k == 0) {
				return false
			}
		}
	}
	return true
}

// lowerASCII leaves what is not ASCII alone: DNS compares only ASCII letters
// without regard to case (RFC 4343).
func lowerASCII(s string) string {
	if !strings.ContainsFunc(s, isUpperASCII) {
		return s
	}
	lower := []byte(s)
	for i, c := range lower {
		if isUpperASCII(rune(c)) {
			lower[i] += 'a' - 'A'
		}
	}
	return string(lower)
}

func isUpperASCII(c rune) bool { return 'A' <= c && c <= 'Z' }

// hasSANs reports whether c has the extension, whatever is in it.
func hasSANs(c *x509.Certificate) bool {
	return slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(oidSubjectAltName) })
}

var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17} // RFC 5280, Section 4.2.1.6

func isSPIFFE(u *url.URL) bool { return u.Scheme == "spiffe" }

// firstNames bounds how many of a peer's names a message is made from.
func firstNames(names []string) []string { return names[:min(len(names), maxSANs)] }

func sanCount(c *x509.Certificate) int {
	return len(c.DNSNames) + len(c.IPAddresses) + len(c.URIs) + len(c.EmailAddresses)
}

// namesText lists what the certificate is for, as far as it fits into a line.
func namesText(c *x509.Certificate) string {
	total := sanCount(c)
	if total == 0 {
		return "no subject alternative names; the subject is " + subjectOf(c)
	}
	const shown, room = 8, maxText - 40
	left := shown
	all := firstTexts(c.DNSNames, &left, func(s string) string { return "DNS:" + s })
	all = append(all, firstTexts(c.IPAddresses, &left, func(ip net.IP) string { return "IP:" + ip.String() })...)
	all = append(all, firstTexts(c.URIs, &left, func(u *url.URL) string { return "URI:" + u.String() })...)
	all = append(all, firstTexts(c.EmailAddresses, &left, func(s string) string { return "email:" + s })...)
	text, n := all[0], 1
	for n < len(all) && len(text)+len(", ")+len(all[n]) <= room {
		text += ", " + all[n]
		n++
	}
	if len(text) > room {
		text = text[:room]
	}
	if n < total {
		text += fmt.Sprintf(" and %d more", total-n)
	}
	return text
}
