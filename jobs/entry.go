package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// entry is a job that is known here.
type entry struct {
	owner    *Owner
	producer Producer
	// durable jobs are kept by Records. A found one was settled when it was
	// first seen.
	durable, found bool

	// ctx ends when the job has settled, or is not followed any more.
	ctx context.Context
	end context.CancelCauseFunc

	// The registry's mu guards the rest.
	job     Job
	waiters int         // who will know of the end at once
	bound   *time.Timer // armed by a cancel
	turn    int         // the jobs that settled before this one
}

var (
	errSettled = errors.New("the job has settled")
	errLetGo   = errors.New("the job is not followed any more")
)

// register makes a job known. A goroutine follows it while it is live. The
// caller holds mu, and calls tell without it.
func (r *Registry) register(job Job, owner *Owner, producer Producer, durable bool) *entry {
	e := &entry{owner: owner, producer: producer, durable: durable, job: job}
	e.ctx, e.end = context.WithCancelCause(context.Background())
	r.entries[job.ID] = e
	r.order = append(r.order, e)
	r.happened(event{changed: true, owner: owner})
	if job.Status.Terminal() {
		e.found = true
		e.turn = r.settled
		r.settled++
		e.end(errSettled)
		r.happened(event{done: e, owner: owner})
		return e
	}
	go r.follow(e)
	return e
}

// follow settles a job when its work has.
func (r *Registry) follow(e *entry) {
	select {
	case <-e.producer.Done():
		r.settle(e, outcome(e.producer))
	case <-e.ctx.Done():
	}
	r.tell()
}

// catchUp settles a job whose work has, without waiting for its goroutine,
// which then tells the listeners.
func (r *Registry) catchUp(e *entry) {
	if e.ctx.Err() != nil {
		return
	}
	select {
	case <-e.producer.Done():
		r.settle(e, outcome(e.producer))
	default:
	}
}

// settle records how a job ended, unless it has ended already.
func (r *Registry) settle(e *entry, o Outcome) {
	r.mu.Lock()
	first := e.ctx.Err() == nil
	if first {
		r.record(e, o)
	}
	reported := e.job.Reported
	r.mu.Unlock()
	if !first {
		return
	}
	if o.Err != nil {
		r.log.Warn("a background job did not tell how it ended", "job", e.job.ID, "error", o.Err)
	}
	if reported {
		e.remember()
	}
}

// record writes the end of a live job, releases its waiters and queues the
// news. The caller holds mu.
func (r *Registry) record(e *entry, o Outcome) {
	e.job.ended(o)
	e.job.Reported = e.job.Reported || e.waiters > 0
	e.turn = r.settled
	r.settled++
	if e.bound != nil {
		e.bound.Stop()
	}
	if !e.durable {
		r.leavePlace(e.owner)
		r.evict(e)
	}
	e.end(errSettled)
	r.happened(event{changed: true, owner: e.owner})
	r.happened(event{done: e, owner: e.owner})
}

// ended writes an end into the facts of a job.
func (j *Job) ended(o Outcome) {
	if o.Err != nil {
		o.Status, o.Detail = Failed, o.Err.Error()
	}
	if o.Finished.IsZero() {
		o.Finished = time.Now()
	}
	j.Status, j.Detail, j.Usage = o.Status, o.Detail, o.Usage
	j.FinishedAt = o.Finished.UnixMilli()
}

// evict forgets settled jobs of an owner beyond the number to keep, but for the
// last one. The caller holds mu.
func (r *Registry) evict(last *entry) {
	var settled []*entry
	for _, e := range r.order {
		if e.owner == last.owner && !e.durable && e.job.Status.Terminal() {
			settled = append(settled, e)
		}
	}
	over := len(settled) - r.options.Keep
	if over <= 0 {
		return
	}
	slices.SortFunc(settled, func(a, b *entry) int {
		if a.job.Reported != b.job.Reported {
			if a.job.Reported {
				return -1
			}
			return 1
		}
		return a.turn - b.turn
	})
	settled = slices.DeleteFunc(settled, func(e *entry) bool { return e == last })
	for _, e := range settled[:min(over, len(settled))] {
		r.forget(e)
	}
}

// forget removes a job. The caller holds mu.
func (r *Registry) forget(e *entry) {
	if r.entries[e.job.ID] != e {
		return
	}
	delete(r.entries, e.job.ID)
	r.order = slices.DeleteFunc(r.order, func(have *entry) bool { return have == e })
}

// look returns the facts of a job as they are now, also those that other
// processes know better.
func (r *Registry) look(e *entry) Job {
	r.catchUp(e)
	r.mu.Lock()
	job := copied(e.job)
	r.mu.Unlock()
	if !job.Status.Terminal() || job.Reported {
		return job
	}
	if remembering, ok := e.producer.(Remembering); ok && remembering.Reported() {
		r.mu.Lock()
		e.job.Reported = true
		r.mu.Unlock()
		job.Reported = true
	}
	return job
}

// remember tells the job's record that the end was reported.
func (e *entry) remember() {
	if remembering, ok := e.producer.(Remembering); ok {
		remembering.MarkReported()
	}
}

// announce makes the end of a live job count as reported, everywhere, before there
// is one. Undo takes that back while there is none.
func (r *Registry) announce(e *entry) (undo func()) {
	remembering, ok := e.producer.(Remembering)
	known := ok && remembering.Reported() // by what another process did
	r.mu.Lock()
	live, before := !e.job.Status.Terminal(), e.job.Reported
	e.job.Reported = true
	r.mu.Unlock()
	if ok && !before && !known {
		remembering.MarkReported()
	}
	return func() {
		r.mu.Lock()
		still := live && !before && !e.job.Status.Terminal()
		if still {
			e.job.Reported = false
		}
		r.mu.Unlock()
		if still && ok && !known {
			remembering.UnmarkReported()
		}
	}
}

// copied returns facts that share nothing with those of the registry.
func copied(job Job) Job {
	if job.Usage != nil {
		usage := *job.Usage
		job.Usage = &usage
	}
	return job
}

// outcome asks finished work how it ended. What it answers is an end in any
// case.
func outcome(p Producer) (o Outcome) {
	defer func() {
		if caught := recover(); caught != nil {
			o = Outcome{Err: fmt.Errorf("panic: %v", caught)}
		}
	}()
	o = p.Outcome()
	if o.Err == nil && !o.Status.Terminal() {
		o.Err = fmt.Errorf("its work is done and calls itself %q", o.Status)
	}
	return o
}
