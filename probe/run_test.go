package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
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
	s.investigate(t.Context(), loreKey{}, &a, &a.Problems[0], []experiment{fails})
	if len(a.Problems) != 2 || a.Problems[0].Reason != reasonEOF || a.Problems[1].Reason != reasonProberPanic {
		t.Errorf("an experiment that panics gives %+v", a.Problems)
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
