package jobs

import "slices"

// event is something to tell the listeners of. Exactly one field besides owner
// is set.
type event struct {
	owner   *Owner
	changed bool
	done    *entry
	mark    chan struct{} // to be closed
}

// listener is a registration. Its identity is its own, so that equal values can
// be removed apart.
type listener[T any] struct{ value T }

// add appends to a list of the registry, and returns what removes it again.
func add[T any](r *Registry, list *[]*listener[T], value T) (remove func()) {
	l := &listener[T]{value}
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, l)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		// A clone, for a goroutine may be going through the old list.
		*list = slices.DeleteFunc(slices.Clone(*list), func(have *listener[T]) bool { return have == l })
	}
}

// happened queues an event. The caller holds mu, and calls tell without it.
func (r *Registry) happened(e event) { r.events = append(r.events, e) }

// tell calls the listeners for what is queued, unless another goroutine is at
// it, or a caller of this one: that one goes on with it.
func (r *Registry) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.telling {
		return
	}
	r.telling = true
	for len(r.events) > 0 {
		e := r.events[0]
		r.events = r.events[1:]
		changed, settled, done, closed := r.changed, r.ended, r.done, r.closed
		r.mu.Unlock()
		switch {
		case e.mark != nil:
			close(e.mark)
		case e.changed:
			for _, l := range changed {
				r.contain("changed", func() { l.value(e.owner) })
			}
		default:
			if closed {
				done = nil
			}
			r.tellDone(e.done, settled, done)
		}
		r.mu.Lock()
	}
	r.events, r.telling = nil, false
}

// tellDone tells of a settled job, as it is known now. One that was found
// settled is news only when nobody has reported it.
func (r *Registry) tellDone(e *entry, settled, news []*listener[func(Job, *Owner)]) {
	job := r.look(e)
	for _, l := range settled {
		r.contain("settled", func() { l.value(copied(job), e.owner) })
	}
	if e.found && job.Reported {
		return
	}
	for _, l := range news {
		r.contain("done", func() { l.value(copied(job), e.owner) })
	}
}

// contain calls a listener, and logs its panic.
func (r *Registry) contain(kind string, call func()) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("a listener of the job registry failed", "listener", kind, "panic", p)
		}
	}()
	call()
}
