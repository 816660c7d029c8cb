package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// Every access names the caller, nil for somebody without a session. An id that
// is not known is UNKNOWN_JOB; a job of another session is FOREIGN_JOB before
// anything else is looked at. An access may find durable jobs that other
// processes started or ended, and then tells the listeners before it returns.

// List returns the jobs that the caller may see, its own and those without an
// owner, as they were started.
func (r *Registry) List(caller *Owner) []Job {
	defer r.tell()
	if err := r.refresh(); err != nil {
		r.log.Warn("the kept background jobs could not be listed", "error", err)
	}
	r.mu.Lock()
	visible := make([]*entry, 0, len(r.order))
	for _, e := range r.order {
		if e.openTo(caller) {
			visible = append(visible, e)
		}
	}
	r.mu.Unlock()
	list := make([]Job, 0, len(visible))
	for _, e := range visible {
		list = append(list, r.look(e))
	}
	return list
}

// Get returns a job. It reports nothing.
func (r *Registry) Get(id string, caller *Owner) (Job, error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return Job{}, err
	}
	return r.look(e), nil
}

// Read returns the output since the last Read, and consumes it; the output of a
// Finishing job is returned whole once it has settled. The text is complete
// when the job has settled, and its end then counts as reported.
func (r *Registry) Read(id string, caller *Owner) (text string, job Job, err error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return "", Job{}, err
	}
	before := r.attend(e)
	if text, err = e.read(before); err != nil {
		r.withdraw(e)
		return "", Job{}, err
	}
	job = r.leave(e)
	if job.Status.Terminal() && !before.Status.Terminal() {
		// It settled meanwhile. What it wrote last may not have been read.
		rest, err := e.read(job)
		if err != nil {
			return "", Job{}, err
		}
		text = joined(text, rest)
	}
	return text, job, nil
}

// read is the output that a reader gets who saw these facts.
func (e *entry) read(seen Job) (string, error) {
	switch p := e.producer.(type) {
	case Streaming:
		return p.ReadOutput()
	case Finishing:
		select {
		case <-e.producer.Done():
			if seen.Status.Terminal() {
				return p.Output(), nil
			}
		default: // a job that counts as failed, and works still
		}
	}
	return "", nil
}

// joined puts two reads together. The second may begin with a heading or a note,
// which begins a line.
func joined(first, second string) string {
	if strings.HasPrefix(second, "[") {
		return OnOwnLine(first, second)
	}
	return first + second
}

// ReadFrom returns a part of a job's stream: at most max bytes from an offset.
// It consumes nothing and reports nothing. INVALID_ARGS for a job whose streams
// are not kept.
func (r *Registry) ReadFrom(id string, stream subprocess.Stream, from int64, max int, caller *Owner) (Piece, Job, error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return Piece{}, Job{}, err
	}
	recorded, ok := e.producer.(Recorded)
	if !ok {
		return Piece{}, Job{}, fault.New(fault.InvalidArgs, "the output of job %s is not kept: it can be read once, without an offset", id)
	}
	// Facts that are older than the piece: who reads to the end of a settled job
	// has all of it.
	job := r.look(e)
	piece, err := recorded.ReadFrom(stream, from, max)
	return piece, job, err
}

// Input hands text to a job, and with eof ends its input. INVALID_ARGS for a job
// that takes none, or that has settled.
func (r *Registry) Input(ctx context.Context, id, text string, eof bool, caller *Owner) (Job, error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return Job{}, err
	}
	interactive, ok := e.producer.(Interactive)
	if !ok {
		return Job{}, fault.New(fault.InvalidArgs, "job %s takes no input: start one that does", id)
	}
	if job := r.look(e); job.Status.Terminal() {
		return Job{}, fault.New(fault.InvalidArgs, "job %s takes no input any more: it has finished %s", id, job.StatusLine())
	}
	if err := interactive.Input(ctx, text, eof); err != nil {
		return Job{}, err
	}
	return r.look(e), nil
}

// Kill begins the end of a job and returns at once; requested is false when it
// had settled before. Either way its end counts as reported. A further call
// cancels again. The error of the producer's Cancel changes nothing.
func (r *Registry) Kill(id, reason string, caller *Owner) (requested bool, job Job, err error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return false, Job{}, err
	}
	// One who waits, so that an end during the call is no news.
	if job := r.attend(e); job.Status.Terminal() {
		return false, r.leave(e), nil
	}
	// Before the end, which another process may be the first to see.
	undo := r.announce(e)
	if err = cancel(e, reason); err == nil {
		r.stopping(e)
	} else {
		undo()
	}
	job = r.leave(e)
	if err != nil && !job.Status.Terminal() {
		return false, Job{}, err
	}
	return err == nil, job, nil
}

// MarkReported says that the owner knows how a job ended. It changes nothing of
// a live one.
func (r *Registry) MarkReported(id string, caller *Owner) (Job, error) {
	defer r.tell()
	e, err := r.find(id, caller)
	if err != nil {
		return Job{}, err
	}
	r.attend(e)
	return r.leave(e), nil
}

// find returns the job of an id.
func (r *Registry) find(id string, caller *Owner) (*entry, error) {
	failed := r.refresh()
	r.mu.Lock()
	e := r.entries[id]
	r.mu.Unlock()
	switch {
	case e == nil && failed != nil:
		return nil, failed
	case e == nil:
		return nil, fault.New(fault.UnknownJob, "unknown job %s", id)
	case !e.openTo(caller):
		return nil, fault.New(fault.ForeignJob, "job %s belongs to another session", id)
	}
	return e, nil
}

// openTo says whether a caller may see a job. Sessions are compared, not
// handles: one that was resumed has a new one.
func (e *entry) openTo(caller *Owner) bool {
	return e.owner == nil || caller != nil && caller.ID() == e.owner.ID()
}

// attend counts one who will know of a job's end, until leave.
func (r *Registry) attend(e *entry) Job {
	r.mu.Lock()
	e.waiters++
	r.mu.Unlock()
	return r.look(e)
}

// leave ends attend. The end of a job that has settled is then reported.
func (r *Registry) leave(e *entry) Job {
	r.catchUp(e)
	r.mu.Lock()
	e.waiters--
	news := e.job.Status.Terminal() && !e.job.Reported
	e.job.Reported = e.job.Reported || news
	job := copied(e.job)
	r.mu.Unlock()
	if news {
		e.remember()
	}
	return job
}

// withdraw ends attend without a report.
func (r *Registry) withdraw(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.waiters--
}

// stopping records that a live job was told to end, and bounds the time it has
// for that. Its end was announced.
func (r *Registry) stopping(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.job.Status.Terminal() {
		return
	}
	if e.job.Status != Stopping {
		e.job.Status = Stopping
		r.happened(event{changed: true, owner: e.owner})
	}
	if e.bound == nil {
		e.bound = time.AfterFunc(r.options.CancelBound(), func() {
			r.settle(e, Outcome{Status: Failed, Detail: "cancel did not settle; work may be orphaned"})
		})
	}
}

// cancel begins the end of a job's work. A panic is an error like any other.
func cancel(e *entry, reason string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return e.producer.Cancel(reason)
}
