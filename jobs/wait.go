package jobs

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"hardshell/internal/fault"
)

// Until is what to wait for besides the end of a job. Zero fields are not
// waited for.
type Until struct {
	// Pattern is looked for in the output that Read would return.
	Pattern *regexp.Regexp
	// Idle is how long there was no new output.
	Idle time.Duration
}

// Wait waits until a job has settled, and then reports its end. When the
// timeout passes first it returns the job as it is, and when ctx ends first
// ABORTED; neither changes anything. INVALID_ARGUMENT for a timeout that is not
// positive.
func (r *Registry) Wait(ctx context.Context, id string, timeout time.Duration, caller *Owner) (Job, error) {
	return r.Until(ctx, id, Until{}, timeout, caller)
}

// Until waits as Wait does, and also ends when the output is as u says. It
// consumes no output.
func (r *Registry) Until(ctx context.Context, id string, u Until, timeout time.Duration, caller *Owner) (Job, error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return Job{}, err
	}
	if timeout <= 0 {
		return Job{}, fault.New(fault.InvalidArgument, "invalid wait timeout: expected a positive number of milliseconds, got %s",
			strconv.FormatFloat(float64(timeout)/float64(time.Millisecond), 'f', -1, 64))
	}
	if job := r.attend(e); !job.Status.Terminal() {
		err = e.await(ctx, u, timeout)
	}
	job := r.leave(e)
	if err != nil && !job.Status.Terminal() {
		return Job{}, err
	}
	return job, nil
}

// Causes that end a wait without an error.
var (
	errTimeout = errors.New("the timeout passed")
	errIdle    = errors.New("there was no output for long enough")
	errMatched = errors.New("the output is as it was waited for")
)

// await returns when the job is not followed any more, its output is as u says,
// or the time is over. The error says that the wait was aborted.
func (e *entry) await(ctx context.Context, u Until, timeout time.Duration) error {
	wait, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	deadline := time.AfterFunc(timeout, func() { stop(errTimeout) })
	defer deadline.Stop()
	unlink := context.AfterFunc(e.ctx, func() { stop(context.Cause(e.ctx)) })
	defer unlink()
	streaming, ok := e.producer.(Streaming)
	if ok && (u.Pattern != nil || u.Idle > 0) {
		if err := watch(wait, stop, streaming, u); err != nil && wait.Err() == nil {
			return err
		}
	} else if u.Idle > 0 {
		idle := time.AfterFunc(u.Idle, func() { stop(errIdle) })
		defer idle.Stop()
	}
	<-wait.Done()
	switch context.Cause(wait) {
	case errSettled, errTimeout, errIdle, errMatched:
		return nil
	}
	return fault.New(fault.Aborted, "wait aborted")
}

// watch looks at the output until it is as u says, and then stops the wait. It
// also returns when the wait or the work is over.
func watch(wait context.Context, stop context.CancelCauseFunc, streaming Streaming, u Until) error {
	var idle *time.Timer
	if u.Idle > 0 {
		idle = time.AfterFunc(u.Idle, func() { stop(errIdle) })
		defer idle.Stop()
	}
	first := true
	return streaming.Unread(wait, func(text string) bool {
		if idle != nil && !first {
			idle.Reset(u.Idle)
		}
		first = false
		if u.Pattern == nil || !u.Pattern.MatchString(text) {
			return false
		}
		stop(errMatched)
		return true
	})
}
