package probe

import (
	"crypto/x509"
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

func TestChainCacheHit(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	q := ask(webhook, trusting(ca), issue(t, ca, "x", forDNS(webhook)))
	var c chainCache
	first := c.judge(q)
	q.now = q.now.Add(verdictLifetime - 1)
	q.chain = []*x509.Certificate{parse(t, q.chain[0].Raw)} // an equal one, elsewhere
	if c.judge(q) != first {
		t.Error("an equal question was judged again")
	}
	q.now = q.now.Add(1)
	if c.judge(q) == first {
		t.Error("a verdict is older than an hour")
	}
	q.name = "other"
	other := c.judge(q)
	if other == first || len(other.problems) == 0 {
		t.Error("another name was answered with the verdict of the first")
	}
	if other.chain[0] != first.chain[0] {
		t.Error("the facts of one certificate are kept twice")
	}
}

// TestRememberingHidesNothing judges, lets time pass or something change, and
// judges again with the same cache.
func TestRememberingHidesNothing(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	shortCA := issue(t, nil, "ca", asCA, valid(-time.Hour, 10*time.Minute))
	leaf := issue(t, ca, "x", forDNS(webhook))
	staled := issue(t, ca, "x", forDNS(webhook), valid(-time.Hour, 10*time.Minute))
	early := issue(t, ca, "x", forDNS(webhook), valid(10*time.Second, time.Hour))
	mid := issue(t, ca, "mid", asCA, valid(-time.Hour, 10*time.Minute))
	pastCA := issue(t, nil, "ca", asCA, expired)
	nextCA := issueFor(t, pastCA.key, nil, "ca", asCA, valid(10*time.Second, time.Hour))
	at := func(d time.Duration, q question) question { q.now = q.now.Add(d); return q }
	after := func(d time.Duration) func(*question) { return func(q *question) { q.now = q.now.Add(d) } }
	goodUntil := staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Good, NextUpdate: judgedAt.Add(10 * time.Minute)})
	for _, tc := range []struct {
		name         string
		q            question
		change       func(*question)
		before, then string
	}{
		{"leaf's last moment", ask(webhook, trusting(ca), staled), after(10 * time.Minute), "", ""},
		{"leaf expires", ask(webhook, trusting(ca), staled), after(10*time.Minute + 1), "", "cert_expired"},
		{"leaf expires after its last moment", at(10*time.Minute, ask(webhook, trusting(ca), staled)), after(1), "", "cert_expired"},
		{"anchor takes over", ask(webhook, trusting(pastCA, nextCA), issue(t, pastCA, "x", forDNS(webhook))), after(10 * time.Second), "cert_expired", ""},
		{"leaf becomes valid", ask(webhook, trusting(ca), early), after(10 * time.Second), "cert_not_yet_valid", ""},
		{"intermediate expires", ask(webhook, trusting(ca), issue(t, mid, "x", forDNS(webhook)), mid), after(10*time.Minute + 1), "", "cert_expired"},
		{"anchor expires", ask(webhook, trusting(shortCA), issue(t, shortCA, "x", forDNS(webhook))), after(10*time.Minute + 1), "", "cert_expired"},
		{"clock is set back", ask(webhook, trusting(ca), leaf), after(-2 * time.Hour), "", "cert_expired cert_not_yet_valid"},
		{"pool changes", ask(webhook, trusting(ca), leaf), func(q *question) { q.roots = trusting(shortCA) }, "", "stale_ca"},
		{"pool is mended", ask(webhook, trusting(shortCA), leaf), func(q *question) { q.roots = trusting(shortCA, ca) }, "stale_ca", ""},
		{"chain changes", ask(webhook, trusting(ca), leaf), func(q *question) { q.chain = []*x509.Certificate{shortCA.Certificate} }, "", "hostname_mismatch stale_ca"},
		{"chain is cut", ask(webhook, trusting(ca), issue(t, mid, "x", forDNS(webhook)), mid), func(q *question) { q.chain = q.chain[:1] }, "", "unknown_authority"},
		{"staple appears", ask(webhook, trusting(ca), leaf), func(q *question) {
			q.stapled = staple(t, leaf, ca, ca, ocsp.Response{Status: ocsp.Revoked})
		}, "", "cert_revoked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c chainCache
			if got := strings.Join(reasonIDs(c.judge(tc.q)), " "); got != tc.before {
				t.Fatalf("at first %q, want %q", got, tc.before)
			}
			tc.change(&tc.q)
			want := strings.Join(reasonIDs(new(chainCache).judge(tc.q)), " ")
			if got := strings.Join(reasonIDs(c.judge(tc.q)), " "); got != want {
				t.Errorf("with memory %q, without %q", got, want)
			}
			if tc.name != "clock is set back" && want != tc.then {
				t.Errorf("then %q, want %q", want, tc.then)
			}
		})
	}

	t.Run("staple goes out of date", func(t *testing.T) {
		var c chainCache
		q := ask(webhook, trusting(ca), leaf)
		q.stapled = goodUntil
		if v := c.judge(q); v.ocsp.Status != "good" {
			t.Fatalf("at first %q", v.ocsp.Status)
		}
		q.now = q.now.Add(10*time.Minute + 1)
		if v := c.judge(q); v.ocsp.Status != "invalid" {
			t.Errorf("then %q, want invalid", v.ocsp.Status)
		}
	})
}

