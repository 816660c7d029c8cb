package bash

import (
	"context"
	"fmt"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
	"hardshell/tool"
)

// foreground runs a resolved command to its end, or until it becomes a job.
func (b *bash) foreground(ctx context.Context, call tool.Call, in Input, spec shell.Spec) (Output, error) {
	run := b.promotable(ctx, call, in, spec)
	if run != nil {
		spec.Record, spec.Yield = run.Record(), b.config.YieldAfter
	}
	result, err := b.executor.Run(ctx, spec)
	if err == nil && result.Process != nil {
		return b.promote(ctx, run, result)
	}
	if run != nil {
		run.Discard(result)
	}
	switch {
	case fault.CodeOf(err) == fault.Aborted:
		return nil, tool.Aborted()
	case err != nil:
		return nil, err
	case result.Aborted:
		return nil, aborted(result.Survivors)
	}
	return Foreground{result}, nil
}

// promotable prepares the record of a command that may outlast the call, nil
// when it cannot. To run without one only means to wait for the end: whatever
// keeps the record from being made is no reason not to run.
func (b *bash) promotable(ctx context.Context, call tool.Call, in Input, spec shell.Spec) Run {
	if !b.promotes() || spec.Timeout <= b.config.YieldAfter {
		return nil
	}
	run, ok, err := b.config.Jobs.Foreground(ctx, Job{
		Owner: call.Session, Label: in.Command, Workdir: spec.Workdir, Timeout: deadline(spec),
	})
	if err != nil {
		b.config.Log.Warn("a command cannot become a job, and is waited for", "error", err)
	}
	if err != nil || !ok {
		return nil
	}
	return run
}

// deadline is how long a command may run, 0 for ever.
func deadline(spec shell.Spec) time.Duration {
	if spec.Timeout == shell.NoTimeout {
		return 0
	}
	return spec.Timeout
}

// promotes reports whether this deployment makes jobs of long commands.
func (b *bash) promotes() bool { return b.config.YieldAfter > 0 && b.config.Jobs != nil }

// promote makes a job of a command that still runs. Where it cannot, the command
// is killed: the call is not held any longer, and nobody else would know of it.
func (b *bash) promote(ctx context.Context, run Run, result *shell.Result) (Output, error) {
	if ctx.Err() != nil {
		return nil, aborted(b.end(run, result))
	}
	id, err := run.Promote(ctx, result)
	if err == nil {
		return Promoted{JobID: id, Result: result}, nil
	}
	survivors := b.end(run, result)
	if ctx.Err() != nil {
		return nil, aborted(survivors)
	}
	text := fmt.Sprintf("the command was still running after %dms, could not go on as a background job and was killed: %v\nOutput so far:\n%s",
		result.Duration.Milliseconds(), err, body(result))
	if marker := survivorsMarker(survivors); marker != "" {
		text = onOwnLine(text) + marker
	}
	return nil, &fault.Error{Code: fault.CodeOf(err), Message: text, Err: err}
}

// end kills a command that did not become a job, and returns what outlived that.
func (b *bash) end(run Run, result *shell.Result) (survivors []int) {
	result.Process.Kill()
	<-result.Process.Done() // bounded by the grace
	run.Discard(result)
	return result.Process.State().Survivors
}

// aborted is the error of a call that was aborted while its command ran. What
// outlived the kill is named even then.
func aborted(survivors []int) error {
	err := tool.Aborted()
	if marker := survivorsMarker(survivors); marker != "" {
		return fault.New(fault.Aborted, "%s\n%s", err.Error(), marker)
	}
	return err
}
