package exporter

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tlsprobe/probe"
)

// help writes what to do about a reason: its first fixes, made out to the target
// as far as it is known, and broken such that a command can be pasted. A command
// that is too wide is left to tlsprobe explain: half of one is of no use.
func (t *textWriter) help(reason *probe.Reason, r *probe.Result, a *probe.Attempt) {
	const most = 3
	shown := 0
	for _, fix := range reason.Fixes {
		lines := helpLines(fillIn(fix, r.Target, a))
		if shown == most || lines == nil {
			continue
		}
		t.fieldLines("help", lines)
		shown++
	}
}

// helpLines breaks a fix into the lines of a field, nil if it does not fit.
func helpLines(fix string) []string {
	const width = columns - fieldIndent
	fix = printable(fix)
	if !strings.Contains(fix, " -") { // no options: prose, and no command
		return wrap(fix, width)
	}
	lines := wrapCommand(fix, width)
	if len(lines) > maxFieldLines || slices.ContainsFunc(lines, func(l string) bool { return len(l) > width }) {
		return nil
	}
	return lines
}

var placeholder = regexp.MustCompile(`\bhttps?://HOST/|\b(HOST:PORT|HOST|ADDRESS|NAMESPACE|SERVICE|INGRESS|GATEWAY|WEBHOOK|APISERVICE|CHALLENGE|validatingwebhookconfiguration)\b`)

// fillIn puts what is known of the target in the place of a fix's placeholders.
// What is not known, and what a shell might not take as one plain word, stays for
// the reader to fill in.
func fillIn(fix string, t *probe.Target, a *probe.Attempt) string {
	host, port := hostPort(t.Address)
	known := map[string]string{
		"HOST":          host,
		"http://HOST/":  baseURL("http", t.Address),
		"https://HOST/": baseURL("https", t.Address),
		"NAMESPACE":     t.Labels.Get("namespace"),
		"SERVICE":       t.Labels.Get("service"),
		"INGRESS":       t.Labels.Get("ingress"),
		"GATEWAY":       t.Labels.Get("gateway"),
		"WEBHOOK":       t.Labels.Get("configuration"),
		"APISERVICE":    t.Labels.Get("apiservice"),
		"CHALLENGE":     t.Labels.Get("challenge"),
	}
	if t.Labels.Get("admission") == "mutating" {
		known["validatingwebhookconfiguration"] = "mutatingwebhookconfiguration"
	}
	if host != "" && port != "" {
		known["HOST:PORT"] = net.JoinHostPort(host, port)
	}
	if a.Peer.IsValid() {
		known["ADDRESS"] = a.Peer.Addr().String()
	}
	return placeholder.ReplaceAllStringFunc(alike(fix, t, a), func(word string) string {
		if value := known[word]; value != "" && isPlainWord(value) {
			return value
		}
		return word
	})
}

// alike makes the connections of curl and openssl s_client what the attempt was: by
// its name, and to the end of its route. Behind a redirect they were others.
func alike(fix string, t *probe.Target, a *probe.Attempt) string {
	if a.HTTP != nil && len(a.HTTP.Hops) > 1 {
		return fix
	}
	if a.Via != "" && a.Peer.IsValid() {
		fix = strings.ReplaceAll(fix, "-connect HOST:PORT -servername", "-connect "+a.Peer.String()+" -servername")
		if strings.Contains(fix, "://HOST:PORT/") {
			fix = strings.ReplaceAll(fix, "curl ", "curl --connect-to ::"+a.Peer.String()+" ")
		}
	}
	name := t.ServerName
	if a.TLS != nil {
		name = a.TLS.ServerName
	}
	if name == "" || !isPlainWord(name) {
		return fix
	}
	option := "-servername " + name
	if _, err := netip.ParseAddr(name); err == nil {
		option = "-noservername" // an address is not sent (RFC 6066, Section 3)
	}
	return strings.ReplaceAll(fix, "-servername NAME", option)
}

// hostPort returns host and port of a target's address, "" where it has none.
func hostPort(address string) (host, port string) {
	if u, err := url.Parse(address); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return u.Hostname(), cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", ""
	}
	return host, port
}

// baseURL returns the root of the server at address by scheme. The port is known
// only if the address is a URL of that scheme.
func baseURL(scheme, address string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme == scheme && u.Host != "" {
		return scheme + "://" + u.Host + "/"
	}
	if host, _ := hostPort(address); host != "" && !strings.Contains(host, ":") {
		return scheme + "://" + host + "/"
	}
	return ""
}

func isPlainWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:/-_[]") == ""
}

// wrapCommand breaks a command as a shell lets one break it: by a backslash at a
// space that is not quoted. A line without such a space may be too wide.
func wrapCommand(s string, width int) []string {
	const continued = ` \`
	var lines []string
	for len(s) > width {
		at := breakAt(s, width-len(continued))
		if at < 0 {
			break
		}
		lines = append(lines, s[:at]+continued)
		s = s[at+1:]
	}
	return append(lines, s)
}

// breakAt returns where the last unquoted space among the first width+1 bytes of
// s is, else the first one behind them, else -1. What follows a letter is an
// apostrophe of the words before the command, and opens no quotation.
func breakAt(s string, width int) int {
	at, quote := -1, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '\'' || c == '"') && (i == 0 || !isLetter(s[i-1])):
			quote = c
		case c == ' ':
			at = i
		}
		if i >= width && at >= 0 {
			return at
		}
	}
	return at
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
