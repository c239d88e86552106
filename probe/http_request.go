package probe

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/units"
	promconfig "github.com/prometheus/common/config"
	"golang.org/x/net/http/httpguts"
)

// RequestSettings say what to send.
type RequestSettings struct {
	Method string `yaml:"method,omitempty"` // default GET
	// Headers are sent to the target's own host only; Host sets the name asked for.
	Headers map[string]string `yaml:"headers,omitempty"`
	// HTTPHeaders are more of them, with secrets, files and several values.
	HTTPHeaders map[string]promconfig.Header `yaml:"http_headers,omitempty"`
	Body        string                       `yaml:"body,omitempty"`
	BodyFile    string                       `yaml:"body_file,omitempty"` // read anew by each probe
}

func (s *RequestSettings) validate() error {
	if !httpguts.ValidHeaderFieldName(s.Method) {
		return settingErrorf("method", "%q is no HTTP method", s.Method)
	}
	for name, value := range s.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return settingErrorf("headers."+name, "is no HTTP header")
		}
	}
	more := promconfig.Headers{Headers: s.HTTPHeaders}
	if err := more.Validate(); err != nil {
		return settingErrorf("http_headers", "%v", err)
	}
	if s.Body != "" && s.BodyFile != "" {
		return settingErrorf("body", "body and body_file exclude each other: write one of them")
	}
	return nil
}

// header returns the value of one of Headers, whose keys may be in any case.
func (s *RequestSettings) header(name string) string {
	for key, value := range s.Headers {
		if textproto.CanonicalMIMEHeaderKey(key) == name {
			return value
		}
	}
	return ""
}

// setHeaders adds all configured headers to h.
func (s *RequestSettings) setHeaders(h http.Header) error {
	for name, value := range s.Headers {
		h.Set(name, value)
	}
	for name, more := range s.HTTPHeaders {
		for _, value := range more.Values {
			h.Add(name, value)
		}
		for _, secret := range more.Secrets {
			h.Add(name, string(secret))
		}
		for _, file := range more.Files {
			value, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("reading the header %s: %w", name, err)
			}
			h.Add(name, strings.TrimSpace(string(value)))
		}
	}
	return nil
}

// setBody gives req the configured body.
func (s *RequestSettings) setBody(req *http.Request) error {
	body := s.Body
	if s.BodyFile != "" {
		content, err := os.ReadFile(s.BodyFile)
		if err != nil {
			return fmt.Errorf("reading the body to send: %w", err)
		}
		body = string(content)
	}
	if body != "" {
		req.Body = io.NopCloser(strings.NewReader(body))
		req.ContentLength = int64(len(body))
	}
	return nil
}

// Bytes is a number of bytes as a setting: a plain number, or one with a unit of
// 1024 such as 10MB or 10MiB.
type Bytes int64

// UnmarshalText accepts 1048576, 1MB and 1MiB.
func (b *Bytes) UnmarshalText(text []byte) error {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*b = Bytes(n)
		return nil
	}
	n, err := units.ParseBase2Bytes(string(text))
	if err != nil {
		return fmt.Errorf("%q is no number of bytes: write one such as 1048576 or 10MB", text)
	}
	*b = Bytes(min(n, math.MaxInt64/2)) // what is added to it must not overflow
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (b Bytes) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(b), 10), nil }
