package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"tlsprobe/probe/discover/kubernetes"
)

// A watchLog writes how the watches of resources fare: it is told of changes only.
// An API server that goes away takes all of them along, so that what is the same
// for several is one line.
type watchLog struct {
	log *slog.Logger

	mu       sync.Mutex  // protects gathered
	gathered []watchNews // to be written within gatherTime
}

// gatherTime is how long news is gathered.
const gatherTime = time.Second

// watchNews is what has become of resources.
type watchNews struct {
	level     slog.Level
	msg, err  string
	resources []string
	objects   int // that are known of them
}

func newWatchLog(log *slog.Logger) *watchLog { return &watchLog{log: log} }

// note takes news of a resource. That it is forbidden or gone is said once, and so
// is its return.
func (w *watchLog) note(r kubernetes.ResourceStatus) {
	news := watchNews{err: text(r.Err)}
	switch r.State {
	case kubernetes.Forbidden:
		news.level, news.msg = slog.LevelWarn, "Resources may not be read; all else is watched"
	case kubernetes.Failing:
		news.level, news.msg = slog.LevelWarn, "Resources cannot be read; what was read last stays"
	case kubernetes.Absent:
		news.level, news.msg = slog.LevelDebug, "The cluster has no such resources"
	case kubernetes.Synced:
		news.level, news.msg = slog.LevelDebug, "Resources are read" // the expected thing, at every start
		if r.Was == kubernetes.Forbidden || r.Was == kubernetes.Failing {
			news.level = slog.LevelInfo
		}
	default:
		return
	}
	w.gather(news, r)
}

// gather adds r to those of whom news is to be told.
func (w *watchLog) gather(news watchNews, r kubernetes.ResourceStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.gathered) == 0 {
		time.AfterFunc(gatherTime, w.write)
	}
	i := slices.IndexFunc(w.gathered, func(n watchNews) bool {
		return n.level == news.level && n.msg == news.msg && n.err == news.err
	})
	if i < 0 {
		i = len(w.gathered)
		w.gathered = append(w.gathered, news)
	}
	w.gathered[i].resources = append(w.gathered[i].resources, r.Resource)
	w.gathered[i].objects += r.Objects
}

// write writes what was gathered.
func (w *watchLog) write() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.gathered {
		slices.Sort(n.resources)
		attrs := []any{"resources", strings.Join(n.resources, ","), "objects", n.objects}
		if n.err != "" {
			attrs = append(attrs, "err", n.err)
		}
		w.log.Log(context.Background(), n.level, n.msg, attrs...)
	}
	w.gathered = nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
