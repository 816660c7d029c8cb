package bash

import (
	"context"

	"hardshell/shell"
	"hardshell/tool"
)

// checkBackground refuses what this deployment cannot run in the background.
func (b *bash) checkBackground(in Input) error {
	switch {
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
		Owner: call.Session,
		Label: in.Command,
		Begin: func(ctx context.Context) (shell.Process, error) { return b.executor.Start(ctx, spec) },
	})
	if err != nil {
		return nil, err
	}
	return Background{JobID: id}, nil
}
