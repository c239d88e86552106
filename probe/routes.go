package probe

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// alongRoutes attempts all routes at once.
func (s *session) alongRoutes(ctx context.Context, settings AddressSettings) []Attempt {
	found := make([][]Attempt, len(s.target.Routes))
	var running sync.WaitGroup
	for i, route := range s.target.Routes {
		host, port, err := splitAddress(route.Address)
		if err != nil {
			found[i] = []Attempt{{Via: route.Via, Problems: []Problem{reasonTargetMisconfigured.because(err)}}}
			continue
		}
		running.Go(func() { found[i] = s.attemptsAt(ctx, endpoint{host, port, settings}, route.Via) })
	}
	running.Wait()
	return slices.Concat(found...)
}

// routed reports whether a route says where host is.
func (w *walk) routed(host string) bool {
	return len(w.session.target.Routes) > 0 && w.isOwn(host)
}

// isOwn reports whether host is the target's own.
func (w *walk) isOwn(host string) bool {
	return strings.EqualFold(strings.TrimSuffix(host, "."), strings.TrimSuffix(w.home.Hostname(), "."))
}

// alongRoute returns where the route leads for a port of the target's host: a port
// other than the one it was made for is dialled as it is.
func (w *walk) alongRoute(port uint16) netip.AddrPort {
	route := w.attempt.Peer
	if port == portOf(w.home) {
		return route
	}
	return netip.AddrPortFrom(route.Addr(), port)
}
