package jobstest

import (
	"context"
	"sync"

	"hardshell/jobs"
)

// Final is work of this process that a test controls. It has no output before
// its end. It is safe for concurrent use.
type Final struct {
	// OnCancel is called by Cancel, when it is set; it is set before the job
	// starts. Without it a cancelled job settles at once, as killed.
	OnCancel func(reason string) error
	// Text is the output.
	Text string

	mu      sync.Mutex
	reasons []string
	outcome jobs.Outcome
	settled bool
	done    chan struct{}
}

var (
	_ jobs.Producer  = (*Final)(nil)
	_ jobs.Finishing = (*Final)(nil)
	_ jobs.Streaming = (*Stream)(nil)
)

// NewFinal returns work that goes on until it is told to settle.
func NewFinal() *Final { return &Final{done: make(chan struct{})} }

// Settle ends the work. Further calls change nothing.
func (f *Final) Settle(o jobs.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.settled {
		return
	}
	f.settled, f.outcome = true, o
	close(f.done)
}

// Cancels lists the reasons of the calls of Cancel.
func (f *Final) Cancels() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.reasons...)
}

// Done implements jobs.Producer.
func (f *Final) Done() <-chan struct{} { return f.done }

// Outcome implements jobs.Producer.
func (f *Final) Outcome() jobs.Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outcome
}

// Cancel implements jobs.Producer.
func (f *Final) Cancel(reason string) error {
	f.mu.Lock()
	f.reasons = append(f.reasons, reason)
	f.mu.Unlock()
	if f.OnCancel != nil {
		return f.OnCancel(reason)
	}
	f.Settle(jobs.Outcome{Status: jobs.Killed, Detail: "signal: SIGTERM"})
	return nil
}

// Output implements jobs.Finishing.
func (f *Final) Output() string { return f.Text }

// Stream is work of this process whose output a test writes. It is safe for
// concurrent use.
type Stream struct {
	base

	mu     sync.Mutex
	text   string
	more   chan struct{} // closed by the next Print
	OnRead func()        // called by ReadOutput, when it is set
}

// base makes Stream everything that Final is, but for its output.
type base interface {
	jobs.Producer
	Settle(jobs.Outcome)
	Cancels() []string
}

// NewStream returns work that goes on until it is told to settle. OnCancel is
// that of Final; nil for work that settles at once.
func NewStream(onCancel func(reason string) error) *Stream {
	final := NewFinal()
	final.OnCancel = onCancel
	return &Stream{base: final, more: make(chan struct{})}
}

// Print adds output.
func (s *Stream) Print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += text
	close(s.more)
	s.more = make(chan struct{})
}

// ReadOutput implements jobs.Streaming.
func (s *Stream) ReadOutput() (string, error) {
	s.mu.Lock()
	text := s.text
	s.text = ""
	s.mu.Unlock()
	if s.OnRead != nil {
		s.OnRead()
	}
	return text, nil
}

// Unread implements jobs.Streaming.
func (s *Stream) Unread(ctx context.Context, look func(text string) (enough bool)) error {
	for {
		s.mu.Lock()
		text, more := s.text, s.more
		s.mu.Unlock()
		if look(text) {
			return nil
		}
		select {
		case <-more:
		case <-s.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
