package jobs

import (
	"context"
	"time"

	"hardshell/subprocess"
)

// Status is the state of a job.
type Status string

// A job runs, may be told to stop, and settles exactly once.
const (
	Running   Status = "running"
	Stopping  Status = "stopping"
	Completed Status = "completed"
	Killed    Status = "killed"
	Failed    Status = "failed"
)

// Terminal reports whether a job of this status has settled.
func (s Status) Terminal() bool { return s == Completed || s == Killed || s == Failed }

// Job is a copy of a job's facts.
type Job struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Key tells the record of the job from all others, also from one that had the
	// same id; "" for a job of this process.
	Key string `json:"-"`
	// Label is shown to the model: a bash job's command.
	Label string `json:"label"`
	// OutputLimitBytes caps what a model is given at once; 0 is no cap.
	OutputLimitBytes int64 `json:"outputLimitBytes,omitempty"`
	// OwnerSession is the id of the session that owns the job, "" for none.
	OwnerSession string `json:"ownerSession,omitempty"`
	Status       Status `json:"status"`
	// Detail says in a few words how the job ended.
	Detail     string `json:"detail,omitempty"`
	StartedAt  int64  `json:"startedAt"`
	FinishedAt int64  `json:"finishedAt,omitempty"`
	// Reported is true once somebody who cares knows of the end.
	Reported bool `json:"reported"`
	// Usage is what the job has used, nil while that is not known.
	Usage *subprocess.Usage `json:"usage,omitempty"`
}

// StatusLine is the line that ends a job's text.
func (j Job) StatusLine() string {
	if j.Detail != "" {
		return "[status: " + string(j.Status) + ", " + j.Detail + "]"
	}
	return "[status: " + string(j.Status) + "]"
}

// Outcome is how a job settled.
type Outcome struct {
	// Status is terminal.
	Status Status
	Detail string
	Usage  *subprocess.Usage
	// Finished is when; zero is now.
	Finished time.Time
	// Err is a producer that broke its promise to tell. The job then failed.
	Err error
}

// Producer is the work of one job. It is safe for concurrent use. What it can do
// beyond this, it says by the interfaces below.
type Producer interface {
	// Done is closed when the work has settled. It always comes.
	Done() <-chan struct{}
	// Outcome is how, once Done is closed.
	Outcome() Outcome
	// Cancel begins the end of the work and returns at once. Repeated calls do
	// no harm. An error means that nothing was begun.
	Cancel(reason string) error
}

// Streaming is a Producer whose output is read piece by piece.
type Streaming interface {
	// ReadOutput returns what was produced since the last call, and consumes
	// it. It stays valid after the end.
	ReadOutput() (string, error)
	// Unread calls look with what ReadOutput would return, without consuming,
	// now and whenever there is more, until look returns true, the work settles
	// or ctx ends. The error is ctx's.
	Unread(ctx context.Context, look func(text string) (enough bool)) error
}

// Finishing is a Producer with one output, complete at its end.
type Finishing interface {
	// Output is the same at every call after Done.
	Output() string
}

// Recorded is a Producer whose streams are kept as they were written.
type Recorded interface {
	// ReadFrom returns at most max bytes from an offset of a stream. It consumes
	// nothing.
	ReadFrom(stream subprocess.Stream, offset int64, max int) (Piece, error)
}

// Piece is a part of a stream.
type Piece struct {
	// Text is valid UTF-8: each maximal invalid part is one U+FFFD.
	Text string `json:"text"`
	// From and Next are the offsets of its first byte, and of the byte after
	// it. From is larger than what was asked for when the bytes between are
	// gone; Skipped is how many.
	From    int64 `json:"from"`
	Next    int64 `json:"next"`
	Skipped int64 `json:"skipped,omitempty"`
	// Size is how long the stream is so far.
	Size int64 `json:"size"`
}

// Interactive is a Producer that takes input.
type Interactive interface {
	// Input hands text to the work, and with eof ends its input for good.
	Input(ctx context.Context, text string, eof bool) error
}

// Remembering is a Producer that knows beyond this process whether its end was
// reported.
type Remembering interface {
	Reported() bool
	// MarkReported may come before the end: whoever cancels work knows of it. It
	// is called from any goroutine, and often.
	MarkReported()
	// UnmarkReported takes that back, of live work that could not be cancelled.
	UnmarkReported()
}
