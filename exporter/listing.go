package exporter

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A listing is a [Listing] with its head packed. Thousands of agents fetch a new
// list within a minute: what they all get is packed once.
type listing struct {
	Listing
	published time.Time
	sum       [sha256.Size]byte // of Head
	crc       uint32            // of Head
	packed    []byte            // Head as DEFLATE (RFC 1951) that ends at a byte, and to which more may be added
}

func newListing(l Listing) *listing {
	var packed bytes.Buffer
	w := newDeflater(flate.BestCompression)
	w.Reset(&packed)
	w.Write(l.Head)
	w.Flush() // into a buffer, which takes all
	return &listing{
		Listing:   l,
		published: time.Now(),
		sum:       sha256.Sum256(l.Head),
		crc:       crc32.ChecksumIEEE(l.Head),
		packed:    packed.Bytes(),
	}
}

func newDeflater(level int) *flate.Writer {
	w, err := flate.NewWriter(nil, level)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}

// maxNodeName is the length of the longest name that a Kubernetes object can have.
const maxNodeName = 253

// serveTargets serves /targets: the list of the node, or without one what all
// nodes have. A node that is not known yet has its neighbours, as any other.
func (h *Hub) serveTargets(w http.ResponseWriter, r *http.Request, l *listing) {
	tail, err := l.tail(r)
	if err != nil {
		writePlain(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("ETag", l.etag(tail))
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Cache-Control", "no-cache") // to be asked for each time
	w.Header().Set("Age", strconv.Itoa(int(h.age(l).Seconds())))
	if isKnown(r.Header.Get("If-None-Match"), l.etag(tail)) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	pieces := [][]byte{l.Head, tail}
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		pieces = l.gzip(tail)
	}
	length := 0
	for _, p := range pieces {
		length += len(p)
	}
	w.Header().Set("Content-Length", strconv.Itoa(length))
	for _, p := range pieces {
		w.Write(p) // who does not listen any more asks again
	}
}

// age is how long ago the list was last known to be the newest: it grows while the
// cluster cannot be read (RFC 9111, Section 5.1).
func (h *Hub) age(l *listing) time.Duration {
	at := time.Now()
	for _, s := range h.sources() {
		at = s.Updated
		if at.IsZero() { // it is the list of the source before
			at = l.published
		}
	}
	return max(0, time.Since(at))
}

// tail returns what completes the list that r asks for.
func (l *listing) tail(r *http.Request) ([]byte, error) {
	own, err := l.own(r)
	if err != nil {
		return nil, err
	}
	return l.Tail(own)
}

// etag tells lists apart by what is in them, so that all hubs of a cluster give the
// same list the same one. It is weak, as the packed list has it too (RFC 9110,
// Section 8.8.1).
func (l *listing) etag(tail []byte) string {
	sum := sha256.Sum256(append(l.sum[:], tail...))
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// isKnown reports whether the value of If-None-Match names the ETag (RFC 9110,
// Section 13.1.2).
func isKnown(header, etag string) bool {
	for known := range strings.SplitSeq(header, ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// gzipHeader begins a gzip member (RFC 1952, Section 2.3): DEFLATE, no flags, no
// time, any system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// tailDeflaters pack tails, which are small.
var tailDeflaters = sync.Pool{New: func() any { return newDeflater(flate.BestSpeed) }}

// gzip returns Head and tail as one gzip member, which every client can read as it
// cannot several: the two streams of DEFLATE follow each other as one, since the
// second does not refer to what is in the first.
func (l *listing) gzip(tail []byte) [][]byte {
	var end bytes.Buffer
	w := tailDeflaters.Get().(*flate.Writer)
	defer tailDeflaters.Put(w)
	w.Reset(&end)
	w.Write(tail)
	w.Close()
	trailer := binary.LittleEndian.AppendUint32(end.Bytes(), crc32.Update(l.crc, crc32.IEEETable, tail))
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(len(l.Head)+len(tail)))
	return [][]byte{gzipHeader, l.packed, trailer}
}

// A listingCollector collects what is handed out.
type listingCollector struct {
	listing func() *listing
	descs   map[string]*prometheus.Desc // by name
}

func newListingCollector(of func() *listing) *listingCollector {
	c := &listingCollector{of, map[string]*prometheus.Desc{}}
	for _, name := range []string{"tlsprobe_hub_list_bytes", "tlsprobe_hub_nodes", "tlsprobe_hub_targets"} {
		c.descs[name] = prometheus.NewDesc(name, described(name).help, described(name).labels, nil)
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *listingCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		descs <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *listingCollector) Collect(metrics chan<- prometheus.Metric) {
	l := c.listing()
	if l == nil {
		return
	}
	add := func(name string, value int, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(c.descs[name], prometheus.GaugeValue, float64(value), labels...)
	}
	add("tlsprobe_hub_list_bytes", len(l.Head), "identity")
	add("tlsprobe_hub_list_bytes", len(l.packed), "gzip")
	add("tlsprobe_hub_nodes", l.Nodes)
	for _, k := range l.kinds() {
		add("tlsprobe_hub_targets", k.Targets, k.Name)
	}
}

// A kindCount is how many targets of a kind all nodes have.
type kindCount struct {
	Name    string
	Targets int
}

// kinds counts the common targets by the first part of their names, in order of it.
func (l *listing) kinds() []kindCount {
	var out []kindCount
	for _, t := range l.Common {
		kind, _, _ := strings.Cut(t.Name, "/")
		if len(out) == 0 || out[len(out)-1].Name != kind {
			out = append(out, kindCount{Name: kind})
		}
		out[len(out)-1].Targets++
	}
	return out
}
