package probe_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tlsprobe/probe"
	"tlsprobe/probe/lab"
)

// Peers that try to cost us time or memory get their reason within the target's
// timeout and that of a diagnosis; afterwards nothing of them is left, neither
// goroutines nor heap.
func TestHostilePeersLeaveNothing(t *testing.T) {
	const rounds, heapSlack = 3, 8 << 20
	l := newLab(t)
	probeHostiles(t, l, 1) // what is kept once: pools, parsed certificates
	goroutines, heap := settle(0), liveHeap()
	probeHostiles(t, l, rounds)
	if left := settle(goroutines); left > goroutines {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", goroutines, left, buf[:runtime.Stack(buf, true)])
	}
	if after := liveHeap(); after > heap+heapSlack {
		t.Errorf("a live heap of %d KiB before, %d KiB after", heap>>10, after>>10)
	}
}

// probeHostiles probes each hostile scenario so many times; the peers at once.
func probeHostiles(t *testing.T, l *lab.Lab, times int) {
	t.Helper()
	var peers sync.WaitGroup
	for _, s := range lab.Scenarios() {
		if !strings.HasPrefix(s.Name, "hostile-") {
			continue
		}
		i, err := l.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		peers.Go(func() {
			defer i.Close()
			for range times {
				start := time.Now()
				res := probe.NewRunner("n").Run(t.Context(), i.Target)
				if took, limit := time.Since(start), 2*i.Target.Timeout+5*time.Second; took > limit {
					t.Errorf("%s took %s, more than %s", s.Name, took, limit)
				}
				if res.Worst() == nil {
					t.Errorf("%s: no reason", s.Name)
				}
			}
		})
	}
	peers.Wait()
}

// settle returns the number of goroutines once it is down to want, or when it
// does not fall any more.
func settle(want int) int {
	n := runtime.NumGoroutine()
	for range 1000 {
		if n <= want {
			break
		}
		runtime.Gosched()
		runtime.GC()
		n = runtime.NumGoroutine()
	}
	return n
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
