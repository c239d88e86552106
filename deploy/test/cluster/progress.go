package cluster

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A progress reads what go build -v prints, a package in each line, and tells from
// time to time how many there were.
type progress struct {
	log   io.Writer
	total int // about so many are expected
	done  chan struct{}

	mu    sync.Mutex
	lines int
	text  strings.Builder
}

func newProgress(log io.Writer, total int) *progress {
	p := &progress{log: log, total: total, done: make(chan struct{})}
	go p.tell()
	return p
}

func (p *progress) tell() {
	tick := time.NewTicker(20 * time.Second)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
			p.mu.Lock()
			lines := p.lines
			p.mu.Unlock()
			fmt.Fprintf(p.log, "%s: %d of about %d packages\n", time.Since(start).Round(time.Second), lines, p.total)
		}
	}
}

func (p *progress) stop() { close(p.done) }

// Write implements io.Writer.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines += strings.Count(string(b), "\n")
	return p.text.Write(b)
}

// tail returns the last 2,000 bytes: the errors, if there were any.
func (p *progress) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text.String()
	return text[max(0, len(text)-2000):]
}
