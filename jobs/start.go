package jobs

import (
	"fmt"
	"slices"
	"time"

	"hardshell/internal/fault"
)

// Start says what job to start.
type Start struct {
	// Kind is the class of the job, "bash" for instance, and Label the one line
	// that says which one. Neither is empty.
	Kind, Label string
	// Owner is nil for a job that is open to all.
	Owner *Owner
	// OutputLimitBytes caps what a model is given at once; nil is no cap.
	OutputLimitBytes *int64
	// Durable asks for a job that Records keeps. Its owner is RecordsOwner, and
	// all jobs of a kind are durable or none is: their ids are numbered
	// together.
	Durable bool
	// Run starts the work. It is called once, when the job was admitted, and
	// holds its place meanwhile. After an error, or a panic, it has left nothing
	// behind and there is no job.
	//
	// The directory of the slot is "" for a job of this process. For a durable
	// one Run writes the record, from which Records.Open then gives the facts and
	// the producer; the producer that Run returns is only cancelled if that
	// fails, and may be nil.
	Run func(slot Slot) (Producer, error)
}

// admission is a place that was given to a start.
type admission struct {
	owner *Owner
	slot  *Slot
	over  chan struct{} // closed when its job is registered, or is none
}

// numbers are the ids of a kind.
type numbers struct {
	durable bool // Records gives them
	last    int
	free    []int // given back, ascending
}

// maxSafe is the largest integer that JSON carries exactly everywhere (RFC 8259,
// section 6).
const maxSafe = 1<<53 - 1

// Start admits a job, starts its work and registers it. Nothing is left behind
// when it returns an error: INVALID_ARGUMENT, JOB_LIMIT, ABORTED after Close,
// or the error of Run.
func (r *Registry) Start(s Start) (Job, error) {
	a, err := r.admit(s)
	if err != nil {
		return Job{}, err
	}
	defer r.tell()
	defer r.conclude(a)
	started := false
	defer func() {
		if !started {
			a.slot.Release()
		}
	}()
	began := time.Now()
	producer, err := s.Run(*a.slot)
	if err != nil {
		return Job{}, err
	}
	if producer == nil && !s.Durable {
		return Job{}, fault.New(fault.Invariant, "the start of a %s job gave no work", s.Kind)
	}
	started = true
	if s.Durable {
		return r.keep(a.slot, producer)
	}
	job := Job{
		ID: a.slot.ID, Kind: s.Kind, Label: s.Label,
		Status: Running, StartedAt: began.UnixMilli(),
	}
	if s.OutputLimitBytes != nil {
		job.OutputLimitBytes = *s.OutputLimitBytes
	}
	if s.Owner != nil {
		job.OwnerSession = s.Owner.ID()
	}
	r.mu.Lock()
	e := r.register(job, s.Owner, producer, false)
	reason := r.overdue(e)
	r.mu.Unlock()
	if reason != "" {
		r.teardown(e, reason)
	}
	return job, nil
}

// overdue is why a job that was just registered ends at once: what it belongs
// to ended while it was started. The caller holds mu.
func (r *Registry) overdue(e *entry) string {
	switch {
	case r.closed && !e.durable:
		return serviceDisposed
	case e.owner != nil && e.owner.hasEnded():
		return ownerDisposed
	}
	return ""
}

// admit checks a start and gives it a place and an id.
func (r *Registry) admit(s Start) (*admission, error) {
	a := &admission{owner: s.Owner, over: make(chan struct{})}
	r.mu.Lock()
	err := r.check(s)
	if err == nil {
		r.starting[a] = true
		if !s.Durable {
			a.slot, err = r.reserve(s.Kind, s.Owner)
		}
	}
	r.mu.Unlock()
	if err == nil && s.Durable {
		a.slot, err = r.options.Records.Reserve(s.Kind, r.options.Limit)
		if fault.CodeOf(err) == fault.JobLimit {
			err = r.full()
		}
	}
	if err != nil {
		r.conclude(a)
		return nil, err
	}
	return a, nil
}

