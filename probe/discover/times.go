package discover

import (
	"time"

	"tlsprobe/probe"
)

// times are the interval and timeout of targets that say none.
type times struct {
	interval time.Duration
	timeout  time.Duration // 0: not written, see timeoutFor
}

// times returns the interval and timeout that are written at the path in place of
// others, each if it can be used.
func (d *decoder) times(t times, path string, interval, timeout time.Duration) times {
	intervalKey, timeoutKey := keyPath(path, "interval"), keyPath(path, "timeout")
	if d.usable(intervalKey, interval) {
		t.interval = interval
	}
	if !d.usable(timeoutKey, timeout) || d.bad[intervalKey] {
		return t
	}
	if timeout >= t.interval {
		d.failAt(timeoutKey, "%s is not below the interval of %s%s", timeout, t.interval, alsoAt(d.at[intervalKey]))
		return t
	}
	t.timeout = timeout
	return t
}

// shortest is the least interval or timeout: a missing unit prefix, "30us", is
// more likely than a wish for it.
const shortest = 10 * time.Millisecond

// usable reports whether a duration was written at the path and can be used.
func (d *decoder) usable(path string, value time.Duration) bool {
	if d.at[path] == nil || d.bad[path] {
		return false
	}
	if value < shortest {
		d.failAt(path, "%s is too short; write %s or more", value, shortest)
		return false
	}
	return true
}

// timeoutFor returns the timeout of a target that says none.
func (t times) timeoutFor(interval time.Duration) time.Duration {
	switch {
	case t.timeout > 0:
		return t.timeout
	case interval > defaultTimeout:
		return defaultTimeout
	}
	return interval / 2
}

// schedule returns when the target at the path is probed. A module's timeout
// caps the target's.
func (t times) schedule(d *decoder, e *targetEntry, m *probe.Module, path string) probe.Schedule {
	s := probe.Schedule{Interval: t.interval}
	ownInterval := d.usable(path+".interval", e.Interval)
	if ownInterval {
		s.Interval = e.Interval
	}
	s.Timeout = t.timeoutFor(s.Interval)
	ownTimeout := d.usable(path+".timeout", e.Timeout)
	if ownTimeout {
		s.Timeout = e.Timeout
	}
	if m != nil && m.Timeout > 0 {
		s.Timeout = min(s.Timeout, m.Timeout)
	}
	switch {
	case s.Timeout < s.Interval:
	case ownTimeout:
		d.failAt(path+".timeout", "%s is not below the interval of %s", e.Timeout, s.Interval)
	case ownInterval:
		d.failAt(path+".interval", "%s is not above the timeout of %s%s; give the target a timeout of its own",
			s.Interval, s.Timeout, alsoAt(d.at["timeout"]))
	}
	return s
}
