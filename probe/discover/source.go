package discover

import (
	"net/url"
	"time"
)

// defaultRefresh is how often an HTTP source is asked.
const defaultRefresh = 30 * time.Second

// source builds the source that is written at the path, nil if it cannot work.
func (d *decoder) source(e *sourceEntry, path string, rules targetRules) Source {
	isHTTP, isKubernetes := d.at[path+".http"] != nil, d.at[path+".kubernetes"] != nil
	switch {
	case d.bad[path]:
	case isHTTP && isKubernetes:
		d.failAt(path, "names two kinds of source; write - http: and - kubernetes: as two entries")
	case isHTTP && e.HTTP != nil:
		return d.httpSource(e.HTTP, path+".http", rules)
	case isKubernetes:
		return d.kubernetesSource(e.Kubernetes, path+".kubernetes", rules.times)
	case !isHTTP && len(d.at[path].Content) > 0:
		// of another kind, which was told of as an unknown key
	default:
		d.failAt(path, "names no kind of source; write http: {url: ...}, or kubernetes: {}")
	}
	return nil
}

func (d *decoder) httpSource(h *httpEntry, path string, rules targetRules) Source {
	s := &HTTPSource{url: h.URL, refresh: defaultRefresh, caFile: h.CAFile, tokenFile: h.BearerTokenFile, rules: rules}
	if d.usable(path+".refresh", h.Refresh) {
		s.refresh = h.Refresh
	}
	if d.bad[path] || d.bad[path+".url"] {
		return nil
	}
	u, err := url.Parse(h.URL)
	switch {
	case h.URL == "":
		d.failAt(path+".url", "is missing; write where a list of targets is, such as http://tlsprobe-hub:9790/targets")
	case err != nil:
		d.failAt(path+".url", "%q is no URL: %v", h.URL, urlFault(err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		d.failAt(path+".url", "%q is no URL of http or https; write one such as http://tlsprobe-hub:9790/targets", h.URL)
	case u.User != nil:
		d.failAt(path+".url", "holds a password, which would show in logs; use bearer_token_file")
	case u.Scheme == "http" && h.BearerTokenFile != "":
		d.failAt(path+".bearer_token_file", "would be sent in the clear%s; use https", alsoAt(d.at[path+".url"]))
	}
	return s
}