// conclude ends an admission.
func (r *Registry) conclude(a *admission) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starting, a)
	close(a.over)
}

// check refuses what cannot start, in an order that is an interface. The caller
// holds mu.
func (r *Registry) check(s Start) error {
	invalid := func(format string, args ...any) error { return fault.New(fault.InvalidArgument, format, args...) }
	switch n := r.numbers[s.Kind]; {
	case r.closed:
		return fault.New(fault.Aborted, "background jobs unavailable: the job registry was closed")
	case len(r.controller) == 0:
		return invalid("background jobs unavailable: no job controller serves this agent (load @deepseek-ai/dsh-tool-jobs in its composition)")
	case s.Kind == "":
		return invalid("invalid job kind: expected a non-empty string")
	case s.Label == "":
		return invalid("invalid job label: expected a non-empty string")
	case s.OutputLimitBytes != nil && (*s.OutputLimitBytes <= 0 || *s.OutputLimitBytes > maxSafe):
		return invalid("invalid outputLimitBytes: expected a positive safe integer, got %d", *s.OutputLimitBytes)
	case s.Owner != nil && s.Owner.hasEnded():
		return invalid(`agent "%s" is not the registered agent instance (background job owner must be live)`, s.Owner.ID())
	case s.Durable && r.options.Records == nil:
		return invalid("no job can outlive this process: the job registry has no records")
	case s.Durable && s.Owner != r.options.RecordsOwner:
		return invalid("a job that outlives this process belongs to the session whose records the job registry has")
	case n != nil && n.durable != s.Durable:
		return invalid("jobs of kind %q either all outlive this process or none does", s.Kind)
	}
	return nil
}

// full is the refusal of one more job.
func (r *Registry) full() error {
	return fault.New(fault.JobLimit, "background job limit reached for this owner (limit: %d); "+
		"use job_kill to stop an unneeded job, wait for it to finish, then retry", r.options.Limit)
}

// reserve takes a place and an id for a job of this process. The caller holds
// mu.
func (r *Registry) reserve(kind string, owner *Owner) (*Slot, error) {
	if r.places[owner] >= r.options.Limit {
		r.vacate(owner)
	}
	if r.places[owner] >= r.options.Limit {
		return nil, r.full()
	}
	r.places[owner]++
	ids := r.numbersOf(kind, false)
	var n int
	if len(ids.free) > 0 {
		n, ids.free = ids.free[0], ids.free[1:]
	} else {
		ids.last++
		n = ids.last
	}
	return &Slot{ID: fmt.Sprintf("%s-%d", kind, n), Keep: func() {}, Release: func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.leavePlace(owner)
		at, _ := slices.BinarySearch(ids.free, n)
		ids.free = slices.Insert(ids.free, at, n)
	}}, nil
}

// vacate gives back the places of an owner's jobs whose work is done, without
// waiting for their goroutines. The caller holds mu, which is released
// meanwhile.
func (r *Registry) vacate(owner *Owner) {
	live := r.liveOf(owner)
	r.mu.Unlock()
	for _, e := range live {
		r.catchUp(e)
	}
	r.mu.Lock()
}

// leavePlace gives back a place. The caller holds mu.
func (r *Registry) leavePlace(owner *Owner) {
	if r.places[owner]--; r.places[owner] == 0 {
		delete(r.places, owner)
	}
}

// liveOf lists the jobs of an owner that have not settled. The caller holds mu.
func (r *Registry) liveOf(owner *Owner) []*entry {
	var live []*entry
	for _, e := range r.order {
		if e.owner == owner && !e.job.Status.Terminal() {
			live = append(live, e)
		}
	}
	return live
}

func (r *Registry) numbersOf(kind string, durable bool) *numbers {
	n := r.numbers[kind]
	if n == nil {
		n = &numbers{durable: durable}
		r.numbers[kind] = n
	}
	return n
}
