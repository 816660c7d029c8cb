package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/state"
)

// Type is the sort of an event.
type Type string

// The types of events.
const (
	JobStarted  Type = "job/started"
	JobFinished Type = "job/finished"
)

// Event is one line of the log.
type Event struct {
	// Seq counts the events of a session from 1. It is set by Append.
	Seq int64 `json:"seq"`
	// At is when it was appended, in milliseconds since the epoch.
	At   int64 `json:"at"`
	Type Type  `json:"type"`
	// Job is what a job's event is about.
	Job *Job `json:"job,omitempty"`
}

// Job is the facts of a job's event.
type Job struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Label  string `json:"label"`
	Status string `json:"status,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Log is the log of one session. It is safe for concurrent use, also by several
// processes.
type Log struct {
	home state.Home
	id   string
	path string
}

// NewLog returns the log of a session. It touches nothing.
func NewLog(home state.Home, id string) *Log {
	return &Log{home: home, id: id, path: home.SessionLog(id)}
}

// Path is where the log is, or will be.
func (l *Log) Path() string { return l.path }

// appendWait bounds the wait for another process that appends.
const appendWait = 10 * time.Second

// Append appends an event, and returns its number. With unless, it appends
// nothing when an event of the same type is there already for which unless is
// true, and returns that one's number. LOCK_TIMEOUT when another process does not
// let go of the log.
func (l *Log) Append(e Event, unless func(Event) bool) (seq int64, err error) {
	if err := l.home.Ensure(l.home.Run(), l.home.Session(l.id)); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendWait)
	defer cancel()
	// The lock is out of reach of confined commands, which could hold it.
	lock, err := state.Lock(ctx, hostwire.FilesOf(l.home.Run(), l.id).Events)
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	last := int64(0)
	for event, err := range l.Events() {
		if err != nil {
			return 0, err
		}
		if unless != nil && event.Type == e.Type && unless(event) {
			return event.Seq, nil
		}
		last = max(last, event.Seq)
	}
	e.Seq, e.At = last+1, time.Now().UnixMilli()
	return e.Seq, state.AppendLine(lock, l.path, e, state.Written)
}

// Events yields the events in order. Broken lines are passed over. An error ends
// them.
func (l *Log) Events() func(yield func(Event, error) bool) {
	return func(yield func(Event, error) bool) {
		for line, err := range state.ReadLines(l.path) {
			if errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err != nil {
				yield(Event{}, fault.New(fault.Invariant, "the log of the session in %s cannot be read: %w", filepath.Dir(l.path), err))
				return
			}
			var e Event
			if line.Broken != "" || json.Unmarshal(line.JSON, &e) != nil {
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
