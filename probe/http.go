package probe

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// HTTPProber sends one request, over TLS for an https URL, and follows
// redirects hop by hop. Nothing is sent to a peer that is not trusted.
type HTTPProber struct {
	TLSConfig TLSConfig `yaml:"tls_config,omitempty"`
	Method    string    `yaml:"method,omitempty"` // default GET
	// Headers are sent to the target's own host only; Host sets the name asked for.
	Headers map[string]string `yaml:"headers,omitempty"`
	// ValidStatusCodes are the answers that are right; default: 200 to 299.
	ValidStatusCodes []int `yaml:"valid_status_codes,omitempty"`
	FollowRedirects  bool  `yaml:"follow_redirects"` // default true
	// MaxRedirects bounds the redirects that are followed; default 10.
	MaxRedirects int `yaml:"max_redirects,omitempty"`
	// RequireHTTPS makes an http URL that does not lead to https a problem.
	RequireHTTPS bool `yaml:"require_https,omitempty"`
	// BodySizeLimit is how many bytes of a body are read; 0: the default, 10 MiB.
	BodySizeLimit   int64 `yaml:"body_size_limit,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("http", func() Prober {
	return &HTTPProber{
		Method: http.MethodGet, FollowRedirects: true, MaxRedirects: 10, BodySizeLimit: defaultBodySize,
		AddressSettings: defaultAddresses(),
	}
})

const defaultBodySize = 10 << 20

// Validate implements [Prober].
func (p *HTTPProber) Validate() error {
	if !httpguts.ValidHeaderFieldName(p.Method) {
		return settingErrorf("method", "%q is no HTTP method", p.Method)
	}
	for name, value := range p.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return settingErrorf("headers."+name, "is no HTTP header")
		}
	}
	for i, code := range p.ValidStatusCodes {
		if code < 100 || code > 599 {
			return settingErrorf("valid_status_codes["+strconv.Itoa(i)+"]", "%d is no HTTP status: write 100 to 599", code)
		}
	}
	if p.MaxRedirects < 0 {
		return settingErrorf("max_redirects", "%d is negative", p.MaxRedirects)
	}
	if p.BodySizeLimit < 0 {
		return settingErrorf("body_size_limit", "%d is negative", p.BodySizeLimit)
	}
	return cmp.Or(p.TLSConfig.validate(), p.AddressSettings.validate())
}

func (p *HTTPProber) endpoint(t *Target) (endpoint, error) {
	u, err := parseURL(t.Address)
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{u.Hostname(), portOf(u), p.AddressSettings}, nil
}

func (p *HTTPProber) attempt(ctx context.Context, s *session, a *Attempt) {
	u, _ := parseURL(s.target.Address)
	w := &walk{prober: p, session: s, attempt: a, visited: map[string]int{}}
	w.follow(ctx, u)
}

// statusOK reports whether an answer with this status is what was expected.
func (p *HTTPProber) statusOK(status int) bool {
	if len(p.ValidStatusCodes) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(p.ValidStatusCodes, status)
}

// expectedStatus says in words what statusOK admits.
func (p *HTTPProber) expectedStatus() string {
	if len(p.ValidStatusCodes) == 0 {
		return "status 200 to 299"
	}
	var codes []string
	for _, code := range p.ValidStatusCodes {
		codes = append(codes, strconv.Itoa(code))
	}
	return "status " + strings.Join(codes, ", ")
}

// parseURL reads an absolute http or https URL.
func parseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, &AddressError{address, "is no URL: write https://host[:port]/path"}
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, &AddressError{address, "write a URL that begins with http:// or https://"}
	case u.Hostname() == "":
		return nil, &AddressError{address, "the host is missing"}
	case u.Port() != "" && portOf(u) == 0:
		return nil, &AddressError{address, "the port must be a number from 1 to 65535"}
	}
	return u, nil
}

// portOf returns the port of an http or https URL, 0 if it is out of range.
func portOf(u *url.URL) uint16 {
	if u.Port() == "" {
		if u.Scheme == "https" {
			return 443
		}
		return 80
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}
