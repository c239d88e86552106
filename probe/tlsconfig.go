package probe

import (
	"crypto/tls"
	"fmt"
)

// TLSConfig is how to shake hands: blackbox_exporter's tls_config, with what a
// target may override.
type TLSConfig struct {
	CAFile             string     `yaml:"ca_file,omitempty"`
	CA                 string     `yaml:"ca,omitempty"`        // PEM
	CertFile           string     `yaml:"cert_file,omitempty"` // re-read when it changes
	KeyFile            string     `yaml:"key_file,omitempty"`
	ServerName         string     `yaml:"server_name,omitempty"`
	InsecureSkipVerify bool       `yaml:"insecure_skip_verify"` // keep the facts, raise no certificate reason
	MinVersion         TLSVersion `yaml:"min_version,omitempty"`
	MaxVersion         TLSVersion `yaml:"max_version,omitempty"`
}

// Trust says which roots a certificate must lead to. The zero value means "not
// said"; when nobody says, the system's roots are used.
type Trust struct {
	File   string // PEM file, re-read when it changes
	PEM    string // PEM itself: an inline CA, or a webhook's caBundle
	System bool   // the system's roots, also beside File or PEM
}

// IsZero reports whether nothing was said.
func (t Trust) IsZero() bool { return t == Trust{} }

// TLSVersion is a protocol version as configured: TLS10 to TLS13. 0: not set.
type TLSVersion uint16

var tlsVersions = map[string]TLSVersion{
	"TLS10": tls.VersionTLS10,
	"TLS11": tls.VersionTLS11,
	"TLS12": tls.VersionTLS12,
	"TLS13": tls.VersionTLS13,
}

// UnmarshalText accepts TLS10, TLS11, TLS12 and TLS13.
func (v *TLSVersion) UnmarshalText(text []byte) error {
	known, ok := tlsVersions[string(text)]
	if !ok {
		return fmt.Errorf("unknown TLS version %q: write TLS10, TLS11, TLS12 or TLS13", text)
	}
	*v = known
	return nil
}

// MarshalText is the inverse of UnmarshalText.
func (v TLSVersion) MarshalText() ([]byte, error) {
	for name, known := range tlsVersions {
		if v == known {
			return []byte(name), nil
		}
	}
	return nil, fmt.Errorf("unknown TLS version %#04x", uint16(v))
}

func (c *TLSConfig) validate() error {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return settingErrorf("tls_config", "cert_file and key_file go together: write both or neither")
	}
	if c.CA != "" && c.CAFile != "" {
		return settingErrorf("tls_config", "ca and ca_file exclude each other: write one of them")
	}
	if c.MinVersion != 0 && c.MaxVersion != 0 && c.MinVersion > c.MaxVersion {
		return settingErrorf("tls_config.min_version", "is above max_version: no version is left")
	}
	return nil
}
