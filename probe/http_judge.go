package probe

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// judge returns what is wrong with the last answer, its status aside.
func (s *AnswerSettings) judge(programs *programs, hop *Hop, resp *response) []Problem {
	found := s.judgeTransport(hop)
	if !s.statusOK(resp.StatusCode) {
		return found
	}
	found = append(found, s.judgeHeader(resp.Header)...)
	if !resp.complete {
		return found // another problem says why
	}
	found = append(found, s.judgeBody(resp.body)...)
	return append(found, s.judgeJSON(programs, resp.body)...)
}

// judgeTransport judges how the answer came.
func (s *AnswerSettings) judgeTransport(hop *Hop) []Problem {
	var found []Problem
	if len(s.ValidHTTPVersions) > 0 && !slices.ContainsFunc(s.ValidHTTPVersions, hop.speaks) {
		p := reasonHTTPVersionMismatch.problem("%s answered in %s", hop.URL, hop.Proto)
		p.Expected, p.Received = strings.Join(s.ValidHTTPVersions, " or "), hop.Proto
		found = append(found, p)
	}
	p := reasonHTTPTLSMismatch.problem("the last answer came from %s", hop.URL)
	const with, without = "an answer over TLS", "an answer without TLS"
	switch {
	case s.FailIfSSL && hop.TLS != nil:
		p.Expected, p.Received = without, with
		found = append(found, p)
	case s.FailIfNotSSL && hop.TLS == nil:
		p.Expected, p.Received = with, without
		found = append(found, p)
	}
	return found
}

// speaks reports whether the hop was answered in this version, where HTTP/2 is
// the same as HTTP/2.0.
func (h *Hop) speaks(version string) bool {
	return strings.TrimSuffix(version, ".0") == strings.TrimSuffix(h.Proto, ".0")
}

func (s *AnswerSettings) judgeHeader(h http.Header) []Problem {
	var found []Problem
	for _, m := range s.FailIfHeaderMatches {
		found = append(found, m.judge(h, false)...)
	}
	for _, m := range s.FailIfHeaderNotMatches {
		found = append(found, m.judge(h, true)...)
	}
	return found
}

// judge returns the problem with a header that must match, or must not: one
// value that matches is a match.
func (m HeaderMatch) judge(h http.Header, must bool) []Problem {
	name := textproto.CanonicalMIMEHeaderKey(m.Header)
	values := h[name]
	if len(values) == 0 {
		if m.AllowMissing {
			return nil
		}
		p := reasonHTTPHeaderMismatch.problem("the answer has no header %s", name)
		p.Expected, p.Received = "a header "+name, "none"
		return []Problem{p}
	}
	n := slices.IndexFunc(values, m.Regexp.MatchString)
	if (n >= 0) == must {
		return nil
	}
	p := reasonHTTPHeaderMismatch.problem("the header %s does not match %q", name, m.Regexp)
	if !must {
		p.Detail = fmt.Sprintf("the header %s matches %q", name, m.Regexp)
	}
	p.Received = name + ": " + cut(values[max(n, 0)])
	return []Problem{p}
}

func (s *AnswerSettings) judgeBody(body []byte) []Problem {
	var found []Problem
	for _, r := range s.FailIfBodyMatches {
		if match := r.Find(body); match != nil {
			p := reasonHTTPBodyMismatch.problem("the body matches %q", r)
			p.Received = strconv.Quote(cut(string(match)))
			found = append(found, p)
		}
	}
	for _, r := range s.FailIfBodyNotMatches {
		if !r.Match(body) {
			p := reasonHTTPBodyMismatch.problem("the body does not match %q", r)
			p.Received = fmt.Sprintf("%d bytes, which begin %q", len(body), body[:min(len(body), 64)])
			found = append(found, p)
		}
	}
	return found
}

func (s *AnswerSettings) judgeJSON(programs *programs, body []byte) []Problem {
	if !s.judgesJSON() {
		return nil
	}
	value, err := parseJSON(body)
	if err != nil {
		return []Problem{reasonHTTPCELMismatch.because(err)}
	}
	var found []Problem
	check := func(c CEL, must bool) {
		if c == "" {
			return
		}
		is, err := programs.eval(c, value)
		switch {
		case err != nil:
			found = append(found, reasonHTTPCELMismatch.because(err))
		case is && !must:
			found = append(found, reasonHTTPCELMismatch.problem("the body matches %q", string(c)))
		case !is && must:
			found = append(found, reasonHTTPCELMismatch.problem("the body does not match %q", string(c)))
		}
	}
	check(s.FailIfJSONMatches, false)
	check(s.FailIfJSONNotMatches, true)
	return found
}
