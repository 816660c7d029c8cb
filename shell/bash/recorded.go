package bash

import (
	"context"
	"time"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// runRecorded runs a command of which a record is kept. Its deadline is that of
// the record, so that it holds whoever waits for it.
func (e *Executor) runRecorded(ctx context.Context, spec shell.Spec, out outputs) (*shell.Result, error) {
	// The caller's context ends the command as long as the caller waits for it.
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	waiting := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer waiting()
	child, err := e.spawn(own, &spec, out)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	var yield <-chan time.Time
	if spec.Yield > 0 {
		timer := time.NewTimer(spec.Yield)
		defer timer.Stop()
		yield = timer.C
	}
	select {
	case <-child.Done():
	case <-yield:
		if waiting() {
			return e.yielded(&spec, child, cancel), nil
		}
		<-child.Done() // the caller's context has just ended
	}
	r := result(child, spec.Timeout)
	cancel(nil) // not before: an end that was asked for has this as its cause
	r.Sandbox = e.info(&spec, child)
	return r, nil
}

// yielded is the result of a run that goes on.
func (e *Executor) yielded(spec *shell.Spec, child subprocess.Handle, cancel context.CancelCauseFunc) *shell.Result {
	process := startedProcess(child, func() *sandbox.Info {
		cancel(nil)
		return e.info(spec, child)
	})
	return &shell.Result{
		Timeout: spec.Timeout, Duration: spec.Yield,
		Stdout: child.Reader(subprocess.Stdout).Collected(), Stderr: child.Reader(subprocess.Stderr).Collected(),
		Process: process,
	}
}
