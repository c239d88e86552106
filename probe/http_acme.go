package probe

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// An HTTP-01 challenge (RFC 8555, Section 8.3) is judged as ACME servers judge it:
// the answer has status 200, and its body is the key authorization, whatever white
// space follows. Redirects are followed, and https on the way is taken with any
// certificate, as Let's Encrypt and cert-manager take it: the challenge is there to
// get a good one.

// keyAuthorization is a token, a dot and the thumbprint of an account's key (RFC
// 8555, Section 8.1).
var keyAuthorization = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// validateACME says what does not go with acme_key. Credentials would be sent to a
// peer whose certificate nobody has judged.
func (p *HTTPProber) validateACME() error {
	switch {
	case p.ACMEKey == "":
		return nil
	case !keyAuthorization.MatchString(p.ACMEKey):
		return settingErrorf("acme_key", "%q is no key authorization: write TOKEN.THUMBPRINT", p.ACMEKey)
	case p.Method != http.MethodGet:
		return settingErrorf("acme_key", "is fetched by GET, and method is %s", p.Method)
	case p.Credentials != (Credentials{}) || len(p.HTTPHeaders) > 0:
		return settingErrorf("acme_key", "goes with no credentials and no http_headers: remove them")
	}
	return nil
}

// unjudged is c for a peer whose certificate does not count.
func (c *TLSConfig) unjudged() *TLSConfig {
	without := *c
	without.InsecureSkipVerify = true
	return &without
}

// readKey compares the last answer with the key.
func (w *walk) readKey(resp *response) {
	body := strings.TrimRightFunc(string(resp.body), unicode.IsSpace)
	right := w.prober.statusOK(resp.StatusCode) && resp.complete
	w.keyRead = right && body == w.prober.ACMEKey
	w.read = fmt.Sprintf("status %s, an empty body", resp.Status)
	if len(resp.body) > 0 {
		w.read = fmt.Sprintf("status %s, a body that begins %q", resp.Status, resp.body[:min(len(resp.body), 64)])
	}
	token, _, _ := strings.Cut(w.prober.ACMEKey, ".")
	w.otherAccount = right && strings.HasPrefix(body, token)
}

// judgeKey puts it in front of all that went wrong if the key was not read.
func (w *walk) judgeKey(u *url.URL) {
	if w.prober.ACMEKey == "" || w.keyRead {
		return
	}
	failed := w.prober.challengeFailed(u, w.attempt)
	if w.read != "" {
		failed.Received = w.read
	}
	if w.otherAccount {
		failed.Notes = append(failed.Notes, "it begins with the token, and the thumbprint of another account's key follows, or none")
	}
	w.attempt.Problems = slices.Insert(w.attempt.Problems, 0, failed)
}

// challengeFailed says that the problems of a kept the key at u away.
func (p *HTTPProber) challengeFailed(u *url.URL, a *Attempt) Problem {
	failed := reasonACMEChallengeFailed.problem("%s does not answer with the key", u.Redacted())
	failed.Expected = "the key authorization " + shortKey(p.ACMEKey)
	i := slices.IndexFunc(a.Problems, func(p Problem) bool { return p.Reason.Severity == Error })
	if i < 0 {
		return failed
	}
	failed.Received = "no answer: " + a.Problems[i].Reason.Title
	if to := lastRedirect(a.HTTP); to != "" {
		failed.Received = fmt.Sprintf("a redirect to %q, and there: %s", cut(to), a.Problems[i].Reason.Title)
	}
	return failed
}

// lastRedirect returns where the last redirect leads, "" if there was none.
func lastRedirect(h *HTTP) string {
	if h == nil {
		return ""
	}
	for _, hop := range slices.Backward(h.Hops) {
		if hop.Location != "" {
			return hop.Location
		}
	}
	return ""
}

// lookupFailed implements [lookupJudge].
func (p *HTTPProber) lookupFailed(t *Target, a *Attempt) {
	if u, err := p.parse(t.Address); err == nil && p.ACMEKey != "" {
		a.Problems = slices.Insert(a.Problems, 0, p.challengeFailed(u, a))
	}
}

// shortKey is enough of a key to tell it from another.
func shortKey(key string) string {
	const head, tail = 16, 8
	if len(key) <= head+tail {
		return key
	}
	return key[:head] + "..." + key[len(key)-tail:]
}
