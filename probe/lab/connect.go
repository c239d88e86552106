package lab

import (
	"net"
)

// connectScenarios cannot be connected to. Those that need the Linux kernel are
// in connect_linux.go.
func connectScenarios() []Scenario {
	return []Scenario{
		{Name: "connect-refused", Summary: "a port that nothing listens on", Reasons: []string{"tcp_refused"},
			start: startRefused},
	}
}

// startRefused takes a port that is in use, by the client's end of a connection,
// but not listened on: so nobody else can be given it.
func startRefused(i *Instance) error {
	addr, err := i.serve(hang)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return err
	}
	i.own(conn)
	i.Target.Address = conn.LocalAddr().String()
	return nil
}
