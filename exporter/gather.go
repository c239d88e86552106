package exporter

import (
	"crypto/tls"
	"maps"
	"slices"
	"strconv"
	"time"

	"tlsprobe/probe"
)

// A snapshot is what one scrape tells: all its families agree with each other.
type snapshot struct {
	node     string
	readings []reading // by the target's name
	modules  []string  // those in use, sorted
	byReason map[moduleReason]uint64
}

// A reading is what a snapshot holds of one target.
type reading struct {
	target         *probe.Target
	last           *probe.Result // nil while pending
	runs, failures uint64
}

// snapshot fills snap, whose memory it uses again. It holds up Record for no
// longer than copying pointers takes.
func (s *Store) snapshot(snap *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap.readings = snap.readings[:0]
	for _, e := range s.sorted {
		snap.readings = append(snap.readings, reading{e.target, e.last, e.runs, e.failures})
	}
	snap.modules = s.modules
	snap.byReason = maps.Clone(s.byReason)
}

// ran calls f with each target that has a result: nothing is exported before.
func (snap *snapshot) ran(f func(r *reading)) {
	for i := range snap.readings {
		if r := &snap.readings[i]; r.last != nil {
			f(r)
		}
	}
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func fillSuccess(f *family, snap *snapshot) {
	snap.ran(func(r *reading) { f.add(boolean(r.last.OK()), r.target.Name) })
}

func fillDuration(f *family, snap *snapshot) {
	snap.ran(func(r *reading) { f.add(r.last.Duration.Seconds(), r.target.Name) })
}

func fillLastRun(f *family, snap *snapshot) {
	snap.ran(func(r *reading) { f.add(unix(r.last.Start), r.target.Name) })
}

func fillRuns(f *family, snap *snapshot) {
	snap.ran(func(r *reading) { f.add(float64(r.runs), r.target.Name) })
}

func fillFailures(f *family, snap *snapshot) {
	snap.ran(func(r *reading) { f.add(float64(r.failures), r.target.Name) })
}

func fillProblems(f *family, snap *snapshot) {
	snap.ran(func(r *reading) {
		if r.last.Worst() == nil {
			return
		}
		for _, reason := range r.last.Reasons() {
			f.add(1, r.target.Name, reason.ID, reason.Phase.String(), reason.Severity.String())
		}
	})
}

// position names a certificate's place in its chain.
func position(i int) string { return strconv.Itoa(i) }

func fillNotAfter(f *family, snap *snapshot) {
	snap.ran(func(r *reading) {
		for i := range longestChain(r.last) {
			f.add(unix(earliestNotAfter(r.last, i)), r.target.Name, position(i))
		}
	})
}

func fillNotBefore(f *family, snap *snapshot) {
	snap.ran(func(r *reading) {
		for i := range longestChain(r.last) {
			f.add(unix(latestNotBefore(r.last, i)), r.target.Name, position(i))
		}
	})
}

// longestChain is how many certificates the longest chain of any attempt has.
func longestChain(r *probe.Result) int {
	longest := 0
	for i := range r.Attempts {
		if t := r.Attempts[i].TLS; t != nil {
			longest = max(longest, len(t.Chain))
		}
	}
	return longest
}

func earliestNotAfter(r *probe.Result, position int) (earliest time.Time) {
	for i := range r.Attempts {
		t := r.Attempts[i].TLS
		if t == nil || position >= len(t.Chain) {
			continue
		}
		if at := t.Chain[position].NotAfter; earliest.IsZero() || at.Before(earliest) {
			earliest = at
		}
	}
	return earliest
}

func latestNotBefore(r *probe.Result, position int) (latest time.Time) {
	for i := range r.Attempts {
		t := r.Attempts[i].TLS
		if t == nil || position >= len(t.Chain) {
			continue
		}
		if at := t.Chain[position].NotBefore; latest.IsZero() || at.After(latest) {
			latest = at
		}
	}
	return latest
}

func fillClientNotAfter(f *family, snap *snapshot) {
	snap.ran(func(r *reading) {
		for i := range r.last.Attempts {
			if t := r.last.Attempts[i].TLS; t != nil && t.ClientCert != nil {
				f.add(unix(t.ClientCert.NotAfter), r.target.Name)
				return
			}
		}
	})
}

// agreed is what a handshake agreed on.
type agreed struct {
	version, cipher uint16
	group           tls.CurveID
}

// fillTLS adds what handshakes agreed on, once where several addresses agree on
// the same.
func fillTLS(f *family, snap *snapshot) {
	names := map[agreed][3]string{} // crypto/tls makes a list to look up one suite
	var seen []agreed
	snap.ran(func(r *reading) {
		seen = seen[:0]
		for i := range r.last.Attempts {
			t := r.last.Attempts[i].TLS
			if t == nil || t.Version == 0 {
				continue
			}
			a := agreed{t.Version, t.Cipher, t.Group}
			if slices.Contains(seen, a) {
				continue
			}
			seen = append(seen, a)
			n, known := names[a]
			if !known {
				n = [3]string{versionName(a.version), cipherName(a.cipher), groupName(a.group)}
				names[a] = n
			}
			f.add(1, r.target.Name, n[0], n[1], n[2])
		}
	})
}

func fillTargets(f *family, snap *snapshot) {
	var info infoLabels
	for i := range snap.readings {
		info.set(snap.readings[i].target)
		f.addLabelled(1, info.names, info.values)
	}
}

func fillReasons(f *family, _ *snapshot) {
	for _, r := range probe.Catalogue() {
		f.add(1, r.ID, r.Phase.String(), r.Severity.String(), r.Title)
	}
}

// fillByReason gives each module in use every reason that can fail it, from the
// start: a counter that begins at its first increment hides that increment from
// rate().
func fillByReason(f *family, snap *snapshot) {
	catalogue := probe.Catalogue()
	for _, module := range snap.modules {
		for _, r := range catalogue {
			if !r.LogOnly && r.Severity == probe.Error {
				f.add(float64(snap.byReason[moduleReason{module, r}]), module, r.ID)
			}
		}
	}
}

func fillNode(f *family, snap *snapshot) { f.add(1, snap.node) }
