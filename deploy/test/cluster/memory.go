package cluster

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process holds, in bytes (proc(5)).
type Memory struct {
	Resident int64 // VmRSS
	Peak     int64 // VmHWM: the most that Resident ever was
	File     int64 // RssFile: pages of the program's own file, which the kernel may drop at any time
}

// String implements [fmt.Stringer].
func (m Memory) String() string {
	mib := func(bytes int64) float64 { return float64(bytes) / (1 << 20) }
	return fmt.Sprintf("%.1f MiB, at most %.1f MiB; %.1f MiB of it are the program's file", mib(m.Resident), mib(m.Peak), mib(m.File))
}

// Memory returns how much memory the process holds.
func (p *Process) Memory() (m Memory, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return m, err
	}
	fields := map[string]*int64{"VmRSS": &m.Resident, "VmHWM": &m.Peak, "RssFile": &m.File}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		field := fields[key]
		if field == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return m, fmt.Errorf("process %d: %s: %w", p.PID(), lines.Text(), err)
		}
		*field = kib << 10
		delete(fields, key)
	}
	if len(fields) > 0 {
		return m, fmt.Errorf("process %d does not tell all of its memory", p.PID())
	}
	return m, nil
}
