package settings

import (
	"context"
	"errors"
	"slices"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Source says where a change came from.
type Source string

// The sources of changes.
const (
	FromUpdate   Source = "update"   // a write through this service
	FromProvider Source = "provider" // the document was changed by somebody else
)

// Updated tells that the value of a namespace has changed. It holds values, of
// secrets too, and must not leave the process.
type Updated struct {
	NS Namespace
	// Next and Prev are trees of the listener's own.
	Next, Prev any
	Source     Source
}

// DocumentUpdated tells that the raw section of a namespace has changed, whether
// its value did or not. It may leave the process.
type DocumentUpdated struct {
	NS       Namespace `json:"ns"`
	Revision uint64    `json:"revision"`
}

// Registered tells that a namespace has got an owner, or has lost it.
type Registered struct {
	NS   Namespace `json:"ns"`
	Gone bool      `json:"gone"`
}

// OnUpdated has listener called after every change of a value, when the new value
// is what every reader sees, unless one from outside has followed it already. All
// listeners of all events of a service are called one at a time, in the order of
// the commits; within one commit, for each namespace first for the document, then
// for the value, then the watchers.
//
// An error or a panic is logged by its code and type, and the next listener is
// called. An error with the code INVARIANT is also returned by the write that the
// event is of, after everything else. A listener must not wait for a write: with
// its context a write is refused with ErrInListener. After remove has returned no
// call starts; one that has started goes on.
func (s *Service) OnUpdated(listener func(context.Context, Updated) error) (remove func()) {
	return s.events.add(&listening{updated: listener})
}

// OnDocumentUpdated has listener called after every change of a raw section, as
// OnUpdated does.
func (s *Service) OnDocumentUpdated(listener func(context.Context, DocumentUpdated) error) (remove func()) {
	return s.events.add(&listening{document: listener})
}

// OnRegistered has listener called when a namespace is registered and when its
// registration ends, as OnUpdated does.
func (s *Service) OnRegistered(listener func(context.Context, Registered) error) (remove func()) {
	return s.events.add(&listening{registered: listener})
}

// listening is one listener; one of the functions is set.
type listening struct {
	updated    func(context.Context, Updated) error
	document   func(context.Context, DocumentUpdated) error
	registered func(context.Context, Registered) error
}

// event is what there is to tell of one namespace after one commit.
type event struct {
	registration *registration
	registered   *Registered
	document     *DocumentUpdated
	updated      bool
	source       Source
	next, prev   *state
	watchers     []*watcher
}

// batch is the events of one commit.
type batch struct {
	events []event
	done   chan struct{}
	// broken are the INVARIANT errors of listeners. It is set before done closes.
	broken error
}

// delivery calls listeners, one batch after the other. Its goroutine lives while
// there is something to deliver.
type delivery struct {
	service *Service
	pending sync.WaitGroup

	mu        sync.Mutex
	listeners []*listening // replaced whole, never changed
	queue     []*batch
	running   bool
}

func (d *delivery) add(l *listening) (remove func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listeners = append(slices.Clip(d.listeners), l)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.listeners = slices.DeleteFunc(slices.Clone(d.listeners), func(other *listening) bool { return other == l })
	}
}

// enqueue has events delivered after all that were enqueued before. It returns
// nil when nobody is there to be told. The service's mu is held, which is what
// orders the commits.
func (d *delivery) enqueue(events []event) *batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	heard := len(d.listeners) > 0
	for _, e := range events {
		heard = heard || len(e.watchers) > 0
	}
	if len(events) == 0 || !heard || d.service.sealed {
		return nil
	}
	b := &batch{events: events, done: make(chan struct{})}
	d.queue = append(d.queue, b)
	d.pending.Add(1)
	if !d.running {
		d.running = true
		go d.run()
	}
	return b
}

// wait returns when everything has been delivered. Nothing may be enqueued any
// more.
func (d *delivery) wait() { d.pending.Wait() }

func (d *delivery) run() {
	ctx := context.WithValue(d.service.life, listenerMark{d.service}, true)
	for {
		d.mu.Lock()
		if len(d.queue) == 0 {
			d.running = false
			d.mu.Unlock()
			return
		}
		b := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()

		var broken []error
		for _, e := range b.events {
			broken = append(broken, d.tell(ctx, e)...)
		}
		b.broken = errors.Join(broken...)
		close(b.done)
		d.pending.Done()
	}
}

// tell delivers one event to everybody, and returns the INVARIANT errors.
func (d *delivery) tell(ctx context.Context, e event) (broken []error) {
	r := e.registration
	call := func(l *listening, what string, f func() error) {
		if !d.listens(l) {
			return
		}
		err := contained(f)
		if err == nil {
			return
		}
		if errors.Is(err, fault.Invariant) {
			broken = append(broken, err)
			d.service.log.Error("a settings listener found a broken invariant", "ns", string(r.ns), "event", what, errorCode(err))
			return
		}
		d.service.log.Warn("a settings listener failed", "ns", string(r.ns), "event", what, errorCode(err))
	}
	d.mu.Lock()
	listeners := d.listeners
	d.mu.Unlock()
	if e.registered != nil {
		for _, l := range listeners {
			if l.registered != nil {
				call(l, "registered", func() error { return l.registered(ctx, *e.registered) })
			}
		}
		return broken
	}
	if !r.isLive() {
		return nil
	}
	if e.document != nil {
		for _, l := range listeners {
			if l.document != nil {
				call(l, "document-updated", func() error { return l.document(ctx, *e.document) })
			}
		}
	}
	if e.updated {
		for _, l := range listeners {
			if l.updated != nil {
				call(l, "updated", func() error {
					return l.updated(ctx, Updated{
						NS: r.ns, Source: e.source,
						Next: jsontree.Clone(e.next.value), Prev: jsontree.Clone(e.prev.value),
					})
				})
			}
		}
		for _, w := range e.watchers {
			w.enqueue(change{next: e.next.typed, prev: e.prev.typed})
		}
	}
	return broken
}

func (d *delivery) listens(l *listening) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.listeners, l)
}

func (r *registration) isLive() bool {
	r.service.mu.Lock()
	defer r.service.mu.Unlock()
	return r.live
}
