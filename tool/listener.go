package tool

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"hardshell/internal/fault"
)

// Next continues with what a listener wraps: the next listener, or the stage's
// own work. It may be called once, before the listener returns; a second call
// is an INVARIANT error and does nothing. A listener that does not call it
// answers for all that come after.
type Next[T any] func(ctx context.Context) (T, error)

// Listener is one link of a stage: it may decide before, after or instead of
// what follows. Its error, and its panic, end the call.
type Listener[P, T any] func(ctx context.Context, payload P, next Next[T]) (T, error)

// listeners is an ordered set that may change while it is used: a call keeps
// the listeners that were there when its stage began.
type listeners[F any] struct {
	mu      sync.Mutex
	entries []*F
}

// add appends f until remove is called.
func (l *listeners[F]) add(f F) (remove func()) {
	entry := &f
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entries = slices.DeleteFunc(l.entries, func(other *F) bool { return other == entry })
	}
}

// all lists the set in the order of registration.
func (l *listeners[F]) all() []F {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]F, len(l.entries))
	for i, entry := range l.entries {
		all[i] = *entry
	}
	return all
}

// waterfall makes one continuation of a stage: the first listener is the
// outermost, the terminal the innermost.
func waterfall[P, T any](log *slog.Logger, stage string, all []Listener[P, T], payload P, terminal Next[T]) Next[T] {
	next := terminal
	for _, listener := range slices.Backward(all) {
		next = link(log, stage, listener, payload, next)
	}
	return next
}

// link calls one listener with a continuation of its own. What the listener
// continued with is awaited, also when the listener did not wait for it, so
// that nothing of a call runs after the call.
func link[P, T any](log *slog.Logger, stage string, f Listener[P, T], payload P, rest Next[T]) Next[T] {
	return func(ctx context.Context) (value T, err error) {
		var claimed atomic.Bool
		done := make(chan struct{})
		next := func(ctx context.Context) (value T, err error) {
			if !claimed.CompareAndSwap(false, true) {
				return value, fault.New(fault.Invariant, "a %s listener continued twice, or after it had returned", stage)
			}
			defer close(done)
			return rest(ctx)
		}
		defer func() {
			if !claimed.CompareAndSwap(false, true) {
				<-done
			}
		}()
		panicked, err := contain(log, stage+" listener", func() (err error) {
			value, err = f(ctx, payload, next)
			return err
		})
		if panicked {
			err = &stageError{err}
		}
		return value, err
	}
}

// stageError is the failure of a stage itself, not of the tool: it is final,
// and nobody may review it.
type stageError struct{ err error }

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

func isStageError(err error) bool {
	var stage *stageError
	return errors.As(err, &stage)
}

// contain turns a panic of f into an INVARIANT error and reports it. The text
// has neither the value of the panic, which may hold anything, nor a stack: the
// log does.
func contain(log *slog.Logger, where string, f func() error) (panicked bool, err error) {
	defer func() {
		if value := recover(); value != nil {
			log.Error("panic in a tool call", "where", where, "panic", value, "stack", string(debug.Stack()))
			err = fault.New(fault.Invariant, "internal error: the %s panicked, and the call was stopped; the log of hardshell says why", where)
			panicked = true
		}
	}()
	return false, f()
}
