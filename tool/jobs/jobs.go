// Package jobs is the tools by which a model looks after background jobs:
// job_output, job_list, job_kill and job_input. It also queues the notices of
// jobs that have settled.
//
// The model's read moves the one cursor of a job. Whoever else wants to see a
// job's output re-reads it by offset, which moves nothing.
package jobs

import (
	"context"
	"math"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/prose"
	"hardshell/jobs"
	"hardshell/shell"
	"hardshell/subprocess"
	"hardshell/tool"
)

// The names of the tools.
const (
	OutputName = "job_output"
	ListName   = "job_list"
	KillName   = "job_kill"
	InputName  = "job_input"
)

// Registry is what the tools need of a jobs.Registry. It is safe for concurrent
// use. A caller of nil sees the jobs that nobody owns.
type Registry interface {
	List(caller *jobs.Owner) []jobs.Job
	Get(id string, caller *jobs.Owner) (jobs.Job, error)
	Read(id string, caller *jobs.Owner) (text string, job jobs.Job, err error)
	ReadFrom(id string, stream subprocess.Stream, from int64, max int, caller *jobs.Owner) (jobs.Piece, jobs.Job, error)
	Input(ctx context.Context, id, text string, eof bool, caller *jobs.Owner) (jobs.Job, error)
	Kill(id, reason string, caller *jobs.Owner) (requested bool, job jobs.Job, err error)
	Wait(ctx context.Context, id string, timeout time.Duration, caller *jobs.Owner) (jobs.Job, error)
	Until(ctx context.Context, id string, until jobs.Until, timeout time.Duration, caller *jobs.Owner) (jobs.Job, error)
	AddController(label string) (remove func())
	OnDone(func(job jobs.Job, owner *jobs.Owner)) (remove func())
}

var _ Registry = (*jobs.Registry)(nil)

// Config is what a deployment decides about the tools. The zero value is ready.
type Config struct {
	// WaitTimeout is how long job_output waits when it is not told; 0 is 30 s.
	WaitTimeout time.Duration
	// MaxWaitTimeout is how long it waits at most; 0 is 600 s.
	MaxWaitTimeout time.Duration
	// RereadBytes is how much of a stream one re-read hands over; 0 is 64,000.
	RereadBytes int
	// Owner is the owner behind a session that calls a tool; nil has the tools
	// see the jobs that nobody owns.
	Owner func(tool.Session) *jobs.Owner
}

// Tools is the tools of one registry of jobs. It is immutable and safe for
// concurrent use.
type Tools struct {
	registry Registry
	config   Config
	prose    prose.Sections
}

// New returns the tools over a registry. A wait that is shorter than a
// millisecond, or a default beyond the maximum, is an INVALID_ARGUMENT error.
func New(registry Registry, config Config) (*Tools, error) {
	if config.WaitTimeout == 0 {
		config.WaitTimeout = 30 * time.Second
	}
	if config.MaxWaitTimeout == 0 {
		config.MaxWaitTimeout = 600 * time.Second
	}
	if config.RereadBytes == 0 {
		config.RereadBytes = 64_000
	}
	usual, longest := shell.Milliseconds(config.WaitTimeout), shell.Milliseconds(config.MaxWaitTimeout)
	switch {
	case usual < 1:
		return nil, fault.New(fault.InvalidArgument, "tool-jobs: waitTimeoutMs must be 1 or more, got %v", usual)
	case longest < 1:
		return nil, fault.New(fault.InvalidArgument, "tool-jobs: maxWaitTimeoutMs must be 1 or more, got %v", longest)
	case usual > longest:
		return nil, fault.New(fault.InvalidArgument, "tool-jobs: waitTimeoutMs (%s) exceeds maxWaitTimeoutMs (%s)", number(usual), number(longest))
	case config.RereadBytes < 0:
		return nil, fault.New(fault.InvalidArgument, "tool-jobs: rereadBytes must be 1 or more, got %d", config.RereadBytes)
	}
	return &Tools{registry: registry, config: config, prose: prose.Parse(source)}, nil
}

// Register adds the four tools to a registry of tools, until remove is called.
// Either all are added or none: a name that is taken is an INVALID_ARGUMENT
// error.
func (t *Tools) Register(tools *tool.Registry) (remove func(), err error) {
	var removes []func()
	remove = func() {
		for _, r := range removes {
			r()
		}
	}
	for _, make := range []func() (*tool.Tool, error){t.outputTool, t.listTool, t.killTool, t.inputTool} {
		made, err := make()
		if err == nil {
			var r func()
			if r, err = tools.Register(made); err == nil {
				removes = append(removes, r)
			}
		}
		if err != nil {
			remove()
			return nil, err
		}
	}
	return remove, nil
}

// Guidance tells a model how to work with jobs, for the instructions of a
// session.
func (t *Tools) Guidance() string { return t.prose["guidance"] }

// owner is who asks.
func (t *Tools) owner(session tool.Session) *jobs.Owner {
	if t.config.Owner == nil || session == nil {
		return nil
	}
	return t.config.Owner(session)
}

// wait is how long a call waits that sent ms. What is not positive is left to
// the registry to refuse, after it has looked who asks.
func (t *Tools) wait(ms *float64) time.Duration {
	switch {
	case ms == nil:
		return t.config.WaitTimeout
	case *ms >= shell.Milliseconds(t.config.MaxWaitTimeout):
		return t.config.MaxWaitTimeout
	case *ms > 0:
		return positive(*ms)
	default:
		return time.Duration(max(math.Round(*ms*float64(time.Millisecond)), math.MinInt64/2))
	}
}

// positive is a positive number of milliseconds; what a duration cannot hold
// becomes the shortest or the longest one.
func positive(ms float64) time.Duration {
	if ms >= math.MaxInt64/float64(time.Millisecond)/2 {
		return math.MaxInt64 / 2
	}
	return max(1, time.Duration(math.Round(ms*float64(time.Millisecond))))
}
