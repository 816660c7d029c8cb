package durable

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
)

// Command is a recorded command, however it is followed. It is safe for concurrent
// use.
type Command interface {
	// Done is closed when the command has settled, or is not followed any more.
	Done() <-chan struct{}
	// Status is how it ended, once Done is closed.
	Status() *record.Status
	// Stop begins its end and returns at once.
	Stop(reason string, kill bool) error
	// Input hands it bytes, and with eof ends its input.
	Input(ctx context.Context, data []byte, eof bool) error
	// Promote makes it one of the session instead of its harness; its record is
	// at the path from now on.
	Promote(ctx context.Context, path string) error
}

// Config says where jobs are kept and how much of them.
type Config struct {
	Home      state.Home
	SessionID string
	// Watch follows the command of a record.
	Watch func(path string) (Command, error)
	// MaxOutputBytes is how much of each stream one read hands over: the newest.
	MaxOutputBytes int
	// MaxLogBytes is how much of each stream is kept on the disk.
	MaxLogBytes int64
	// Keep is how many settled jobs are kept, Retention for how long.
	Keep      int
	Retention time.Duration
	// Grace is the time between SIGTERM and SIGKILL of a job that starts now; nil is
	// none.
	Grace func() time.Duration
	// Limits end a job that passes them.
	Limits Limits
	// Escalation says that a model may ask for a wider mode after a denial.
	Escalation bool
}

// Limits are what a job may take; 0 is no limit.
type Limits struct {
	Runtime, Silence time.Duration
	// Memory bounds the memory of the job's processes that they do not share with
	// files, in bytes; it is sampled. Output bounds the bytes that it writes.
	Memory, Output int64
}

// Store is the records of one session's jobs. It is safe for concurrent use, and
// so are several of one session in several processes.
type Store struct {
	config Config
	dir    string // of the records
	places string // of the cursors
}

var _ jobs.Records = (*Store)(nil)

// New returns the records of a session. It touches nothing.
func New(config Config) *Store {
	if config.Grace == nil {
		config.Grace = func() time.Duration { return 0 }
	}
	return &Store{
		config: config,
		dir:    config.Home.Jobs(config.SessionID),
		places: hostwire.FilesOf(config.Home.Run(), config.SessionID).Jobs,
	}
}

// ensure makes the directories.
func (s *Store) ensure() error { return s.config.Home.Ensure(s.dir, s.places) }

// lockWait bounds the wait for another process that starts or prunes jobs of this
// session.
const lockWait = 10 * time.Second

// lock excludes all who give or take ids of this session.
func (s *Store) lock() (*state.HeldLock, error) {
	if err := s.ensure(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return state.Lock(ctx, s.lockPath())
}

func (s *Store) lockPath() string { return filepath.Join(s.places, ".lock") }

// path is the directory of a job.
func (s *Store) path(id string) string { return filepath.Join(s.dir, id) }

// List implements jobs.Records.
func (s *Store) List() ([]string, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !record.Asked(s.path(id)) }), nil
}

// Open implements jobs.Records. A record that cannot be read is a job that
// failed.
func (s *Store) Open(id string) (jobs.Job, jobs.Producer, error) {
	if _, _, ok := parseID(id); !ok {
		return jobs.Job{}, nil, unknown(id)
	}
	job, ask, err := s.read(id)
	if err != nil {
		return jobs.Job{}, nil, err
	}
	if ask == nil {
		return job, unreadable{jobs.Outcome{Status: job.Status, Detail: job.Detail}}, nil
	}
	command, err := s.config.Watch(s.path(id))
	if err != nil {
		job.Status, job.Detail = jobs.Failed, "its record cannot be read: "+oneLine(err.Error())
		return job, unreadable{jobs.Outcome{Status: job.Status, Detail: job.Detail}}, nil
	}
	return job, &producer{store: s, id: id, ask: ask, command: command}, nil
}

// read returns the facts of a job; ask is nil when the record cannot be read.
func (s *Store) read(id string) (jobs.Job, *record.Ask, error) {
	kind, _, _ := parseID(id)
	job := jobs.Job{ID: id, Kind: kind, OwnerSession: s.config.SessionID, Status: jobs.Running}
	dir, err := record.Open(s.path(id))
	if os.IsNotExist(err) {
		return job, nil, unknown(id)
	}
	var ask *record.Ask
	if err == nil {
		defer dir.Close()
		ask, err = dir.ReadAsk()
	}
	if err != nil {
		job.Label, job.Status = "(unknown)", jobs.Failed
		job.Detail = "its record cannot be read: " + oneLine(err.Error())
		return job, nil, nil
	}
	job.Key, job.Label, job.StartedAt = ask.Key, ask.Label, ask.Created
	if process, err := dir.ReadProcess(); err == nil {
		job.StartedAt = process.Started
	}
	status, ok, err := dir.ReadStatus()
	switch {
	case err != nil:
		job.Status, job.Detail = jobs.Failed, "how it ended cannot be read: "+oneLine(err.Error())
	case ok:
		o := outcome(status)
		job.Status, job.Detail, job.FinishedAt, job.Usage = o.Status, o.Detail, status.Finished, o.Usage
	default:
		if _, stopping := dir.Stopping(); stopping {
			job.Status = jobs.Stopping
		}
	}
	return job, ask, nil
}

func unknown(id string) error { return fault.New(fault.UnknownJob, "unknown job %s", id) }

// oneLine makes a message fit a status line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// unreadable is the work of a job of which nothing is known.
type unreadable struct{ outcome jobs.Outcome }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (u unreadable) Done() <-chan struct{} { return closed }
func (u unreadable) Outcome() jobs.Outcome { return u.outcome }
func (u unreadable) Cancel(string) error   { return nil }

// Reported is true: that a record is damaged is seen in every list, and is no
// news of a job's end.
func (u unreadable) Reported() bool  { return true }
func (u unreadable) MarkReported()   {}
func (u unreadable) UnmarkReported() {}
