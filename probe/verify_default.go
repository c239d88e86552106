package probe

import (
	"crypto/x509"
	"slices"
	"strings"
)

// A madeBy recognises certificates by who makes them, from their names.
type madeBy struct {
	product string // "ingress-nginx's fake certificate"
	next    string // what a person should know, "" if the catalogue says it all
	fits    func(*x509.Certificate) bool
}

// defaults are the certificates that servers fall back to when no other is
// configured for a host: sources are the products' own code and documentation.
var defaults = []madeBy{
	{
		product: "ingress-nginx's fake certificate",
		next:    "no Ingress with a usable TLS secret covers this host: see the controller's log for the secret's name",
		fits: func(c *x509.Certificate) bool {
			return c.Subject.CommonName == "Kubernetes Ingress Controller Fake Certificate"
		},
	}, {
		product: "Traefik's default certificate",
		next:    "no router with tls and a usable secret covers this host",
		fits: func(c *x509.Certificate) bool {
			return c.Subject.CommonName == "TRAEFIK DEFAULT CERT" || anyName(c, ".traefik.default")
		},
	}, {
		product: "Kong's default certificate",
		next:    "no Kong certificate has this host among its SNIs",
		fits: func(c *x509.Certificate) bool {
			return c.Subject.CommonName == "localhost" && slices.Contains(c.Subject.Organization, "Kong")
		},
	}, {
		product: "the certificate that Rancher or k3s makes for itself (dynamiclistener)",
		fits: func(c *x509.Certificate) bool {
			return slices.Contains(c.Issuer.Organization, "dynamiclistener-org") ||
				slices.Contains(c.Subject.Organization, "dynamic") && c.Subject.CommonName == "dynamic"
		},
	}, {
		product: "the OpenShift router's default certificate",
		next:    "the route has no certificate of its own, so the router serves the one of the ingress operator",
		fits:    func(c *x509.Certificate) bool { return strings.HasPrefix(c.Issuer.CommonName, "ingress-operator@") },
	}, {
		product: "a certificate of Caddy's internal CA",
		next:    "Caddy has no public certificate for this host, or its site says tls internal",
		fits:    func(c *x509.Certificate) bool { return strings.HasPrefix(c.Issuer.CommonName, "Caddy Local Authority") },
	},
}

// makers are worth a note where a certificate is not trusted; what they make is
// no default.
var makers = []madeBy{
	{
		product: "Let's Encrypt's staging CA, which no client trusts",
		next:    "point the issuer at the production server, then delete the secret",
		fits: func(c *x509.Certificate) bool {
			return strings.Contains(c.Issuer.CommonName, "(STAGING)") || strings.HasPrefix(c.Issuer.CommonName, "Fake LE") ||
				slices.ContainsFunc(c.Issuer.Organization, func(o string) bool { return strings.Contains(o, "(STAGING)") })
		},
	}, {
		product: "a Kubernetes server for itself, as a kubelet without serverTLSBootstrap does",
		next:    "no CA of the cluster knows it",
		fits: func(c *x509.Certificate) bool {
			name, made, ok := strings.Cut(c.Issuer.CommonName, "-ca@")
			return ok && strings.HasPrefix(c.Subject.CommonName, name+"@") && isDigits(made)
		},
	},
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func anyName(c *x509.Certificate, suffix string) bool {
	return slices.ContainsFunc(firstNames(c.DNSNames), func(n string) bool { return strings.HasSuffix(n, suffix) })
}

// checkDefault looks for a default certificate, which counts only where it does
// not do: some clusters are content with theirs.
func (j *judgement) checkDefault() {
	leaf := j.leaf()
	if j.trusted != nil && fitsName(leaf, j.name) {
		return
	}
	i := slices.IndexFunc(defaults, func(m madeBy) bool { return m.fits(leaf) })
	if i < 0 {
		return
	}
	p := reasonDefaultCert.problem("the answer for %q is %s", cut(j.name), defaults[i].product)
	p.Expected = "a certificate for " + j.name
	p.Received = subjectOf(leaf) + " issued by " + nameText(leaf.Issuer)
	if defaults[i].next != "" {
		p.Notes = append(p.Notes, defaults[i].next)
	}
	j.add(p)
}

// makerNote says who made a certificate that is not trusted.
func makerNote(c *x509.Certificate) (notes []string) {
	for _, m := range makers {
		if m.fits(c) {
			notes = append(notes, "it was made by "+m.product+": "+m.next)
		}
	}
	return notes
}
