package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// proberFunc is a prober of which only the attempt matters.
type proberFunc func(ctx context.Context, a *Attempt)

func (proberFunc) Validate() error { return nil }
func (proberFunc) endpoint(*Target) (endpoint, error) {
	return endpoint{host: "127.0.0.1", port: 1}, nil
}
func (f proberFunc) attempt(ctx context.Context, _ *session, a *Attempt) { f(ctx, a) }

func targetOf(f proberFunc) *Target {
	return &Target{Name: "t", Module: &Module{Name: "m", Prober: f}}
}

func TestPanicIsAResult(t *testing.T) {
	res := NewRunner("n").Run(t.Context(), targetOf(func(context.Context, *Attempt) { panic("oh no") }))
	if p := res.Worst(); p == nil || p.Reason != reasonProberPanic || p.Detail != "oh no" {
		t.Fatalf("a prober that panics gives %+v", p)
	}
}

func TestPanicInExperimentIsAResult(t *testing.T) {
	s := &session{Runner: NewRunner("n"), target: targetOf(nil)}
	a := Attempt{Problems: []Problem{reasonEOF.problem("closed")}}
	fails := experiment{try: func(*trial, context.Context) { panic("oh no") }}
	s.investigate(t.Context(), defaultTimeout, loreKey{}, &a, &a.Problems[0], []experiment{fails})
	if len(a.Problems) != 2 || a.Problems[0].Reason != reasonEOF || a.Problems[1].Reason != reasonProberPanic {
		t.Errorf("an experiment that panics gives %+v", a.Problems)
	}
}

// Experiments that run beside each other do so in goroutines of their own.
func TestPanicBesideAnotherIsAResult(t *testing.T) {
	runner := NewRunner("n").Guarded(func(netip.AddrPort) error { panic("oh no") })
	s := &session{Runner: runner, target: targetOf(nil)}
	a := Attempt{Problems: []Problem{reasonEOF.because(io.EOF)}}
	a.Problems[0].Evidence = new(Evidence)
	s.investigate(t.Context(), defaultTimeout, loreKey{}, &a, &a.Problems[0], []experiment{{try: (*trial).size}})
	if len(a.Problems) != 2 || a.Problems[1].Reason != reasonProberPanic || !strings.HasPrefix(a.Problems[1].Detail, "oh no") {
		t.Errorf("an experiment that panics gives %+v", a.Problems)
	}
}

func TestPanicInResolutionIsAResult(t *testing.T) {
	runner := NewRunner("n")
	runner.resolver = nil
	target := targetOf(nil)
	target.Module.Prober, target.Address = &TLSProber{}, "name.test:443"
	if p := runner.Run(t.Context(), target).Worst(); p == nil || p.Reason != reasonProberPanic {
		t.Errorf("a resolver that panics gives %+v", p)
	}
}

// What an experiment showed is said of each run for as long as the verdict holds,
// and tried once.
func TestFindingIsRemembered(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32 // in plain text
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { l.Close() })
	serving.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			first := make([]byte, 4)
			if io.ReadFull(conn, first); string(first) == "GET " {
				asked.Add(1)
				io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
			}
			conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, conn) // closing with unread bytes would be a reset
			conn.Close()
		}
	})
	runner := NewRunner("n")
	target := &Target{Name: "t", Address: l.Addr().String(), Module: BuiltinModules()["tls"]}
	var before *Problem
	for range 2 {
		p := runner.Run(t.Context(), target).Worst()
		if p == nil || p.Reason != reasonWrongVersionNumber || p.Received != "plain HTTP/1" {
			t.Fatalf("found %+v", p)
		}
		if before != nil && !slices.Equal(p.Notes, before.Notes) {
			t.Errorf("notes %q, and before %q", p.Notes, before.Notes)
		}
		before = p
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times in plain text, want once", n)
	}
}

// What is kept of experiments is bounded, however often addresses change.
func TestLoreIsBounded(t *testing.T) {
	l := newLore()
	for i := range maxFindings + 1 {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		l.learn(loreKey{"t", netip.AddrPortFrom(addr, 443)}, finding{of: reasonEOF})
	}
	if n := len(l.known); n > maxFindings {
		t.Errorf("%d findings are kept", n)
	}
}

