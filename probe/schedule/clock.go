package schedule

import "time"

// A clock tells nanoseconds since the Unix epoch that never jump: it is set by
// the wall clock once and runs on the monotonic one.
type clock struct{ start time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() int64 { return c.start.UnixNano() + int64(time.Since(c.start)) }
