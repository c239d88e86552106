package probe

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"hash"
	"math"
	"runtime"
	"sync"
	"time"
	"weak"
)

const (
	maxVerdicts     = 1 << 14     // verdicts remembered; one target has one for each chain seen
	verdictLifetime = time.Hour   // of a good one; less if a certificate's time comes earlier
	faultyLifetime  = time.Minute // of one with an error: it tells how long ago
	evictionSample  = 8           // entries looked at for each one added
)

// A chainCache remembers verdicts about chains: verification is a fifth of what
// a probe costs, and the answer is the same until a certificate's time comes, or
// the trust pool, the chain or the staple changes. The zero value is ready for
// use, by many goroutines at once.
type chainCache struct {
	mu       sync.Mutex
	verdicts map[verdictKey]*remembered
	facts    map[factsKey]weak.Pointer[Certificate] // as long as somebody holds them
	gone     func(factsKey)                         // forget, made once for all facts
}

// verdictKey is a hash of all that a verdict rests on, except the time.
type verdictKey [sha256.Size]byte

// factsKey is the beginning of a fingerprint. Thousands are kept, and where two
// certificates have the same, all that is lost is that one is not shared.
type factsKey [8]byte

// remembered is a verdict and the times between which it holds, in nanoseconds
// since the Unix epoch: from ≤ t < until.
type remembered struct {
	verdict
	from, until int64
}

// judge answers q, from memory where the answer cannot have changed.
func (c *chainCache) judge(q question) *verdict {
	q.now = q.now.Round(0) // validity is a matter of the wall clock
	key := q.key()
	c.mu.Lock()
	known, ok := c.verdicts[key]
	c.mu.Unlock()
	if ok && known.holds(q.now.UnixNano()) {
		return &known.verdict
	}
	v, until := q.judge(c.factsOf)
	r := &remembered{v, q.now.UnixNano(), until.UnixNano()}
	c.remember(key, r)
	return &r.verdict
}

func (r *remembered) holds(now int64) bool { return r.from <= now && now < r.until }

// remember adds an entry. It looks at a few others, which Go's map picks at
// random, and drops those that hold no longer; when there is no room, also the
// one that would be the first not to. Eviction in order of age would drop every
// entry before its next use once there are more targets than room.
func (c *chainCache) remember(key verdictKey, r *remembered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[verdictKey]*remembered{}
	}
	var first verdictKey
	firstUntil := int64(math.MaxInt64)
	seen := 0
	for k, other := range c.verdicts {
		if !other.holds(r.from) {
			delete(c.verdicts, k)
		} else if other.until < firstUntil {
			first, firstUntil = k, other.until
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	if len(c.verdicts) >= maxVerdicts {
		delete(c.verdicts, first)
	}
	c.verdicts[key] = r
}

// factsOf shares the facts of equal certificates: a CA's are the same for all
// its targets, and a leaf's for all its names.
func (c *chainCache) factsOf(cert *x509.Certificate) *Certificate {
	sum := sha256.Sum256(cert.Raw)
	key := factsKey(sum[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.facts[key].Value(); known != nil && known.SHA256 == sum {
		return known
	}
	if c.facts == nil {
		c.facts = map[factsKey]weak.Pointer[Certificate]{}
		c.gone = c.forget
	}
	f := factsOf(cert)
	c.facts[key] = weak.Make(f)
	runtime.AddCleanup(f, c.gone, key)
	return f
}

// forget drops facts that nobody holds.
func (c *chainCache) forget(key factsKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.facts[key].Value() == nil {
		delete(c.facts, key)
	}
}

// keyHasher is the state for one key, reused: a hit should cost a hash and no
// more.
type keyHasher struct {
	hash    hash.Hash
	scratch []byte
	length  [8]byte
}

var keyHashers = sync.Pool{New: func() any { return &keyHasher{hash: sha256.New()} }}

// key hashes the question. Every part is preceded by its length, so no two
// questions have the same input.
func (q *question) key() (key verdictKey) {
	h := keyHashers.Get().(*keyHasher)
	defer keyHashers.Put(h)
	h.hash.Reset()
	h.hash.Write(q.roots.id[:])
	h.scratch = append(h.scratch[:0], q.name...)
	h.part(h.scratch)
	h.part(q.stapled)
	for _, cert := range q.chain {
		h.part(cert.Raw)
	}
	h.scratch = h.hash.Sum(h.scratch[:0])
	copy(key[:], h.scratch)
	return key
}

func (h *keyHasher) part(b []byte) {
	binary.BigEndian.PutUint64(h.length[:], uint64(len(b)))
	h.hash.Write(h.length[:])
	h.hash.Write(b)
}
