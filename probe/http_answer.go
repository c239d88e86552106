package probe

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// AnswerSettings say what the last answer must be. All is judged, and each
// fault is a problem; header and body only if the status is right, as the page
// of an error says nothing of them.
type AnswerSettings struct {
	// ValidStatusCodes are the answers that are right; default: 200 to 299.
	ValidStatusCodes []int `yaml:"valid_status_codes,omitempty"`
	// ValidHTTPVersions are those that are right, "HTTP/1.1", "HTTP/2.0" or
	// "HTTP/3.0"; default: any.
	ValidHTTPVersions []string `yaml:"valid_http_versions,omitempty"`

	FailIfSSL    bool `yaml:"fail_if_ssl,omitempty"`     // the last answer must not come over TLS
	FailIfNotSSL bool `yaml:"fail_if_not_ssl,omitempty"` // it must

	FailIfHeaderMatches    []HeaderMatch `yaml:"fail_if_header_matches,omitempty"`
	FailIfHeaderNotMatches []HeaderMatch `yaml:"fail_if_header_not_matches,omitempty"`
	FailIfBodyMatches      []Regexp      `yaml:"fail_if_body_matches_regexp,omitempty"`
	FailIfBodyNotMatches   []Regexp      `yaml:"fail_if_body_not_matches_regexp,omitempty"`
	FailIfJSONMatches      CEL           `yaml:"fail_if_body_json_matches_cel,omitempty"`
	FailIfJSONNotMatches   CEL           `yaml:"fail_if_body_json_not_matches_cel,omitempty"`

	// ACMEKey is the key authorization that the body must be (RFC 8555, Section
	// 8.3), of an ACME challenge; empty: it is none.
	ACMEKey string `yaml:"acme_key,omitempty"`

	// BodySizeLimit is how many bytes of a body may come, after decompression; 0:
	// no limit, but no more than 10 MiB are read.
	BodySizeLimit Bytes `yaml:"body_size_limit,omitempty"`
	// Compression is what the body must be compressed by: gzip, deflate, br or
	// identity. Empty: it is taken as it comes. To ask for it is up to Headers.
	Compression string `yaml:"compression,omitempty"`
}

// HeaderMatch is a condition on each value of a header.
type HeaderMatch struct {
	Header       string `yaml:"header,omitempty"`
	Regexp       Regexp `yaml:"regexp,omitempty"`
	AllowMissing bool   `yaml:"allow_missing,omitempty"` // without the header the condition counts as met
}

var compressions = []string{"gzip", "deflate", "br", "identity"}

func (s *AnswerSettings) validate(http3 bool) error {
	for i, code := range s.ValidStatusCodes {
		if code < 100 || code > 599 {
			return settingErrorf("valid_status_codes["+strconv.Itoa(i)+"]", "%d is no HTTP status: write 100 to 599", code)
		}
	}
	for i, version := range s.ValidHTTPVersions {
		if is3 := strings.HasPrefix(version, "HTTP/3"); is3 != http3 {
			return settingErrorf("valid_http_versions["+strconv.Itoa(i)+"]",
				"%q cannot come: enable_http3 is %t", version, http3)
		}
	}
	for key, matches := range map[string][]HeaderMatch{
		"fail_if_header_matches": s.FailIfHeaderMatches, "fail_if_header_not_matches": s.FailIfHeaderNotMatches,
	} {
		for i, m := range matches {
			if m.Header == "" || m.Regexp.Regexp == nil {
				return settingErrorf(key+"["+strconv.Itoa(i)+"]", "needs both header and regexp")
			}
		}
	}
	if s.BodySizeLimit < 0 {
		return settingErrorf("body_size_limit", "%d is negative", s.BodySizeLimit)
	}
	if s.Compression != "" && !slices.Contains(compressions, strings.ToLower(s.Compression)) {
		return settingErrorf("compression", "%q is unknown: write %s", s.Compression, strings.Join(compressions, ", "))
	}
	return nil
}

// statusOK reports whether an answer with this status is what was expected.
func (s *AnswerSettings) statusOK(status int) bool {
	switch {
	case len(s.ValidStatusCodes) > 0:
		return slices.Contains(s.ValidStatusCodes, status)
	case s.ACMEKey != "":
		return status == http.StatusOK
	}
	return status >= 200 && status <= 299
}

// expectedStatus says in words what statusOK admits.
func (s *AnswerSettings) expectedStatus() string {
	switch {
	case len(s.ValidStatusCodes) > 0:
	case s.ACMEKey != "":
		return "status 200"
	default:
		return "status 200 to 299"
	}
	codes := slices.Sorted(slices.Values(s.ValidStatusCodes))
	var said []string
	for i := 0; i < len(codes); {
		first := i
		for i++; i < len(codes) && codes[i] <= codes[i-1]+1; i++ {
		}
		said = append(said, strconv.Itoa(codes[first]))
		if last := codes[i-1]; last > codes[first] {
			said[len(said)-1] += " to " + strconv.Itoa(last)
		}
	}
	return "status " + strings.Join(said, ", ")
}

// wantsBody reports whether the body is needed to judge the answer.
func (s *AnswerSettings) wantsBody() bool {
	return len(s.FailIfBodyMatches)+len(s.FailIfBodyNotMatches) > 0 || s.judgesJSON() || s.ACMEKey != ""
}

func (s *AnswerSettings) judgesJSON() bool {
	return s.FailIfJSONMatches != "" || s.FailIfJSONNotMatches != ""
}

// acceptsEncoding reports whether an Accept-Encoding header admits a coding (RFC
// 9110, Section 12.5.3).
func acceptsEncoding(accept, coding string) bool {
	others := false
	for item := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(item, ";")
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		wanted := err != nil || q > 0
		switch strings.TrimSpace(name) {
		case coding:
			return wanted
		case "*":
			others = wanted
		}
	}
	return others
}
