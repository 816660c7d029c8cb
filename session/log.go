package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

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
	ID string `json:"id"`
	// Key tells the job from others that had its id; "" when its record could not be
	// read.
	Key    string `json:"key,omitempty"`
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

// Append appends an event, and returns its number. LOCK_TIMEOUT when another
// process does not let go of the log.
func (l *Log) Append(e Event) (seq int64, err error) {
	lock, err := l.lock()
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	return l.append(lock, e)
}

// AppendOnce is Append unless there is an event of the same type of the same job,
// whose number it then returns. It looks through the whole log.
func (l *Log) AppendOnce(e Event) (seq int64, err error) {
	lock, err := l.lock()
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	if seq, err := l.find(e); seq > 0 || err != nil {
		return seq, err
	}
	return l.append(lock, e)
}

func (l *Log) lock() (*state.HeldLock, error) {
	if err := l.home.Ensure(l.home.Run(), l.home.Session(l.id)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendWait)
	defer cancel()
	// The lock is out of reach of confined commands, which could hold it.
	return state.Lock(ctx, hostwire.FilesOf(l.home.Run(), l.id).Events)
}

func (l *Log) append(lock *state.HeldLock, e Event) (seq int64, err error) {
	last, err := l.last()
	if err != nil {
		return 0, err
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
				yield(Event{}, l.unreadable(err))
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
