//go:build unix

package host

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
	"hardshell/internal/record"
	"hardshell/internal/state"
)

// hostLives reports whether a host of the session lives.
func (r *Runtime) hostLives() bool {
	return lives(hostwire.FilesOf(r.config.Home.Run(), r.config.SessionID))
}

// abandon ends a command that was perhaps spawned, though nobody said so.
func (w *Recorded) abandon() {
	if !w.runtime.hostLives() {
		w.recover(true)
	} else if err := w.Stop("its start was not answered", true); err == nil {
		select {
		case <-w.done:
		case <-time.After(patience):
		}
	}
}

// unwatch forgets a command of which nothing is left to tell.
func (r *Runtime) unwatch(w *Recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched[w.ask.Key] == w {
		delete(r.watched, w.ask.Key)
	}
}

// current is the live link, nil when there is none.
func (r *Runtime) current() *link {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.link != nil && r.link.alive() {
		return r.link
	}
	return nil
}

// recover completes the record of a command whose host is dead: what is left of
// the command is killed. It is false when somebody is about to start it, who
// holds a lock for that; starting says that this is the caller.
func (w *Recorded) recover(starting bool) bool {
	dir, err := record.Open(w.Path())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			w.settle(lost(w.ask, nil, "its record was removed"))
			return true
		}
		return false
	}
	defer dir.Close()
	if !starting {
		path := hostwire.FilesOf(w.runtime.config.Home.Run(), w.runtime.config.SessionID).Starting(w.Path())
		if state.Held(path) {
			return false
		}
		defer os.Remove(path) // of a starter that died
	}
	if w.readStatus() {
		return true
	}
	if l := w.runtime.current(); l != nil && w.known(l) || l == nil && w.runtime.hostLives() {
		return false // it was just being started
	}
	process, err := dir.ReadProcess()
	detail := "the session host died"
	switch {
	case err != nil:
		process, detail = nil, "it was never started"
	case process.Boot != record.BootID():
		detail = "lost: the machine was started again"
	default:
		// Its number may be another's by now: the mark alone finds what is left.
		tree := proctree.Adopt(0, process.Tag, process.Grace.Duration(), false)
		tree.Kill()
		<-tree.Ended()
		if left := tree.Survivors(); len(left) > 0 {
			detail += ", and left processes that could not be killed"
		}
	}
	status := lost(w.ask, process, detail)
	for i, s := range []*record.StreamStatus{&status.Stdout, &status.Stderr} {
		if log, err := dir.OpenLog(w.ask, i); err == nil {
			*s, _ = log.Status()
			log.Close()
		}
	}
	if won, err := dir.WriteStatus(status); !won && err == nil {
		return w.readStatus()
	}
	// A record that cannot be written is at least told.
	w.settle(status)
	return true
}

// lost is the status of a command of which the end is not known.
func lost(ask *record.Ask, process *record.Process, detail string) *record.Status {
	now := time.Now().UnixMilli()
	s := &record.Status{
		Status: record.Failed, Detail: detail, Cause: record.CauseLost, Started: ask.Created, Finished: now,
	}
	if process != nil {
		s.Started = process.Started
	}
	s.DurationMs = max(0, now-s.Started)
	return s
}
