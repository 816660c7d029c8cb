package bash

import (
	"context"
	"time"

	"hardshell/shell"
	"hardshell/tool"
)

// Jobs starts background jobs, and takes over foreground commands that run for
// long. It is safe for concurrent use.
type Jobs interface {
	// Start admits a job and returns its id. Begin makes the process, once the
	// job is admitted; the context that it gets is the job's, not the call's.
	Start(ctx context.Context, job Job) (id string, err error)
	// Foreground prepares a record for a command that may become a job; its
	// Begin is nil. It is false where nothing can be kept.
	Foreground(ctx context.Context, job Job) (run Run, ok bool, err error)
}

// Job is a command that runs in the background, or may come to.
type Job struct {
	// Owner is the session of the call, nil without one.
	Owner tool.Session
	// Label is the command's text.
	Label string
	// Workdir is where it runs. Timeout, when positive, bounds it also as a job.
	Workdir string
	Timeout time.Duration
	// Interactive keeps the command's standard input open, for the job's record
	// to be written to.
	Interactive bool
	// Begin makes the process. Record is the directory of the job's record, ""
	// for a job that ends with this program.
	Begin func(ctx context.Context, record string) (shell.Process, error)
}

// Run is the record of one foreground command. Exactly one of Promote, when that
// succeeds, and Discard ends it.
type Run interface {
	// Record is the directory, absolute.
	Record() string
	// Promote makes a job of the command, which runs on as shown.Process. What
	// the model is shown of its output, it has read. After an error the command
	// is still the caller's.
	Promote(ctx context.Context, shown *shell.Result) (id string, err error)
	// Discard removes the record of a command that has ended, but for the files
	// that the result names. The result is nil when nothing was run.
	Discard(result *shell.Result)
}

// checkBackground refuses what this deployment cannot run in the background.
func (b *bash) checkBackground(in Input) error {
	switch {
	case in.Interactive && !in.RunInBackground:
		return refused("interactive needs run_in_background")
	case !in.RunInBackground:
		return nil
	case !b.config.EnableRunInBackground:
		return refused("run_in_background is disabled for this deployment (enableRunInBackground: false)")
	case b.config.Jobs == nil:
		return refused("background jobs unavailable: load @deepseek-ai/dsh-jobs and @deepseek-ai/dsh-tool-jobs")
	}
	return nil
}

// start hands a resolved command to the jobs. A call that was aborted before
// it starts nothing; a job that started is not the call's any more.
func (b *bash) start(ctx context.Context, call tool.Call, in Input, spec shell.Spec) (Output, error) {
	if ctx.Err() != nil {
		return nil, tool.Aborted()
	}
	id, err := b.config.Jobs.Start(ctx, Job{
		Owner: call.Session, Label: in.Command, Workdir: spec.Workdir, Interactive: in.Interactive,
		Begin: func(ctx context.Context, record string) (shell.Process, error) {
			recorded := spec
			recorded.Record = record
			return b.executor.Start(ctx, recorded)
		},
	})
	if err != nil {
		return nil, err
	}
	return Background{JobID: id}, nil
}