// A run that our own shutdown cancels says nothing about its target.
func TestCancelledIsInvalid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	res := NewRunner("n").Run(ctx, targetOf(func(ctx context.Context, a *Attempt) {
		cancel()
		a.Problems = []Problem{reasonEOF.problem("cut off")}
	}))
	if res.Invalid == "" {
		t.Errorf("cancelled in mid-probe, and yet a valid result")
	}
	res = NewRunner("n").Run(ctx, targetOf(func(context.Context, *Attempt) {}))
	if res.Invalid != "" {
		t.Errorf("a probe that succeeded before it was cancelled is %q", res.Invalid)
	}
}

// A timeout that is noticed long after its deadline is our lack of CPU.
func TestStarvedIsInvalid(t *testing.T) {
	for _, tt := range []struct {
		late    time.Duration
		problem Problem
		invalid bool
	}{
		{0, reasonTLSTimeout.problem(""), false},
		{starvedAfter - time.Millisecond, reasonTLSTimeout.problem(""), false},
		{starvedAfter + time.Millisecond, reasonTLSTimeout.problem(""), true},
		{time.Minute, reasonTCPTimeout.problem(""), true},
		{time.Minute, reasonCertExpired.problem(""), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := targetOf(func(ctx context.Context, a *Attempt) {
				<-ctx.Done()
				time.Sleep(tt.late)
				a.Problems = []Problem{tt.problem}
				a.Peer = netip.AddrPort{} // nothing to investigate
			})
			r := NewRunner("n")
			r.lore.limiter.SetBurst(0)
			if got := r.Run(t.Context(), target).Invalid != ""; got != tt.invalid {
				t.Errorf("%s noticed %s late: invalid is %v", tt.problem.Reason.ID, tt.late, got)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	for _, tt := range []struct{ target, module, want time.Duration }{
		{0, 0, defaultTimeout},
		{3 * time.Second, 0, 3 * time.Second},
		{3 * time.Second, time.Second, time.Second},
		{time.Second, 3 * time.Second, time.Second},
		{0, 20 * time.Second, defaultTimeout},
	} {
		target := &Target{Module: &Module{Timeout: tt.module}, Schedule: Schedule{Timeout: tt.target}}
		if got := timeoutOf(target); got != tt.want {
			t.Errorf("target %s, module %s: %s, want %s", tt.target, tt.module, got, tt.want)
		}
	}
}

// The guard is asked before anything is sent.
func TestGuardRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err == nil {
			c.Close()
		}
		dialled <- err == nil
	}()
	var asked []netip.AddrPort
	r := NewRunner("n").Guarded(func(addr netip.AddrPort) error {
		asked = append(asked, addr)
		return errors.New("not from here")
	})
	res := r.Run(t.Context(), &Target{Name: "t", Address: l.Addr().String(), Module: BuiltinModules()["tls"]})
	l.Close()
	if <-dialled {
		t.Error("a refused address was dialled")
	}
	if p := res.Worst(); p == nil || p.Reason != reasonAddressRefused || !strings.Contains(p.Detail, "not from here") {
		t.Errorf("a refused address gives %+v", p)
	}
	if len(asked) != 1 || asked[0].String() != l.Addr().String() {
		t.Errorf("the guard was asked about %v, want %s", asked, l.Addr())
	}
}

// deadlines is a connection of which only the last read deadline matters.
type deadlines struct{ last time.Time }

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.last = t
	return nil
}

// A peer that judges our certificate has the whole probe for it, another one a
// second, and after a cancellation nobody is waited for.
func TestBoundDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var d deadlines
		wait := func(judged bool) time.Duration {
			boundDrain(ctx, &d, judged)
			return time.Until(d.last)
		}
		if got := wait(false); got != drainTime {
			t.Errorf("waits %s, want %s", got, drainTime)
		}
		if got := wait(true); got != time.Minute {
			t.Errorf("waits %s for a verdict, want the whole minute", got)
		}
		cancel()
		if got := wait(true); got > 0 {
			t.Errorf("waits %s after it was cancelled", got)
		}
	})
}
