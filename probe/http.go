package probe

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// HTTPProber sends one request, over TLS for an https URL, and follows
// redirects hop by hop. Nothing is sent to a peer that is not trusted.
type HTTPProber struct {
	TLSConfig       TLSConfig `yaml:"tls_config,omitempty"`
	RequestSettings `yaml:",inline"`
	AnswerSettings  `yaml:",inline"`
	Credentials     `yaml:",inline"`
	ProxySettings   `yaml:",inline"`

	FollowRedirects bool `yaml:"follow_redirects"` // default true
	// NoFollowRedirects is blackbox_exporter's older word; where it is written it
	// counts.
	NoFollowRedirects *bool `yaml:"no_follow_redirects,omitempty"`
	// MaxRedirects bounds the redirects that are followed; default 10.
	MaxRedirects int `yaml:"max_redirects,omitempty"`
	// SameHost follows redirects to the target's own host only: one that leads
	// elsewhere is the last answer.
	SameHost bool `yaml:"same_host,omitempty"`
	// RequireHTTPS makes an http URL that does not lead to https a problem.
	RequireHTTPS bool `yaml:"require_https,omitempty"`
	// HTTPPort is where the host of an https URL may serve plain http. That it does
	// so without leading to https is a problem; that nobody answers is none. 0: it
	// is not asked, nor is it through a proxy.
	HTTPPort uint16 `yaml:"http_port,omitempty"`

	EnableHTTP2 bool `yaml:"enable_http2"` // offer h2 over TLS; default true
	// EnableHTTP3 asks https URLs over QUIC, and only so.
	EnableHTTP3 bool `yaml:"enable_http3,omitempty"`
	// CheckHTTP3 makes it a problem if a server that advertises HTTP/3 does not
	// answer there.
	CheckHTTP3      bool `yaml:"check_http3,omitempty"`
	AddressSettings `yaml:",inline"`
}

var _ = registerProber("http", func() Prober { return newHTTPProber() })

// blackbox_exporter's names for the prober with its defaults, and for a POST.
var (
	_ = registerModule("http_2xx", "http", func() Prober { return newHTTPProber() })
	_ = registerModule("http_post_2xx", "http", func() Prober {
		p := newHTTPProber()
		p.Method = http.MethodPost
		return p
	})
)

func newHTTPProber() *HTTPProber {
	return &HTTPProber{
		RequestSettings: RequestSettings{Method: http.MethodGet},
		FollowRedirects: true,
		MaxRedirects:    10,
		EnableHTTP2:     true,
		AddressSettings: defaultAddresses(),
	}
}

// Validate implements [Prober].
func (p *HTTPProber) Validate() error {
	if p.MaxRedirects < 0 {
		return settingErrorf("max_redirects", "%d is negative", p.MaxRedirects)
	}
	if p.EnableHTTP3 && p.UsesProxy() {
		return settingErrorf("enable_http3", "goes through no proxy: remove one of the two")
	}
	if p.EnableHTTP3 && p.TLSConfig.MaxVersion != 0 && p.TLSConfig.MaxVersion < tlsVersions["TLS13"] {
		return settingErrorf("enable_http3", "needs TLS 1.3, which tls_config.max_version excludes")
	}
	return cmp.Or(
		p.RequestSettings.validate(),
		p.AnswerSettings.validate(p.EnableHTTP3),
		p.acceptsCompression(),
		p.validateACME(),
		p.Credentials.validate(),
		p.ProxySettings.validate(),
		p.TLSConfig.validate(),
		p.AddressSettings.validate(),
	)
}

// acceptsCompression says if the headers refuse what compression demands.
func (p *HTTPProber) acceptsCompression() error {
	accept := p.header("Accept-Encoding")
	if p.Compression == "" || accept == "" || acceptsEncoding(accept, p.Compression) {
		return nil
	}
	return settingErrorf("compression", "%s is refused by the header Accept-Encoding: %s", p.Compression, accept)
}

func (p *HTTPProber) endpoint(t *Target) (endpoint, error) {
	u, err := p.parse(t.Address)
	if err != nil {
		return endpoint{}, err
	}
	if len(t.Routes) > 0 && p.UsesProxy() {
		return endpoint{}, errRoutesThroughProxy
	}
	if u, err = p.lookedUp(u); err != nil {
		return endpoint{}, err
	}
	return endpoint{u.Hostname(), portOf(u), p.AddressSettings}, nil
}

func (p *HTTPProber) attempt(ctx context.Context, s *session, a *Attempt) {
	u, _ := p.parse(s.target.Address)
	w := &walk{prober: p, session: s, attempt: a, visited: map[string]int{}}
	w.follow(ctx, u)
	w.judgeKey(u)
	if p.HTTPPort != 0 && u.Scheme == "https" && (a.TLS != nil || a.QUIC != nil) && !p.UsesProxy() {
		w.checkPlain(ctx)
	}
}

// parse reads the address of a target of p. Without a scheme it is http's.
func (p *HTTPProber) parse(address string) (*url.URL, error) {
	if !hasScheme.MatchString(address) {
		address = "http://" + address
	}
	u, err := parseURL(address)
	if err == nil && p.EnableHTTP3 {
		u.Scheme = "https" // QUIC has no other
	}
	return u, err
}

var hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// Follows reports whether redirects are followed.
func (p *HTTPProber) Follows() bool {
	if p.NoFollowRedirects != nil {
		return !*p.NoFollowRedirects
	}
	return p.FollowRedirects
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

// defaultPorts of the schemes of a target or a proxy.
var defaultPorts = map[string]uint16{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}

// portOf returns the port of a URL, 0 if it is out of range.
func portOf(u *url.URL) uint16 {
	if u.Port() == "" {
		return defaultPorts[u.Scheme]
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// hostOnly returns the host of a Host header, without its port.
func hostOnly(host string) string {
	if u, err := url.Parse("//" + host); err == nil {
		return u.Hostname()
	}
	return strings.TrimSpace(host)
}
