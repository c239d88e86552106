package probe

import "time"

// A Phase is a stage of an attempt, and the stage at which a reason arises.
type Phase uint8

// The phases, in the order in which an attempt goes through them.
const (
	PhaseConfig  Phase = iota // what needs no connection
	PhaseResolve              // name to addresses
	PhaseConnect              // TCP
	PhaseTLS                  // handshake, up to the peer's verdict about us
	PhaseVerify               // our verdict about the peer's certificate
	PhaseRequest              // the protocol inside: HTTP, gRPC
	numPhases
)

var phaseNames = [numPhases]string{"config", "resolve", "connect", "tls", "verify", "request"}

func (p Phase) String() string { return phaseNames[p] }

// AllPhases returns every phase in order.
func AllPhases() []Phase {
	all := make([]Phase, numPhases)
	for i := range all {
		all[i] = Phase(i)
	}
	return all
}

// Phases holds how long each phase of an attempt took; 0 for a phase not
// reached. It is an array, as a map would cost more than the rest of a result.
type Phases [numPhases]time.Duration
