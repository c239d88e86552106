package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// http3Record asks for the HTTPS record of host, which says before any connection
// where HTTP/3 is to be had (RFC 9460, Sections 2.3 and 9). An empty service is
// host itself. Nothing is advertised where there is no record, or no answer.
func (r *resolver) http3Record(ctx context.Context, host string, port uint16, via string) (service string, at uint16, ok bool) {
	conf := r.conf.current()
	if server, err := dnsServer(via); err == nil {
		conf = conf.asking(server)
	}
	if _, err := netip.ParseAddr(host); err == nil || len(conf.servers) == 0 {
		return "", 0, false
	}
	name := dns.Fqdn(host)
	if port != 443 {
		name = fmt.Sprintf("_%d._https.%s", port, name)
	}
	asker := asker{timeout: conf.timeout}
	records, failure := asker.records(ctx, conf.servers[0], name, dns.TypeHTTPS)
	if failure != nil {
		return "", 0, false
	}
	for _, rr := range records {
		if record, isHTTPS := rr.(*dns.HTTPS); isHTTPS && speaksH3(record) {
			return serviceOf(record, host), portFor(record, port), true
		}
	}
	return "", 0, false
}

// speaksH3 reports whether a record names HTTP/3 among its protocols. One of
// priority 0 is an alias and names none (RFC 9460, Section 2.4.2).
func speaksH3(record *dns.HTTPS) bool {
	return record.Priority > 0 && slices.ContainsFunc(record.Value, func(v dns.SVCBKeyValue) bool {
		alpn, ok := v.(*dns.SVCBAlpn)
		return ok && slices.Contains(alpn.Alpn, "h3")
	})
}

// serviceOf returns the host that serves, "" if it is host itself. A target name
// of "." is the record's owner (RFC 9460, Section 2.5.2).
func serviceOf(record *dns.HTTPS, host string) string {
	service := strings.TrimSuffix(record.Target, ".")
	if strings.EqualFold(service, strings.TrimSuffix(host, ".")) {
		return ""
	}
	return service
}

func portFor(record *dns.HTTPS, port uint16) uint16 {
	for _, v := range record.Value {
		if p, ok := v.(*dns.SVCBPort); ok {
			return p.Port
		}
	}
	return port
}
