package probe

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	promconfig "github.com/prometheus/common/config"
)

// Credentials say who we are: one of them, in the header Authorization, which
// goes to the target's own host only. The grammar is Prometheus's.
type Credentials struct {
	BasicAuth       *promconfig.BasicAuth     `yaml:"basic_auth,omitempty"`
	Authorization   *promconfig.Authorization `yaml:"authorization,omitempty"`
	OAuth2          *promconfig.OAuth2        `yaml:"oauth2,omitempty"`
	BearerToken     promconfig.Secret         `yaml:"bearer_token,omitempty"`
	BearerTokenFile string                    `yaml:"bearer_token_file,omitempty"`
}

func (c *Credentials) validate() error {
	config := promconfig.HTTPClientConfig{
		BasicAuth: c.BasicAuth, OAuth2: c.OAuth2,
		BearerToken: c.BearerToken, BearerTokenFile: c.BearerTokenFile,
	}
	if c.Authorization != nil {
		own := *c.Authorization // Validate fills in the type
		config.Authorization = &own
	}
	if err := config.Validate(); err != nil {
		return settingErrorf(c.key(), "%v", err)
	}
	if c.refers() {
		return settingErrorf(c.key(), "keys that end in _ref need a secret manager, and there is none: write the value or name a file")
	}
	return nil
}

// key returns the first of the keys that is written.
func (c *Credentials) key() string {
	switch {
	case c.BasicAuth != nil:
		return "basic_auth"
	case c.Authorization != nil:
		return "authorization"
	case c.OAuth2 != nil:
		return "oauth2"
	}
	return "bearer_token"
}

// refers reports whether a secret is not here but with a secret manager.
func (c *Credentials) refers() bool {
	return c.BasicAuth != nil && c.BasicAuth.UsernameRef+c.BasicAuth.PasswordRef != "" ||
		c.Authorization != nil && c.Authorization.CredentialsRef != "" ||
		c.OAuth2 != nil && c.OAuth2.ClientSecretRef+c.OAuth2.ClientCertificateKeyRef != ""
}

// authorize gives req the header that c says, unless it has one.
func (s *session) authorize(ctx context.Context, c *Credentials, req *http.Request) error {
	if req.Header.Get("Authorization") != "" {
		return nil
	}
	switch {
	case c.BasicAuth != nil:
		user, err := secret(promconfig.Secret(c.BasicAuth.Username), c.BasicAuth.UsernameFile)
		if err != nil {
			return err
		}
		password, err := secret(c.BasicAuth.Password, c.BasicAuth.PasswordFile)
		req.SetBasicAuth(user, password)
		return err
	case c.Authorization != nil:
		token, err := secret(c.Authorization.Credentials, c.Authorization.CredentialsFile)
		kind := strings.TrimSpace(c.Authorization.Type)
		if kind == "" {
			kind = "Bearer"
		}
		req.Header.Set("Authorization", kind+" "+token)
		return err
	case c.BearerToken != "" || c.BearerTokenFile != "":
		token, err := secret(c.BearerToken, c.BearerTokenFile)
		req.Header.Set("Authorization", "Bearer "+token)
		return err
	case c.OAuth2 != nil:
		header, err := s.askForToken(ctx, *c.OAuth2)
		req.Header.Set("Authorization", header)
		return err
	}
	return nil
}

// secret returns a secret that is written out, or in a file.
func secret(text promconfig.Secret, file string) (string, error) {
	if file == "" {
		return string(text), nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading our credentials: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer" // RFC 7523, Section 2.1

// askForToken gets a token from the authorization server, and returns the header
// to send it by. Each probe asks for its own: a server that hands out none is to
// be noticed.
func (s *session) askForToken(ctx context.Context, c promconfig.OAuth2) (string, error) {
	text, file := c.ClientSecret, c.ClientSecretFile
	if c.GrantType == jwtBearer {
		text, file = c.ClientCertificateKey, c.ClientCertificateKeyFile
	}
	key, err := secret(text, file)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.TokenURL, nil)
	if err != nil {
		return "", fmt.Errorf("asking for a token: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	var header headerOf
	asking := promconfig.NewOAuth2RoundTripper(promconfig.NewInlineSecret(key), &c, &header,
		promconfig.WithKeepAlivesDisabled(),
		promconfig.WithDialContextFunc(func(_ context.Context, _, addr string) (net.Conn, error) { return s.dialName(ctx, addr) }))
	if _, err := asking.RoundTrip(req); err != nil {
		return "", fmt.Errorf("asking for a token: %w", err)
	}
	return string(header), nil
}

// headerOf is a round tripper that keeps the Authorization of a request and
// sends nothing.
type headerOf string

// RoundTrip implements [http.RoundTripper].
func (h *headerOf) RoundTrip(req *http.Request) (*http.Response, error) {
	*h = headerOf(req.Header.Get("Authorization"))
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
}

// dialName connects to host:port by the rules of a probe: our own lookup, the
// guard, and ctx for as long as the connection is open.
func (s *session) dialName(ctx context.Context, addr string) (net.Conn, error) {
	host, digits, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return nil, err
	}
	found, _, err := s.resolver.resolve(ctx, endpoint{host, uint16(port), defaultAddresses()})
	if err != nil {
		return nil, err
	}
	conn, release, err := s.dial(ctx, netip.AddrPortFrom(found[0], uint16(port)), 0)
	if err != nil {
		return nil, err
	}
	return &plainConn{recorder{Conn: conn}, release}, nil
}
