package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"hardshell/internal/fault"
)

// ErrInactive is why nothing can be added to a scope that is closed, or closes,
// or lies in one that does.
var ErrInactive error = fault.New(fault.Invariant, "the scope is closed: nothing can be added to it")

// Scope is a lifetime: what is added to it is undone when it closes, the latest
// first. It is safe for concurrent use.
type Scope struct {
	name       string
	parent     *Scope
	log        *slog.Logger
	services   *services   // those of the outermost scope
	activation *Activation // the row that the scope belongs to, nil without one
	rank       int         // where the row stands among rows, 0 without one

	closing atomic.Bool
	done    chan struct{} // closed when Close begins
	ended   chan struct{} // closed when Close is over
	err     error         // what Close returns; set before ended is closed

	mu   sync.Mutex // guards work and the setting of closing
	work []deferred // the latest last
}

// deferred is what a scope does when it closes: it closes a child, or calls a
// function.
type deferred struct {
	child *Scope
	run   func(context.Context) error
}

// NewScope returns an outermost scope. The name appears in errors. Log is told
// of panics and of errors that nobody else sees, nil for nothing.
func NewScope(name string, log *slog.Logger) *Scope {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return newScope(name, log, &services{live: map[string]provision{}})
}

func newScope(name string, log *slog.Logger, s *services) *Scope {
	return &Scope{name: name, log: log, services: s, done: make(chan struct{}), ended: make(chan struct{})}
}

// Name returns the name.
func (s *Scope) Name() string { return s.name }

// Done returns a channel that is closed when the scope begins to close.
func (s *Scope) Done() <-chan struct{} { return s.done }

// Defer has f called when the scope closes. When the scope is inactive already,
// the error is ErrInactive and f is not kept: the caller undoes its effect.
//
// F gets the context that Close was given, and must return once all is quiet,
// even when that context is over. A panic of f is an error like any other.
func (s *Scope) Defer(f func(context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active() {
		return s.inactive()
	}
	s.work = append(s.work, deferred{run: f})
	return nil
}

// Child returns a new scope that closes with this one, or earlier. The error is
// ErrInactive.
func (s *Scope) Child(name string) (*Scope, error) {
	return s.child(name, s.rank, s.activation)
}

// Close undoes what was added, the latest first, and waits for it. Later calls
// wait for the first and return the same. The errors of all parts are joined;
// none keeps the others from being undone.
//
// Deferred work runs in the goroutine of the first call, whose context bounds
// nothing but the wait for listeners that still run; the context of a later
// call bounds its wait. Work that a Close waits for cannot wait for that Close:
// with the context that the work was given, that is an error. The scope of a row
// is closed by its host alone.
func (s *Scope) Close(ctx context.Context) error {
	if a := s.activation; a != nil && a.Scope == s {
		return fault.New(fault.Invariant, "the scope of row %q is closed by its host: unload the row", a.Row)
	}
	return s.close(ctx)
}

func (s *Scope) close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closing.Load()
	if first {
		s.closing.Store(true)
		close(s.done)
	}
	s.mu.Unlock()
	if !first {
		return s.join(ctx)
	}
	defer close(s.ended)
	defer s.leaveParent()
	ctx, f := enter(ctx, s, nil)
	defer f.leave()
	var errs []error
	for {
		d, any := s.latest()
		if !any {
			break
		}
		if err := s.undo(ctx, d); err != nil {
			errs = append(errs, err)
		}
	}
	s.err = errors.Join(errs...)
	return s.err
}

// active reports whether neither the scope nor one around it closes.
func (s *Scope) active() bool {
	for ; s != nil; s = s.parent {
		if s.closing.Load() {
			return false
		}
	}
	return true
}

// inside reports whether s is other or lies in it.
func (s *Scope) inside(other *Scope) bool {
	for ; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}

func (s *Scope) child(name string, rank int, a *Activation) (*Scope, error) {
	c := newScope(name, s.log, s.services)
	c.parent, c.rank, c.activation = s, rank, a
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active() {
		return nil, s.inactive()
	}
	s.work = append(s.work, deferred{child: c})
	return c, nil
}

func (s *Scope) inactive() error { return fmt.Errorf("scope %q: %w", s.name, ErrInactive) }

// latest takes off what was added last.
func (s *Scope) latest() (deferred, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.work) - 1
	if last < 0 {
		return deferred{}, false
	}
	d := s.work[last]
	s.work[last] = deferred{} // keeps nothing alive
	s.work = s.work[:last]
	return d, true
}

func (s *Scope) undo(ctx context.Context, d deferred) error {
	if d.child != nil {
		return d.child.close(ctx)
	}
	_, err := contain(s.log, "deferred work", func() error { return d.run(ctx) })
	if err != nil {
		return fmt.Errorf("scope %q: %w", s.name, err)
	}
	return nil
}

// leaveParent has the parent forget a child that closed before it.
func (s *Scope) leaveParent() {
	if s.parent == nil {
		return
	}
	p := s.parent
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work = slices.DeleteFunc(p.work, func(d deferred) bool { return d.child == s })
}

// join waits for the Close that goes on.
func (s *Scope) join(ctx context.Context) error {
	select {
	case <-s.ended:
		return s.err
	default:
	}
	if runs(ctx, s) {
		return fault.New(fault.Invariant, "scope %q: its Close waits for the work that calls Close: return first", s.name)
	}
	select {
	case <-s.ended:
		return s.err
	case <-ctx.Done():
		return fault.New(fault.Aborted, "scope %q still closes: %w", s.name, ctx.Err())
	}
}
