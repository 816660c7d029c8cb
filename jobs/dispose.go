package jobs

import (
	"context"
	"fmt"
	"sync"

	"hardshell/internal/fault"
)

// Reasons that the work is cancelled with.
const (
	ownerDisposed   = "owner disposed"
	serviceDisposed = "jobs service disposed"
)

// End ends an owner: it can start no further job; its jobs are cancelled, the
// durable ones too, and forgotten once all have settled. Their ends count as
// reported. When ctx ends before, the error is ABORTED and the jobs go on
// ending; a further call waits for them.
func (r *Registry) End(ctx context.Context, owner *Owner) error {
	if owner == nil {
		return fault.New(fault.InvalidArgument, "jobs without an owner end with the job registry: there is no owner to end")
	}
	defer r.tell()
	if owner == r.options.RecordsOwner {
		if err := r.refresh(); err != nil {
			r.log.Warn("the kept background jobs could not be listed, and some may not be ended", "error", err)
		}
	}
	r.mu.Lock()
	owner.close()
	r.mu.Unlock()
	return r.finish(ctx, ownerDisposed, func(of *Owner, _ bool) bool { return of == owner })
}

// Close ends all jobs of this process as End does, and lets go of the durable
// ones: those are neither cancelled nor awaited nor reported. Nothing starts any
// more, and OnDone is not called any more.
func (r *Registry) Close(ctx context.Context) error {
	defer r.tell()
	r.mu.Lock()
	r.closed = true
	for _, e := range r.order {
		if e.durable {
			r.letGo(e)
		}
	}
	r.forgetAll(func(_ *Owner, durable bool) bool { return durable })
	r.mu.Unlock()
	return r.finish(ctx, serviceDisposed, func(_ *Owner, durable bool) bool { return !durable })
}

// which chooses jobs by their owner, and by whether Records keeps them.
type which func(owner *Owner, durable bool) bool

// finish cancels jobs, waits until all have settled, those too that are just
// being started, forgets them and tells of it.
func (r *Registry) finish(ctx context.Context, reason string, chosen which) error {
	r.mu.Lock()
	entries := r.choose(chosen)
	var starting []*admission
	for a := range r.starting {
		if chosen(a.owner, false) || chosen(a.owner, true) {
			starting = append(starting, a)
		}
	}
	r.mu.Unlock()
	if err := r.teardownAll(ctx, entries, reason); err != nil {
		return err
	}
	r.tell()
	for _, a := range starting {
		if err := await(ctx, a.over); err != nil {
			return err
		}
	}
	r.mu.Lock()
	entries = r.choose(chosen)
	r.mu.Unlock()
	for _, e := range entries {
		if err := await(ctx, e.ctx.Done()); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.forgetAll(chosen)
	told := make(chan struct{})
	r.happened(event{mark: told})
	r.mu.Unlock()
	r.tell()
	return await(ctx, told)
}

// choose lists jobs as they were registered. The caller holds mu.
func (r *Registry) choose(chosen which) []*entry {
	var entries []*entry
	for _, e := range r.order {
		if chosen(e.owner, e.durable) {
			entries = append(entries, e)
		}
	}
	return entries
}

// forgetAll forgets jobs, and queues one piece of news for each of their owners.
// The caller holds mu.
func (r *Registry) forgetAll(chosen which) {
	owners := map[*Owner]bool{}
	for _, e := range r.choose(chosen) {
		r.forget(e)
		if !owners[e.owner] {
			owners[e.owner] = true
			r.happened(event{changed: true, owner: e.owner})
		}
	}
}

// await waits for a channel to be closed.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done:
		return nil
	default:
		return fault.New(fault.Aborted, "some background jobs have not settled yet: %w", context.Cause(ctx))
	}
}

// cancelsAtOnce bounds the goroutines that cancel jobs: each may wait for another
// process.
const cancelsAtOnce = 16

// teardownAll tears jobs down, many at once, and returns when all are told to end
// or ctx ends; they are then still being told.
func (r *Registry) teardownAll(ctx context.Context, entries []*entry, reason string) error {
	told := make(chan struct{})
	go func() {
		defer close(told)
		var workers sync.WaitGroup
		next := make(chan *entry)
		for range min(cancelsAtOnce, len(entries)) {
			workers.Go(func() {
				for e := range next {
					r.teardown(e, reason)
					r.tell()
				}
			})
		}
		for _, e := range entries {
			next <- e
		}
		close(next)
		workers.Wait()
	}()
	return await(ctx, told)
}

// teardown begins the end of a job that nobody will ask for any more. One whose
// work refuses counts as failed at once.
func (r *Registry) teardown(e *entry, reason string) {
	r.catchUp(e)
	r.mu.Lock()
	live := !e.job.Status.Terminal()
	r.mu.Unlock()
	r.announce(e)
	if !live {
		return
	}
	if err := cancel(e, reason); err != nil {
		r.log.Warn("a background job could not be cancelled", "job", e.job.ID, "error", err)
		r.settle(e, Outcome{Status: Failed, Detail: fmt.Sprintf("cancel threw during teardown; work may be orphaned: %v", err)})
		return
	}
	r.stopping(e)
}
