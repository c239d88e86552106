package probe

import (
	"fmt"
	"maps"
	"net/textproto"
)

// WithHostname returns m for a server that goes by this name, whatever the
// address it is reached at, as blackbox_exporter's parameter of the same name
// does: an http module asks for that host, and http, tcp and tls send and verify
// the name unless the module has one of its own. Other modules are returned as
// they are.
func (m *Module) WithHostname(hostname string) (*Module, error) {
	named := *m
	switch p := m.Prober.(type) {
	case *HTTPProber:
		known := *p
		known.Headers = maps.Clone(p.Headers)
		if known.Headers == nil {
			known.Headers = map[string]string{}
		}
		for name, value := range known.Headers {
			if textproto.CanonicalMIMEHeaderKey(name) != "Host" {
				continue
			}
			if value != hostname {
				return nil, fmt.Errorf("host header defined both in module configuration (%s) and with URL-parameter 'hostname' (%s)", value, hostname)
			}
			delete(known.Headers, name)
		}
		known.Headers["Host"] = hostname
		if known.TLSConfig.ServerName == "" {
			known.TLSConfig.ServerName = hostname
		}
		named.Prober = &known
	case *TCPProber:
		known := *p
		if known.TLSConfig.ServerName == "" {
			known.TLSConfig.ServerName = hostname
		}
		named.Prober = &known
	case *TLSProber:
		known := *p
		if known.TLSConfig.ServerName == "" {
			known.TLSConfig.ServerName = hostname
		}
		named.Prober = &known
	default:
		return m, nil
	}
	return &named, nil
}
