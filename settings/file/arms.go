package file

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// arms are the watches on the directories that have the document's names in them.
// A watch on the file itself would be lost with every replacement.
type arms struct {
	log     *slog.Logger
	watcher *fsnotify.Watcher // nil: there are no events
	dirs    map[string]identity
	names   map[string]bool // the paths whose events count
	warned  bool
}

// identity tells a directory from another that has its path later.
type identity struct{ info fs.FileInfo }

// update watches what decides where the document is: the directory of each hop,
// or while it is missing the nearest one above it.
func (a *arms) update(hops []string) {
	if a.watcher == nil {
		return
	}
	want := map[string]identity{}
	a.names = map[string]bool{}
	for _, hop := range hops {
		name, dir := hop, filepath.Dir(hop)
		for {
			a.names[name], a.names[dir] = true, true
			info, err := os.Stat(dir)
			if err == nil {
				want[dir] = identity{info}
				break
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			name, dir = dir, parent
		}
	}
	for dir, armed := range a.dirs {
		if now, ok := want[dir]; !ok || !os.SameFile(armed.info, now.info) {
			a.disarm(dir)
		}
	}
	for dir, found := range want {
		if _, ok := a.dirs[dir]; ok {
			continue
		}
		if err := a.watcher.Add(dir); err != nil {
			a.complain(err)
			continue
		}
		a.dirs[dir] = found
	}
}

func (a *arms) disarm(dir string) {
	// A directory that is gone has taken its watch with it.
	_ = a.watcher.Remove(dir)
	delete(a.dirs, dir)
}

// await waits for an event that counts, for the timer or for a failure of the
// watch, and reports whether ctx still goes on.
func (a *arms) await(ctx context.Context, timer <-chan time.Time) bool {
	var events <-chan fsnotify.Event
	var failures <-chan error
	if a.watcher != nil {
		events, failures = a.watcher.Events, a.watcher.Errors
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer:
			return ctx.Err() == nil
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if _, own := a.dirs[event.Name]; own && event.Has(fsnotify.Remove|fsnotify.Rename) {
				// The watch went with the directory; one that takes its place may
				// even have its inode number.
				a.disarm(event.Name)
			}
			if a.names[event.Name] {
				return ctx.Err() == nil
			}
		case err, ok := <-failures:
			if !ok {
				failures = nil
				continue
			}
			if !overflowed(err) {
				a.complain(err)
			}
			// What was missed may be that a directory went.
			for dir := range a.dirs {
				a.disarm(dir)
			}
			return ctx.Err() == nil
		}
	}
}

func (a *arms) complain(err error) {
	if a.warned {
		return
	}
	a.warned = true
	a.log.Warn("the settings file is watched only in part: it is also looked at from time to time", "error", err)
}

func (a *arms) close() {
	if a.watcher != nil {
		_ = a.watcher.Close()
	}
}