func TestFaultyVerdictLifetime(t *testing.T) {
	q := ask(webhook, trusting(), issue(t, nil, "x", forDNS(webhook)))
	var c chainCache
	first := c.judge(q)
	q.now = q.now.Add(faultyLifetime - 1)
	if c.judge(q) != first {
		t.Error("judged again within a minute")
	}
	q.now = q.now.Add(1)
	if c.judge(q) == first {
		t.Error("a verdict with an error is older than a minute")
	}
}

func TestChainCacheIsBounded(t *testing.T) {
	var c chainCache
	entry := func(at time.Time) *remembered {
		return &remembered{from: at.UnixNano(), until: at.Add(time.Hour).UnixNano()}
	}
	for i := range uint64(maxVerdicts + 1000) {
		var key verdictKey
		binary.BigEndian.PutUint64(key[:], i)
		c.remember(key, entry(judgedAt))
		if len(c.verdicts) > maxVerdicts {
			t.Fatalf("%d verdicts are kept", len(c.verdicts))
		}
	}
	if len(c.verdicts) != maxVerdicts {
		t.Errorf("%d verdicts are kept, want %d", len(c.verdicts), maxVerdicts)
	}
	later := judgedAt.Add(2 * time.Hour)
	for i := range uint64(maxVerdicts) {
		var key verdictKey
		binary.LittleEndian.PutUint64(key[:], i+1)
		c.remember(key, entry(later))
	}
	old := 0
	for _, r := range c.verdicts {
		if !r.holds(later.UnixNano()) {
			old++
		}
	}
	if old > maxVerdicts/evictionSample {
		t.Errorf("%d of %d verdicts hold no longer and are kept", old, len(c.verdicts))
	}
}

func TestChainCacheConcurrently(t *testing.T) {
	ca := issue(t, nil, "ca", asCA)
	leaf := issue(t, ca, "x", forDNS(webhook))
	trust := trusting(ca)
	var c chainCache
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				name, want := webhook, ""
				if (i+n)%2 == 0 {
					name, want = "other", "hostname_mismatch"
				}
				q := ask(name, trust, leaf)
				q.now = q.now.Add(time.Duration(n) * time.Second)
				if got := strings.Join(reasonIDs(c.judge(q)), " "); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
	all.Wait()
}

func TestFactsGoWithTheirHolders(t *testing.T) {
	var c chainCache
	for range 10 {
		c.factsOf(issue(t, nil, "x").Certificate)
	}
	kept := c.factsOf(issue(t, nil, "kept").Certificate)
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.facts)
	}
	for deadline := time.Now().Add(10 * time.Second); count() > 1; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d facts are kept, want 1", count())
		}
		runtime.GC()
	}
	runtime.KeepAlive(kept)
}

// BenchmarkJudge compares a verdict from memory with x509.Verify, on a chain
// with one intermediate.
func BenchmarkJudge(b *testing.B) {
	ca := issue(b, nil, "ca", asCA)
	mid := issue(b, ca, "mid", asCA)
	q := ask(webhook, trusting(ca), issue(b, mid, "x", forDNS(webhook)), mid)
	opts := x509.VerifyOptions{DNSName: webhook, Roots: q.roots.pool, Intermediates: x509.NewCertPool(), CurrentTime: q.now}
	opts.Intermediates.AddCert(q.chain[1])
	var c chainCache
	c.judge(q)
	b.ReportAllocs()
	for b.Loop() {
		c.judge(q)
	}
	perJudge := b.Elapsed() / time.Duration(b.N)
	const controls = 200
	start := time.Now()
	for range controls {
		if _, err := q.chain[0].Verify(opts); err != nil {
			b.Fatal(err)
		}
	}
	perVerify := time.Since(start) / controls
	b.ReportMetric(float64(perJudge)/float64(perVerify), "of-x509.Verify")
}
