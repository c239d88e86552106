package discover_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tlsprobe/probe"
	"tlsprobe/probe/discover"
)

// A fixed source sends its lists as they come.
type fixed chan []*probe.Target

func (f fixed) Run(ctx context.Context, set func([]*probe.Target)) error {
	for {
		select {
		case list, ok := <-f:
			if !ok {
				return errors.New("closed for good")
			}
			set(list)
		case <-ctx.Done():
			return nil
		}
	}
}

func targets(module string, names ...string) []*probe.Target {
	var out []*probe.Target
	for _, name := range names {
		out = append(out, &probe.Target{Name: name, Module: &probe.Module{Name: module}})
	}
	return out
}

func TestConfigJoinsItsSources(t *testing.T) {
	one, two := make(fixed), make(fixed)
	c := &discover.Config{Targets: targets("file", "a", "b"), Sources: []discover.Source{one, two}}
	ctx, cancel := context.WithCancel(t.Context())
	lists := make(chan []string)
	done := make(chan error)
	go func() {
		done <- c.Run(ctx, func(list []*probe.Target) {
			var got []string
			for _, target := range list {
				got = append(got, target.Name+" of "+target.Module.Name)
			}
			lists <- got
		})
	}()
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, next(t, lists)); diff != "" {
			t.Errorf("targets differ (-want +got):\n%s", diff)
		}
	}
	expect("a of file", "b of file")
	two <- targets("two", "b", "c", "d")
	expect("a of file", "b of file", "c of two", "d of two")
	one <- targets("one", "c")
	expect("a of file", "b of file", "c of one", "d of two")
	two <- nil
	expect("a of file", "b of file", "c of one")
	cancel()
	if err := next(t, done); err != nil {
		t.Errorf("ends with %v", err)
	}
}

func TestConfigEndsWithASource(t *testing.T) {
	ends := make(fixed)
	close(ends)
	c := &discover.Config{Sources: []discover.Source{make(fixed), ends}}
	err := c.Run(t.Context(), func([]*probe.Target) {})
	if err == nil || err.Error() != "closed for good" {
		t.Errorf("ends with %v", err)
	}
}

// A reload while a URL does not answer loses none of its targets, and judges
// them by the new modules.
func TestInherit(t *testing.T) {
	server := httptest.NewServer(body(`[{"address": "a:1", "module": "m"}, {"address": "b:1", "module": "gone"}]`))
	old := parse(t, "modules: {m: {prober: tls}, gone: {prober: tls}}\n"+source(server.URL, ""))
	ctx, cancel := context.WithCancel(t.Context())
	lists := make(chan []*probe.Target, 100)
	done := make(chan error)
	go func() { done <- old.Run(ctx, func(list []*probe.Target) { lists <- list }) }()
	for len(next(t, lists)) != 2 {
	}
	cancel()
	next(t, done)
	server.Close()

	c := parse(t, "modules: {m: {prober: tls, timeout: 1s}}\n"+source(server.URL, ""))
	c.Inherit(old)
	ctx, cancel = context.WithCancel(t.Context())
	first := make(chan []*probe.Target, 100)
	go func() { done <- c.Run(ctx, func(list []*probe.Target) { first <- list }) }()
	list := next(t, first)
	if was, is := old.Sources[0].(*discover.HTTPSource).Status(), c.Sources[0].(*discover.HTTPSource).Status(); was.LastSuccess.IsZero() || !is.LastSuccess.Equal(was.LastSuccess) {
		t.Errorf("the list is of %s, and was of %s", is.LastSuccess, was.LastSuccess)
	}
	if diff := cmp.Diff([]string{"a:1"}, names(list)); diff != "" {
		t.Fatalf("targets differ (-want +got):\n%s", diff)
	}
	if list[0].Module != c.Modules["m"] {
		t.Error("the target has a module of the old configuration")
	}
	cancel()
	next(t, done)
	if len(first) > 0 {
		t.Errorf("then %v", names(<-first))
	}
}
