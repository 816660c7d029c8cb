package jobs

import (
	"errors"
	"slices"

	"hardshell/internal/fault"
)

// refresh makes known what Records keeps, and forgets what it does not keep any
// more. The caller calls tell.
func (r *Registry) refresh() error {
	if r.options.Records == nil {
		return nil
	}
	r.records.Lock()
	defer r.records.Unlock()
	if r.detached() {
		return nil
	}
	ids, err := r.options.Records.List()
	if err != nil || slices.Equal(ids, r.seen) {
		return err
	}
	for _, id := range r.unknown(ids) {
		_, opened := r.open(id)
		if opened != nil && !errors.Is(opened, fault.UnknownJob) {
			r.log.Warn("a kept background job could not be opened", "job", id, "error", opened)
			err = opened
		}
	}
	if err == nil {
		r.seen = ids
	}
	return err
}

// detached says that the jobs in Records are none of this registry's any more.
func (r *Registry) detached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner := r.options.RecordsOwner
	return r.closed || owner != nil && owner.hasEnded()
}

// unknown returns those of the ids that are not known, and forgets the jobs that
// are not among them.
func (r *Registry) unknown(ids []string) []string {
	there := make(map[string]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := 0
	for _, e := range slices.Clone(r.order) {
		if e.durable && !there[e.job.ID] {
			r.letGo(e)
			r.forget(e)
			gone++
		}
	}
	if gone > 0 {
		r.happened(event{changed: true, owner: r.options.RecordsOwner})
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return r.entries[id] != nil })
}

// open registers a job that Records keeps. The caller holds records.
func (r *Registry) open(id string) (*entry, error) {
	job, producer, err := r.options.Records.Open(id)
	if err != nil {
		return nil, err
	}
	owner := r.options.RecordsOwner
	job.ID, job.OwnerSession = id, ""
	if owner != nil {
		job.OwnerSession = owner.ID()
	}
	if !job.Status.Terminal() {
		select {
		case <-producer.Done():
			job.ended(outcome(producer))
		default:
		}
	}
	if remembering, ok := producer.(Remembering); ok && job.Status.Terminal() {
		job.Reported = remembering.Reported()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.numbersOf(job.Kind, true); !n.durable {
		return nil, fault.New(fault.Invariant, "job %s was kept, and jobs of kind %q of this process are numbered alike", id, job.Kind)
	}
	return r.register(job, owner, producer, true), nil
}

// keep registers a job that was started, from its record. The caller calls tell.
func (r *Registry) keep(slot *Slot, started Producer) (Job, error) {
	r.records.Lock()
	slot.Keep()
	r.mu.Lock()
	e := r.entries[slot.ID] // somebody may have seen the record already
	r.mu.Unlock()
	var err error
	if e == nil {
		e, err = r.open(slot.ID)
	}
	r.records.Unlock()
	if err != nil {
		if started != nil {
			err = errors.Join(err, started.Cancel("its record could not be opened"))
		}
		return Job{}, err
	}
	r.mu.Lock()
	job := copied(e.job)
	reason := r.overdue(e)
	if r.closed {
		r.letGo(e)
		r.forget(e)
	}
	r.mu.Unlock()
	if reason != "" {
		r.teardown(e, reason)
	}
	return job, nil
}

// letGo stops following a job. The caller holds mu.
func (r *Registry) letGo(e *entry) {
	if e.bound != nil {
		e.bound.Stop()
	}
	e.end(errLetGo)
}
