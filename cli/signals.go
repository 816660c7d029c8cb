package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hardshell/shell"
)

// signals turns the signals that end a program into two contexts: the first
// signal ends ctx, and the command with it; a second, and a SIGQUIT or SIGABRT at
// once, ends again, and the grace, and soon this process.
type signals struct {
	ctx, again context.Context
	ready      <-chan struct{} // closed when signals are caught
	stop       func()
}

// lastBound is longer than it takes to kill what can be killed.
const lastBound = 2 * time.Second

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return fmt.Sprintf("interrupted by %v", i.signal) }

// watchSignals begins to watch, beside what else there is to prepare: nothing
// may be started before ready. SIGPIPE is caught so that a reader of ours who
// went away is an error of the write, which ends the command's stream too.
func watchSignals(parent context.Context) *signals {
	ctx, cancel := context.WithCancelCause(parent)
	again, cancelAgain := context.WithCancel(context.WithoutCancel(parent))
	caught := make(chan os.Signal, 2)
	piped := make(chan os.Signal, 1)
	ready := make(chan struct{})
	go func() {
		signal.Notify(piped, syscall.SIGPIPE)
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
			if !signal.Ignored(sig) { // as nohup(1) sets it up
				signal.Notify(caught, sig)
			}
		}
		close(ready)
		sig, ok := <-caught
		if ok {
			cancel(interrupted{sig.(syscall.Signal)})
		}
		if ok && sig != syscall.SIGQUIT && sig != syscall.SIGABRT {
			_, ok = <-caught
		}
		if ok {
			cancelAgain()
			// Whatever stands still after that, a reader of ours for instance, is
			// left behind.
			time.AfterFunc(lastBound, func() { os.Exit(128 + int(sig.(syscall.Signal))) })
		}
	}()
	return &signals{ctx: ctx, again: again, ready: ready, stop: func() {
		<-ready
		signal.Stop(caught)
		signal.Stop(piped)
		close(caught)
		cancel(nil)
		cancelAgain()
	}}
}

// closing ends when what is left after a command should be killed without a
// grace: at the first signal, or at the second when the first ended the command.
func (s *signals) closing() context.Context {
	if s.ctx.Err() != nil {
		return s.again
	}
	return s.ctx
}

// status is the outcome of an invocation that ran a command, nil for 0.
func (s *signals) status(result *shell.Result) error {
	status := result.Status()
	switch {
	case result.TimedOut:
		status = exitTimedOut
	case result.Aborted || s.ctx.Err() != nil:
		status = s.interruption()
	}
	if status == 0 {
		return nil
	}
	return exitStatus(status)
}

// explain replaces an error that only says that a signal came by the status
// that goes with it.
func (s *signals) explain(err error) error {
	if s.ctx.Err() != nil {
		return exitStatus(s.interruption())
	}
	return err
}

// interruption is 128 and the number of the signal that ended the context.
func (s *signals) interruption() int {
	if cause, ok := context.Cause(s.ctx).(interrupted); ok {
		return 128 + int(cause.signal)
	}
	return exitInterrupt
}
