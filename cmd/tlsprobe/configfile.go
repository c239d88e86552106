package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"tlsprobe/probe/discover"
)

// A configFile loads the configuration of an agent or a hub, and loads it again when it is
// told to or when the file's content has changed. What cannot be used changes
// nothing: the last good configuration stays.
type configFile struct {
	path  string
	log   *slog.Logger
	parse func(file string, data []byte) (*discover.Config, error)
	apply func(*discover.Config) // takes a good one over
	tried func(error)            // told how each attempt ended

	mu   sync.Mutex        // guards loading
	seen [sha256.Size]byte // hash of what was tried last, good or bad
}

// watchInterval is how often the file is looked at. A Kubernetes ConfigMap
// changes by swapping a symbolic link, which file notifications miss.
const watchInterval = 2 * time.Second

// reload loads the file whether it has changed or not.
func (f *configFile) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load(os.ReadFile(f.path))
}

// poll loads the file if it holds something else than at the last attempt.
func (f *configFile) poll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := os.ReadFile(f.path)
	if fingerprint(data, err) != f.seen {
		f.load(data, err) // logged there, and nobody is waiting for the answer
	}
}

// fingerprint is of the bytes that are parsed as well, not of a second reading,
// or of the reason why there are none.
func fingerprint(data []byte, err error) [sha256.Size]byte {
	if err != nil {
		return sha256.Sum256([]byte(err.Error()))
	}
	return sha256.Sum256(data)
}

// load tries what reading the file gave.
func (f *configFile) load(data []byte, err error) error {
	f.seen = fingerprint(data, err)
	var config *discover.Config
	if err == nil {
		config, err = f.parse(f.path, data)
	}
	f.tried(err)
	if err != nil {
		f.logErrors(err)
		return err
	}
	f.log.Info("Loaded the configuration", "file", f.path, "targets", len(config.Targets), "sources", len(config.Sources))
	f.logWarnings(config)
	f.apply(config)
	return nil
}

// logWarnings says what may not be as it was meant.
func (f *configFile) logWarnings(config *discover.Config) {
	for _, e := range config.Warnings {
		f.log.Warn("A part of the configuration is left out", "err", e)
	}
	switch {
	case config.Allow.IsOpen():
		f.log.Warn("Whoever reaches /probe can make this machine connect to any address but link-local and metadata ones", "setting", "probe_endpoint.allow")
	case len(config.Targets)+len(config.Sources)+len(config.Allow) == 0:
		f.log.Warn("Nothing will be probed: there are no targets and no sources, and /probe may dial no address; "+
			"to answer as blackbox_exporter does, add the line probe_endpoint: {allow: any}", "file", f.path)
	}
	for _, e := range config.CheckFiles() {
		f.log.Warn("A file that the configuration names cannot be used yet", "err", e)
	}
}

func (f *configFile) logErrors(err error) {
	const msg = "The configuration cannot be used"
	var all discover.Errors
	if !errors.As(err, &all) {
		f.log.Error(msg, "err", err)
	}
	for _, e := range all {
		f.log.Error(msg, "err", e)
	}
}

// watch reloads until ctx is done: at each hangup, and when the content has
// changed.
func (f *configFile) watch(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			f.reload() // logged there
		case <-tick.C:
			f.poll()
		}
	}
}

// newest holds the newest configuration until it is taken over.
type newest chan *discover.Config

func newNewest() newest { return make(newest, 1) }

// put replaces what has not been taken over. It is not called concurrently.
func (n newest) put(c *discover.Config) {
	select {
	case <-n:
	default:
	}
	n <- c
}
