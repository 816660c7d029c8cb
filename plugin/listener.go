package plugin

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"hardshell/internal/fault"
)

// Listeners are the listeners of one event, functions of type F.
//
// A dispatch calls the listeners that there were when it began, one after the
// other: those of rows in the order of the rows, whenever they were added, the
// others before them as they were added. From the moment a scope begins to
// close, no call of its listeners starts; its Close waits for those that go on.
// No lock is held during a call.
type Listeners[F any] struct {
	name string                         // of the event
	mu   sync.Mutex                     // serialises changes of list
	list atomic.Pointer[[]*listener[F]] // never changed in place
}

type listener[F any] struct {
	scope *Scope // whose lifetime it has
	about *Scope // what it wants to hear about, nil for everything
	fn    F
	gate  gate
}

// Listen has f called until s closes. The error is ErrInactive.
func (ls *Listeners[F]) Listen(s *Scope, f F) error { return ls.ListenAbout(s, nil, f) }

// ListenAbout has f called, until s closes, for what is about the scope about or
// one in it. What is about no scope is not heard. The error is ErrInactive.
func (ls *Listeners[F]) ListenAbout(s, about *Scope, f F) error {
	l := &listener[F]{scope: s, about: about, fn: f}
	ls.change(func(list []*listener[F]) []*listener[F] {
		at := len(list)
		for at > 0 && list[at-1].scope.rank > s.rank {
			at--
		}
		return slices.Insert(list, at, l)
	})
	remove := func(ctx context.Context) error {
		ls.change(func(list []*listener[F]) []*listener[F] {
			at := slices.Index(list, l)
			return slices.Delete(list, at, at+1)
		})
		if err := l.gate.close(ctx); err != nil {
			return fault.New(fault.Aborted, "a listener of event %q still runs: %w", ls.name, err)
		}
		return nil
	}
	err := s.Defer(remove)
	if err != nil {
		_ = remove(context.Background())
	}
	return err
}

func (ls *Listeners[F]) change(f func([]*listener[F]) []*listener[F]) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	list := f(slices.Clone(ls.now()))
	ls.list.Store(&list)
}

// now returns the listeners of this moment.
func (ls *Listeners[F]) now() []*listener[F] {
	if list := ls.list.Load(); list != nil {
		return *list
	}
	return nil
}

// call calls the listener by f, unless it does not want to hear about a scope or
// its own scope is inactive. A panic becomes an error.
func (l *listener[F]) call(ctx context.Context, event string, about *Scope, f func(context.Context) error) (called, panicked bool, err error) {
	if l.about != nil && (about == nil || !about.inside(l.about)) {
		return false, false, nil
	}
	if !l.gate.enter(l.scope) {
		return false, false, nil
	}
	defer l.gate.leave()
	ctx, note := enter(ctx, l.scope, &l.gate)
	defer note.leave()
	panicked, err = contain(l.scope.log, "a listener of event "+event, func() error { return f(ctx) })
	return true, panicked, err
}

// gate counts the calls that go on, and can be closed.
type gate struct {
	mu      sync.Mutex
	closed  bool
	inside  int
	changed chan struct{} // closed at the next leave, nil when nobody waits
}

func (g *gate) enter(s *Scope) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || !s.active() {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// close lets nobody in any more, and waits until all have left but those calls
// that ctx belongs to.
func (g *gate) close(ctx context.Context) error {
	own := passes(ctx, g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.inside > own {
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
			g.mu.Lock()
		case <-ctx.Done():
			g.mu.Lock()
			return ctx.Err()
		}
	}
	return nil
}
